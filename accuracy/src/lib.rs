//! How often the verdict and the advice are right.
//!
//! Families of simulated systems, each slow for one reason, are recorded as a probe beside their client would and
//! assessed. What is true of them is known by how they were made, and measured by applying policies to them. The lab asks
//! the same of real sockets.

mod adaptive;
mod cache;
mod case;
mod detail;
mod draw;
mod families;
mod grid;
mod lab;
mod pace;
mod page;
mod plan;
mod recording;
mod score;
mod speed;
mod summary;
mod table;
mod truth;
mod units;

pub use self::{
    adaptive::Adaptive,
    cache::Cache,
    case::{Case, Family, Half, Hedging},
    detail::in_full,
    families::{of as families, some as some_cases},
    lab::in_lab,
    page::{lab_page, page},
    recording::Recording,
    score::{Harm, Named, Score},
    speed::speed,
    summary::Summary,
    table::{by_case, by_family, in_short},
};
