//! What the host says about its connections besides their packets.

use crate::{
    identity::{Cgroups, Change, Conntrack, Processes, Services},
    pairing::Who,
    provenance::Degradation,
};

/// Connection tracking, as long as it is heard; everything else was looked at once.
pub(super) struct Surroundings {
    conntrack: Option<Conntrack>,
    /// Why it is not heard any more.
    failure: Option<String>,
    degraded: Vec<Degradation>,
}

impl Surroundings {
    /// Looks around, while that is allowed, at control groups and translated addresses; `processes` were looked at
    /// before the probes came.
    pub(super) fn look(services: Services, processes: Processes) -> (Self, Who) {
        let mut degraded = Vec::new();
        let mut degrade = |what: &str, reason: String, consequence: &str| {
            degraded.push(Degradation { what: what.to_owned(), reason, consequence: consequence.to_owned() });
        };
        let conntrack = Conntrack::subscribe();
        if let Err(error) = &conntrack {
            let consequence = "instances behind addresses that this host translates for others look like one";
            degrade("address translation", error.to_string(), consequence);
        }
        let cgroups = Cgroups::open();
        if let Err(error) = &cgroups {
            degrade("control groups", error.to_string(), "processes are not told apart by container or unit");
        }
        for missing in processes.missing() {
            let consequence = "some connections that are older than the observation have no process";
            degrade("older connections", missing.to_string(), consequence);
        }
        let mut who = Who::new(services, processes, cgroups.ok());
        if conntrack.is_ok()
            && let Err(error) = Conntrack::dump(|translation| who.translate(Change::New(translation)))
        {
            tracing::debug!("connections that were translated before are not known: {error}");
        }
        (Self { conntrack: conntrack.ok(), failure: None, degraded }, who)
    }

    /// What could not be looked at.
    pub(super) fn degraded(&self) -> impl Iterator<Item = Degradation> {
        self.degraded.iter().cloned()
    }

    /// What was missed while it was listened.
    pub(super) fn missed(&self) -> Option<Degradation> {
        let reason = match (&self.conntrack, &self.failure) {
            (_, Some(failure)) => failure.clone(),
            (Some(conntrack), None) if conntrack.overruns() + conntrack.unreadable() > 0 => format!(
                "connection tracking told more than could be heard, {} times, and {} times what could not be read",
                conntrack.overruns(),
                conntrack.unreadable()
            ),
            _ => return None,
        };
        Some(Degradation {
            what: "address translation".to_owned(),
            reason,
            consequence: "some instances behind translated addresses look like one".to_owned(),
        })
    }

    /// Hands over what connection tracking has told since the last call.
    pub(super) fn poll(&mut self, seen: impl FnMut(Change)) {
        if let Some(conntrack) = &mut self.conntrack
            && let Err(error) = conntrack.poll(seen)
        {
            self.failure = Some(error.to_string());
            self.conntrack = None;
        }
    }
}
