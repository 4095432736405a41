//! Running simulations on all cores: a seed or a policy each.

use rayon::prelude::*;

use crate::simulation::{Extent, Outcome, Policy, System, results::Figures, simulate};

/// Some seeds in a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seeds {
    pub(super) first: u64,
    pub(super) count: u32,
}

impl Seeds {
    /// Simulates with each of them; what is kept of an outcome comes in their order.
    pub(super) fn simulate<Kept: Send>(
        self,
        system: &System,
        policy: &Policy,
        extent: Extent,
        keep: impl Fn(&Outcome) -> Kept + Sync,
    ) -> Vec<Kept> {
        let seeds = (0..self.count).into_par_iter().map(|place| self.first + u64::from(place));
        seeds.map(|seed| keep(&simulate(system, policy, extent, seed))).collect()
    }
}

/// For each policy its figures, one a seed.
pub(super) fn figures(
    system: &System,
    policies: &[Policy],
    extent: Extent,
    seeds: Seeds,
) -> Vec<(Policy, Vec<Figures>)> {
    let of = |policy: &Policy| (*policy, seeds.simulate(system, policy, extent, Figures::of));
    policies.par_iter().map(of).collect()
}
