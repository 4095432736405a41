//! When every request is due, fixed before the first one leaves.
//!
//! The client is open-loop: a slow answer never delays the requests after it, as it would if each waited for the
//! one before (coordinated omission). That takes enough connections for a whole pause of a replica.

use std::time::Duration;

/// Evenly spaced requests, spread over the replicas in turn, and over each replica's connections in turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    interval: Duration,
    requests: u32,
    replicas: u32,
    connections: u32,
}

impl Schedule {
    /// `rate` requests a second for `duration`, on so many connections that each is asked again only about
    /// twice the `longest_wait` for an answer later.
    pub(super) fn new(rate: u32, duration: Duration, replicas: u32, longest_wait: Duration) -> Self {
        let rate = rate.max(1);
        let requests = (duration.as_secs_f64() * f64::from(rate)).floor();
        let connections = (2.0 * longest_wait.as_secs_f64() * f64::from(rate) / f64::from(replicas)).ceil();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
        let (requests, connections) = (requests as u32, (connections as u32).max(1));
        Self { interval: Duration::from_secs(1) / rate, requests, replicas, connections }
    }

    /// How many connections each replica gets.
    pub(super) const fn connections(&self) -> u32 {
        self.connections
    }

    /// When the requests of one connection are due, counted from the start.
    pub(super) fn due(&self, replica: u32, connection: u32) -> impl Iterator<Item = Duration> + use<> {
        let Self { interval, requests, replicas, connections } = *self;
        let first = replica + connection * replicas;
        let step = (replicas * connections) as usize;
        (first..requests).step_by(step).map(move |number| interval * number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_millis(300);

    fn all(schedule: &Schedule) -> Vec<(Duration, u32)> {
        let mut all: Vec<_> = (0..schedule.replicas)
            .flat_map(|replica| (0..schedule.connections()).map(move |connection| (replica, connection)))
            .flat_map(|(replica, connection)| {
                schedule.due(replica, connection).map(move |due| (due, replica))
            })
            .collect();
        all.sort();
        all
    }

    #[test]
    fn every_request_is_due_exactly_once_and_evenly_spaced() {
        let schedule = Schedule::new(300, Duration::from_secs(8), 3, PAUSE);
        let all = all(&schedule);
        assert_eq!(all.len(), 2_400);
        for (number, (due, _)) in (0..).zip(&all) {
            assert_eq!(*due, Duration::from_secs(1) / 300 * number);
        }
    }

    #[test]
    fn replicas_take_turns() {
        let replicas: Vec<_> = all(&Schedule::new(300, Duration::from_secs(1), 3, PAUSE))
            .iter()
            .map(|&(_, replica)| replica)
            .collect();
        assert_eq!(replicas[..6], [0, 1, 2, 0, 1, 2]);
    }

    #[test]
    fn a_connection_outlasts_a_pause_before_it_is_asked_again() {
        let schedule = Schedule::new(450, Duration::from_secs(8), 3, PAUSE);
        let due: Vec<_> = schedule.due(1, 0).collect();
        assert!(due.windows(2).all(|pair| pair[1] > pair[0] + PAUSE), "{due:?}");
    }

    #[test]
    fn no_time_means_no_requests() {
        assert!(all(&Schedule::new(300, Duration::ZERO, 3, PAUSE)).is_empty());
    }
}
