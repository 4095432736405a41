//! How one of the lab's processes learns that it shall end.
//!
//! Its standard output is a pipe to the process that started it. The other end closes with that process, even if it is
//! killed: nothing of the lab outlives it. While that process lives, it ends the others with `SIGTERM`.

use std::{io, thread};

use rustix::event::{PollFd, PollFlags, poll};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::watch,
};

/// Why to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Word {
    /// Nobody wants it.
    Stay,
    /// Begin nothing new, and tell what there is to tell.
    Finish,
    /// Nobody is there any more who could be told.
    Abandon,
}

/// Tells when to end.
#[derive(Clone, Debug)]
pub(super) struct Lifeline(watch::Receiver<Word>);

impl Lifeline {
    /// Takes hold. To be called within a runtime.
    pub(super) fn hold() -> io::Result<Self> {
        let (sender, receiver) = watch::channel(Word::Stay);
        let mut terminate = signal(SignalKind::terminate())?;
        let abandoned = sender.clone();
        thread::Builder::new().name("lifeline".into()).spawn(move || {
            wait_for_hang_up();
            abandoned.send_replace(Word::Abandon);
        })?;
        tokio::spawn(async move {
            while terminate.recv().await.is_some() {
                // Whoever is abandoned stays so.
                sender.send_if_modified(|word| {
                    let is_news = *word < Word::Finish;
                    *word = (*word).max(Word::Finish);
                    is_news
                });
            }
        });
        Ok(Self(receiver))
    }

    /// Waits until nothing new shall be begun.
    pub(super) async fn finish(&mut self) {
        self.wait(Word::Finish).await;
    }

    /// Waits until nobody is there any more.
    pub(super) async fn abandoned(&mut self) {
        self.wait(Word::Abandon).await;
    }

    async fn wait(&mut self, word: Word) {
        // Its senders live as long as the process; without them there would be nobody to say more.
        self.0.wait_for(|said| *said >= word).await.ok();
    }
}

fn wait_for_hang_up() {
    let output = io::stdout();
    // Only hang-ups and errors are reported, and those always are.
    let mut descriptors = [PollFd::new(&output, PollFlags::empty())];
    while poll(&mut descriptors, None) == Err(rustix::io::Errno::INTR) {}
}
