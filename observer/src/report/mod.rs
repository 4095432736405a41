//! What the observer has to say: one model, and one renderer a folder or file; those for people share their words.

mod assessed;
mod build;
mod histogram;
mod intervals;
pub mod json;
pub mod markdown;
pub mod model;
mod quantiles;
pub mod schema;
mod span;
pub mod text;
pub(crate) mod words;

pub use self::{
    assessed::Settlements,
    build::{Inputs, build},
    model::Report,
};
