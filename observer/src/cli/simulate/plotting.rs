//! Other loads, for the plot.

use super::{
    super::console::Console,
    running::{self, Seeds},
};
use crate::simulation::{Extent, Policy, System, results::model::AtLoad};

/// Offered load ÷ capacity, in percent: closer where queues begin to grow.
const LOADS: [u32; 11] = [10, 20, 30, 40, 50, 60, 70, 80, 85, 90, 95];

/// What the policies do at other loads; nothing for a closed loop, which finds its own.
pub(super) fn against_load(
    system: &System,
    policies: &[Policy],
    extent: Extent,
    seeds: Seeds,
    console: &mut Console,
) -> Vec<AtLoad> {
    let mut loads = Vec::new();
    for percent in LOADS {
        let utilisation = f64::from(percent) / 100.0;
        let Some(system) = system.at_utilisation(utilisation) else { break };
        console.progress(|| format!("simulating {percent} % of the capacity"));
        loads.push(AtLoad::new(utilisation, &running::figures(&system, policies, extent, seeds)));
    }
    loads
}
