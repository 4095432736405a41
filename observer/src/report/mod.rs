//! What the observer has to say: one model, and one renderer a file.

mod assessed;
mod build;
mod histogram;
mod intervals;
pub mod json;
pub mod model;
mod quantiles;
pub mod schema;
mod span;
pub mod text;

pub use self::{
    assessed::Settlements,
    build::{Inputs, build},
    model::Report,
};
