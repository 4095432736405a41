//! What is shown of copies to whoever looks.

use observer_common::{Nanoseconds, Outcome};

use super::{
    Engine,
    arena::Id,
    entities::{Caller, Copy, Stage},
};
use crate::simulation::{Seen, conditions::Attempt, moment::Moment};

impl<'a> Engine<'a> {
    pub(super) fn seen_by(mut self, show: &'a mut dyn FnMut(Seen)) -> Self {
        self.show = Some(show);
        self.is_watched = true;
        self
    }

    /// A copy is over for the client's probe, once and for all.
    pub(super) fn tell(&mut self, copy: Id<Copy>, outcome: Outcome) {
        if !self.copies[copy].is_told {
            self.copies[copy].is_told = true;
            self.show(copy, outcome);
        }
    }

    // A run that nobody watches stays as fast as if nobody could.
    #[cold]
    fn show(&mut self, copy: Id<Copy>, outcome: Outcome) {
        let Copy { call, instance, attempt, sent, stage, .. } = self.copies[copy];
        let Caller::Client(request) = self.calls[call].caller else { return };
        let path = self.path(copy);
        let latency = self.now.since(sent);
        let answered = outcome == Outcome::Ok;
        let (class, read_lag) = match &mut self.conditions {
            Some(conditions) => (
                conditions.class(request.into()),
                if answered { conditions.read(self.now).since(self.now) } else { Nanoseconds(0) },
            ),
            None => (None, Nanoseconds(0)),
        };
        let shown = Seen {
            request: request.into(),
            attempt,
            instance,
            class,
            sent: sent.since(Moment::default()),
            latency,
            read_lag,
            outcome,
            failed: answered && stage == Stage::Refused,
            retransmits: if answered { path.retransmits() } else { path.retransmits_within(latency) },
            srtt: path.round_trip(),
        };
        if let Some(show) = &mut self.show {
            show(shown);
        }
    }

    /// The time is up in which something is seen: what is not over is pending.
    #[cold]
    pub(super) fn look_away(&mut self) {
        self.is_watched = false;
        // What is no more was told when it was over.
        let mut pending: Vec<_> = self.copies.places().filter(|copy| !self.copies[*copy].is_told).collect();
        pending.sort_unstable_by_key(|copy| {
            let Attempt { call, number } = self.attempt(*copy);
            (self.copies[*copy].sent, call, number)
        });
        for copy in pending {
            self.tell(copy, Outcome::Pending);
        }
    }
}
