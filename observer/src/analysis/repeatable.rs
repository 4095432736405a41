//! Which requests may be sent twice.

use super::{
    context::Context,
    idempotency::{self, Repetition},
    question::{Idempotent, Question},
    samples::Samples,
};
use crate::{
    exchange::{NameId, Names},
    maps::HashMap,
};

/// For each request, whether it may be sent twice: of rare ones too, which are no class of their own.
#[derive(Debug)]
pub(super) struct Repeatable {
    of: Vec<Repetition>,
    /// Requests that may, or of which it is not known, ÷ requests.
    share: f64,
}

impl Repeatable {
    /// What somebody said, or else what methods and commands say.
    pub(super) fn of(samples: &Samples, names: &Names, context: &Context<'_>, question: &Question) -> Self {
        let of = |name: Option<NameId>| match question.idempotent {
            Idempotent::Yes => Repetition::Safe,
            Idempotent::No => Repetition::Write,
            Idempotent::Auto => idempotency::of(context.protocol, name.map(|name| names.text(name))),
        };
        let mut known: HashMap<Option<NameId>, Repetition> = HashMap::default();
        let of: Vec<Repetition> = samples
            .primaries
            .iter()
            .map(|sample| *known.entry(sample.name).or_insert_with(|| of(sample.name)))
            .collect();
        let may = of.iter().filter(|repetition| **repetition != Repetition::Write).count();
        Self { share: may as f64 / of.len().max(1) as f64, of }
    }

    /// Whether a request, by its place, may be sent twice, as far as is known.
    pub(super) fn may(&self, row: usize) -> bool {
        self.of[row] != Repetition::Write
    }

    /// Requests that may be sent twice ÷ requests.
    pub(super) const fn share(&self) -> f64 {
        self.share
    }

    /// Whether some write, and write the same again.
    pub(super) fn has_idempotent_writes(&self) -> bool {
        self.of.contains(&Repetition::Idempotent)
    }

    /// Whether that is not known of some.
    pub(super) fn is_unknown(&self) -> bool {
        self.of.contains(&Repetition::Unknown)
    }
}
