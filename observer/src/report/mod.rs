//! What the observer has to say: one model, and one renderer a file.

mod build;
mod histogram;
pub mod json;
pub mod model;
pub mod schema;
pub mod text;

pub use self::{
    build::{Inputs, build},
    model::Report,
};
