//! Which requests may be sent twice.

use super::{
    context::Context,
    idempotency::{self, Repetition},
    question::{Idempotent, Question},
    samples::{Sample, Samples},
};
use crate::exchange::Names;

/// For each class, whether its requests may be sent twice.
#[derive(Debug)]
pub(super) struct Repeatable {
    classes: Vec<Repetition>,
    /// Requests that may, or of which it is not known, ÷ requests.
    share: f64,
}

impl Repeatable {
    /// What somebody said, or else what methods and commands say.
    pub(super) fn of(samples: &Samples, names: &Names, context: &Context<'_>, question: &Question) -> Self {
        let of = |class: Option<&str>| match question.idempotent {
            Idempotent::Yes => Repetition::Safe,
            Idempotent::No => Repetition::Write,
            Idempotent::Auto => idempotency::of(context.protocol, class),
        };
        let classes: Vec<Repetition> =
            (0..samples.classes.len()).map(|class| of(samples.classes.name(class, names))).collect();
        let mut repeatable = Self { classes, share: 1.0 };
        let may = samples.primaries.iter().filter(|sample| repeatable.may(sample)).count();
        repeatable.share = may as f64 / samples.primaries.len().max(1) as f64;
        repeatable
    }

    /// Whether a request may be sent twice, as far as is known.
    pub(super) fn may(&self, sample: &Sample) -> bool {
        self.classes[sample.class as usize] != Repetition::Write
    }

    /// Whether no request may.
    pub(super) fn none(&self) -> bool {
        self.share == 0.0
    }

    /// Requests that may be sent twice ÷ requests.
    pub(super) const fn share(&self) -> f64 {
        self.share
    }

    /// Whether that is not known of some.
    pub(super) fn is_unknown(&self, samples: &Samples) -> bool {
        let has = |place: usize| samples.primaries.iter().any(|sample| sample.class as usize == place);
        self.classes.iter().enumerate().any(|(place, class)| *class == Repetition::Unknown && has(place))
    }
}
