//! How systems and policies are written: on the command line, and in results.
//!
//! What is printed can be read again.

mod arrivals;
mod error;
mod fields;
mod policy;
mod quantities;
mod service;

pub use self::{
    arrivals::Pattern,
    error::NotationError,
    policy::PolicyText,
    quantities::{duration, rate},
};

#[cfg(test)]
mod tests;
