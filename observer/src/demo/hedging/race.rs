//! Two copies under way.

use std::pin::Pin;

use super::Attempt;

/// The answer of whichever copy succeeds first. The other is dropped, which cancels it.
///
/// A failure, however fast, is no answer: the other copy is waited for. Where both fail it is the later failure.
pub(super) async fn first_success<C, A, E>(
    mut primary: Pin<Box<C>>,
    mut hedge: Pin<Box<C>>,
) -> Result<(A, Attempt), E>
where
    C: Future<Output = Result<A, E>>,
{
    tokio::select! {
        // Where both are ready at once, the primary's answer is as good.
        biased;
        first = &mut primary => match first {
            Ok(answer) => Ok((answer, Attempt::Primary)),
            Err(_) => hedge.await.map(|answer| (answer, Attempt::Hedge)),
        },
        first = &mut hedge => match first {
            Ok(answer) => Ok((answer, Attempt::Hedge)),
            Err(_) => primary.await.map(|answer| (answer, Attempt::Primary)),
        },
    }
}
