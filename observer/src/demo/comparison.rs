//! Whether the probes saw what the client saw: both read the same clock.

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
};

use observer_common::{Nanoseconds, Outcome, Timestamp};

use crate::exchange::Exchange;

/// The answered exchanges of each connection.
type Connections = HashMap<u64, Vec<Span>>;

/// From a request to the first byte of its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: Timestamp,
    latency: Nanoseconds,
}

impl Span {
    const fn end(self) -> u64 {
        self.start.0.saturating_add(self.latency.0)
    }
}

/// The probes' exchanges beside the client's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    observed: Summary,
    client: Summary,
    inside: usize,
    /// Requests that the client gave up.
    given_up: usize,
}

/// How many exchanges there were, and how long they took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Summary {
    exchanges: usize,
    p50: Nanoseconds,
    p99: Nanoseconds,
}

impl Comparison {
    /// Compares what was observed with what the client logged. Exchanges without a connection or an answer are left
    /// out: the client knows when it gave up, not when its socket did, and an answer may have come in between.
    pub fn of(observed: &[Exchange], client: &[Exchange]) -> Self {
        let given_up = client.iter().filter(|exchange| exchange.outcome != Outcome::Ok).count();
        let [observed, client] = [observed, client].map(by_connection);
        let inside = observed
            .iter()
            .filter_map(|(connection, observed)| Some((observed, client.get(connection)?)))
            .map(|(observed, client)| inside(observed, client))
            .sum();
        Self { observed: Summary::of(&observed), client: Summary::of(&client), inside, given_up }
    }

    /// Whether the probes saw every answered request of the client, each within the client's own times, and no others.
    const fn agrees(&self) -> bool {
        self.inside == self.client.exchanges
            && self.observed.exchanges <= self.client.exchanges + self.given_up
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { observed, client, inside, .. } = self;
        let verb = if self.agrees() { "agree" } else { "disagree" };
        write!(
            formatter,
            "probes and client {verb}: {} exchanges observed, {} made, {inside} of them observed within the \
             client's own times; p50 {} by the probes and {} by the client, p99 {} and {}",
            observed.exchanges,
            client.exchanges,
            Milliseconds(observed.p50),
            Milliseconds(client.p50),
            Milliseconds(observed.p99),
            Milliseconds(client.p99),
        )
    }
}

struct Milliseconds(Nanoseconds);

impl fmt::Display for Milliseconds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:.3} ms", self.0.as_seconds() * 1e3)
    }
}

impl Summary {
    fn of(connections: &Connections) -> Self {
        let mut latencies: Vec<_> = connections.values().flatten().map(|span| span.latency).collect();
        latencies.sort_unstable();
        Self { exchanges: latencies.len(), p50: quantile(&latencies, 50), p99: quantile(&latencies, 99) }
    }
}

/// How many of the client's have an observed one within them, each another one. Several may be under way on one
/// connection at once.
///
/// In the order of their ends, each of the client's takes the one that began first after it: those that began later are
/// left for later ones.
fn inside(observed: &[Span], client: &[Span]) -> usize {
    let by_end = |spans: &[Span]| {
        let mut spans = spans.to_vec();
        spans.sort_unstable_by_key(|span| span.end());
        spans
    };
    let mut ended = by_end(observed).into_iter().enumerate().peekable();
    let mut free = BTreeSet::new();
    let mut inside = 0;
    for span in by_end(client) {
        while let Some((number, observed)) = ended.next_if(|(_, observed)| observed.end() <= span.end()) {
            free.insert((observed.start, number));
        }
        let taken = free.range((span.start, 0)..).next().copied();
        inside += usize::from(taken.is_some_and(|taken| free.remove(&taken)));
    }
    inside
}

/// The smallest value that `percent` of all do not exceed; 0 where there is none.
fn quantile(sorted: &[Nanoseconds], percent: usize) -> Nanoseconds {
    let rank = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(rank).copied().unwrap_or_default()
}

fn by_connection(exchanges: &[Exchange]) -> Connections {
    let mut connections = Connections::new();
    for exchange in exchanges {
        if let Some(connection) = exchange.connection
            && exchange.outcome == Outcome::Ok
        {
            let span = Span { start: exchange.start, latency: exchange.latency };
            connections.entry(connection).or_default().push(span);
        }
    }
    connections
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::Names;

    fn exchange(connection: u64, start: u64, latency: u64) -> Exchange {
        let name = Names::default().id("demo");
        let exchange = Exchange::new(Timestamp(start), name, name, Nanoseconds(latency));
        Exchange { connection: Some(connection), ..exchange }
    }

    #[test]
    fn exchanges_are_compared_within_their_connection_in_any_order() {
        let client = [exchange(1, 100, 50), exchange(2, 110, 50), exchange(1, 200, 50)];
        let observed = [exchange(2, 111, 40), exchange(1, 202, 40), exchange(1, 101, 49)];
        let comparison = Comparison::of(&observed, &client);
        assert!(comparison.agrees(), "{comparison}");
        assert_eq!((comparison.observed.p50, comparison.client.p50), (Nanoseconds(40), Nanoseconds(50)));
    }

    #[test]
    fn a_time_outside_is_told() {
        let client = [exchange(1, 100, 50), exchange(1, 200, 50)];
        for outside in [exchange(1, 99, 10), exchange(1, 110, 41)] {
            let comparison = Comparison::of(&[outside, exchange(1, 201, 10)], &client);
            assert!(!comparison.agrees());
            assert_eq!(comparison.inside, 1);
        }
    }

    #[test]
    fn exchanges_of_one_connection_may_overlap() {
        let client = [exchange(1, 100, 100), exchange(1, 101, 50)];
        let observed = [exchange(1, 103, 90), exchange(1, 102, 40)];
        assert!(Comparison::of(&observed, &client).agrees());
    }

    #[test]
    fn what_was_given_up_is_not_compared() {
        let client = [exchange(1, 100, 50)];
        let given_up = Exchange { outcome: Outcome::Cancelled, ..exchange(1, 200, 90) };
        assert!(Comparison::of(&[client[0], given_up], &client).agrees());
        // The answer came before the client's socket was closed.
        let client = [client[0], given_up];
        assert!(Comparison::of(&[client[0], exchange(1, 201, 60)], &client).agrees());
        assert!(!Comparison::of(&[exchange(1, 201, 60)], &client).agrees());
    }

    #[test]
    fn an_exchange_that_nobody_made_is_told() {
        let client = [exchange(1, 100, 50)];
        assert!(!Comparison::of(&[client[0], exchange(1, 300, 50)], &client).agrees());
    }

    #[test]
    fn a_missing_exchange_is_told() {
        let client = [exchange(1, 100_000, 50_000), exchange(1, 200_000, 70_000)];
        let comparison = Comparison::of(&client[..1], &client);
        assert!(!comparison.agrees());
        assert_eq!(
            comparison.to_string(),
            "probes and client disagree: 1 exchanges observed, 2 made, 1 of them observed within the client's \
             own times; p50 0.050 ms by the probes and 0.050 ms by the client, p99 0.050 ms and 0.070 ms"
        );
    }

    #[test]
    fn nothing_agrees_with_nothing() {
        assert!(Comparison::of(&[], &[]).agrees());
    }
}
