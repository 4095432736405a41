//! What a person should know before believing the result.

use crate::simulation::{Policy, Share, System, Tactic};

/// Why results may not mean what they seem to, one sentence each.
pub(super) fn of(system: &System, policies: &[Policy]) -> Vec<String> {
    let mut warnings = Vec::new();
    let utilisation = system.utilisation().unwrap_or_default();
    if utilisation >= 1.0 {
        warnings.push(format!(
            "the system is offered {:.0} % of its capacity: queues grow for as long as requests arrive, and latency says \
             how long that was; lower --rate, or add instances or slots",
            utilisation * 100.0
        ));
    }
    warnings.extend(policies.iter().filter_map(|policy| of_policy(system, utilisation, policy)));
    warnings
}

fn of_policy(system: &System, utilisation: f64, policy: &Policy) -> Option<String> {
    match policy.tactic {
        Tactic::Hedge(hedge) => {
            let median = system.service.quantile(Share::percent(50));
            (hedge.delay < median).then(|| {
                format!(
                    "'{policy}' does not even wait for the median of the service time, {} ms: most calls are hedged; \
                     begin with the delay 'p95'",
                    median.as_seconds() * 1e3
                )
            })
        }
        Tactic::AtOnce { copies } => {
            let load = utilisation * f64::from(copies.get());
            (utilisation < 1.0 && load >= 1.0).then(|| {
                format!(
                    "'{policy}' offers {:.0} % of the capacity unless copies are cancelled in time; send fewer copies, or \
                     add instances or slots",
                    load * 100.0
                )
            })
        }
        Tactic::Single | Tactic::Tied { .. } | Tactic::Retry { .. } => None,
    }
}
