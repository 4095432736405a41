//! What several runs say together: the model, and one renderer a file.

mod figures;
pub mod model;
mod plot;
mod text;

pub use self::{
    figures::Figures,
    model::Comparison,
    plot::{PlotError, plot},
    text::render,
};
