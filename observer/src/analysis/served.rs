//! What can be said about requests that this host answers.

use super::{Question, model::Assessment};

/// The assessment of requests that were observed where they are answered.
///
/// A server sees what was asked of itself alone: neither what another instance would have done with the same request
/// nor what its clients waited for. Nothing about second copies can be told from that.
pub fn served(assessed: u64, question: &Question) -> Assessment {
    let missing = "the caller's side, where all instances can be compared: observe on the client's host, or analyze a \
                   recording of it";
    let mut assessment = Assessment::insufficient(assessed, missing.into(), question);
    assessment.verdict.summary =
        "a server sees only what it answers itself, not what another instance would do".into();
    assessment.recommendation.instead.push("observe the callers with 'observer report' on their host".into());
    assessment
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::model::{Action, Cause};

    #[test]
    fn a_server_gives_no_verdict_and_says_who_does() {
        let assessment = served(1_000, &Question::default());
        assert_eq!(assessment.verdict.cause, Cause::Insufficient);
        assert_eq!(assessment.recommendation.action, Action::Wait);
        assert!(assessment.verdict.missing.is_some_and(|missing| missing.contains("client's host")));
    }
}
