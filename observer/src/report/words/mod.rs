//! What reports say, in words: the same in every output for people.
//!
//! Names in them are as they came and can hold anything: whoever prints them makes them harmless first.

pub(super) mod evidence;
pub(super) mod header;
pub(super) mod recommendation;
pub(super) mod services;
pub(crate) mod units;
pub(super) mod verdict;

/// What something is about, in a word or two, and what is said of it.
pub(super) type Line = (&'static str, String);
