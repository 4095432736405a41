//! What cannot be read.

use crate::simulation::{BurstsError, PolicyError, ServiceTimeError};

/// Why something that was written cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotationError {
    /// A value is not what it has to be.
    #[error("'{found}' is no {expected}")]
    Value {
        /// What was written.
        found: String,
        /// What it has to be, with an example.
        expected: &'static str,
    },
    /// There is no such thing.
    #[error("no '{found}' is known here, only {known}")]
    Unknown {
        /// What was written.
        found: String,
        /// What there is.
        known: &'static str,
    },
    /// Something has to be said.
    #[error("'{of}' needs {what}")]
    Missing {
        /// What needs it.
        of: &'static str,
        /// What is missing, with an example.
        what: &'static str,
    },
    /// Something is said twice.
    #[error("'{key}' is there twice; leave one out")]
    Twice {
        /// What it is.
        key: String,
    },
    /// Its parts do not fit together.
    #[error(transparent)]
    ServiceTime(#[from] ServiceTimeError),
    /// Its parts do not fit together.
    #[error(transparent)]
    Bursts(#[from] BurstsError),
    /// Its parts do not fit together.
    #[error(transparent)]
    Policy(#[from] PolicyError),
}
