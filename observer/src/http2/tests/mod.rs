//! Conversations whose exchanges are known.

mod conversation;
mod encoder;
mod endings;
mod hostile;
mod layout;
mod lossy;
mod pairing;
mod recorded;
mod reordered;
mod streaming;
mod uncertain;
mod walker;
