//! The ledger as a whole.

use observer_common::{Nanoseconds, Outcome, Timestamp};
use proptest::prelude::*;

use super::*;
use crate::exchange::Names;

fn exchange(names: &mut Names, instance: &str, start: u64, latency: u64) -> Exchange {
    let (service, instance) = (names.id("search"), names.id(instance));
    Exchange::new(Timestamp(start), service, instance, Nanoseconds(latency))
}

#[test]
fn instances_are_kept_apart_within_their_service() {
    let mut names = Names::default();
    let mut ledger = Ledger::default();
    for (instance, latency) in [("192.0.2.1:80", 10), ("192.0.2.2:80", 20), ("192.0.2.1:80", 30)] {
        ledger.record(&exchange(&mut names, instance, 0, latency));
    }
    let services = ledger.services();
    assert_eq!(services.len(), 1);
    let counted: Vec<_> = services[0]
        .instances
        .iter()
        .map(|(instance, tally)| (names.text(*instance), tally.counts.exchanges()))
        .collect();
    assert_eq!(counted, [("192.0.2.1:80", 2), ("192.0.2.2:80", 1)]);
}

#[test]
fn protocol_client_and_role_tell_services_apart() {
    let mut names = Names::default();
    let mut ledger = Ledger::default();
    let plain = exchange(&mut names, "192.0.2.1:80", 0, 1_000);
    ledger.record(&plain);
    ledger.record(&Exchange { protocol: Some(names.id("http1")), ..plain });
    ledger.record(&Exchange { client: Some(names.id("frontend")), ..plain });
    ledger.record(&Exchange { role: Role::Server, ..plain });
    assert_eq!(ledger.services().len(), 4);
    assert_eq!(ledger.total().exchanges(), 4);
}

#[test]
fn an_unanswered_exchange_is_counted_and_not_a_latency() {
    let mut names = Names::default();
    let mut ledger = Ledger::default();
    let answered = exchange(&mut names, "192.0.2.1:80", 0, 1_000);
    ledger.record(&answered);
    for (outcome, waited) in [(Outcome::Pending, 5_000), (Outcome::Pending, 9_000), (Outcome::Reset, 70_000)]
    {
        ledger.record(&Exchange { outcome, latency: Nanoseconds(waited), ..answered });
    }
    let services = ledger.services();
    let tally = services[0].instances[0].1;
    let mut latency = Merged::default();
    latency.add(&tally.latency);
    assert_eq!(latency.count(), 1);
    assert_eq!(latency.max(), Nanoseconds(1_000));
    assert_eq!(tally.counts.exchanges(), 4);
    assert_eq!(tally.counts.outcome(Outcome::Pending), 2);
    assert_eq!(tally.counts.oldest_pending, Some(Nanoseconds(9_000)));
    assert_eq!(tally.counts.last_end, Timestamp(70_000));
}

#[test]
fn what_is_known_of_the_network_is_averaged_where_it_is_known() {
    let mut names = Names::default();
    let mut ledger = Ledger::default();
    let plain = exchange(&mut names, "192.0.2.1:80", 0, 1_000);
    ledger.record(&plain);
    assert_eq!(ledger.total().mean_srtt(), None);
    assert_eq!(ledger.total().retransmit_share(), None);
    ledger.record(&Exchange { srtt: Some(Nanoseconds(100)), retransmits: Some(0), ..plain });
    ledger.record(&Exchange { srtt: Some(Nanoseconds(300)), retransmits: Some(7), ..plain });
    assert_eq!(ledger.total().mean_srtt(), Some(Nanoseconds(200)));
    assert_eq!(ledger.total().retransmit_share(), Some(0.5));
}

#[test]
fn instances_beyond_the_limit_share_a_bucket_that_says_how_much_it_holds() {
    let mut names = Names::default();
    let mut ledger = Ledger::new(Limits { services: 10, instances: 3 });
    for round in 0..5_u64 {
        for port in 0..8 {
            ledger.record(&exchange(&mut names, &format!("192.0.2.1:{port}"), round, 1_000));
        }
    }
    let services = ledger.services();
    assert_eq!(services[0].instances.len(), 3);
    let other = services[0].other.unwrap();
    assert_eq!(other.names_at_least(), 5);
    assert_eq!(other.tally.counts.exchanges(), 25);
    assert_eq!(ledger.total().exchanges(), 40);
}

#[test]
fn services_beyond_the_limit_share_a_bucket_too() {
    let mut names = Names::default();
    let mut ledger = Ledger::new(Limits { services: 2, instances: 100 });
    let plain = exchange(&mut names, "192.0.2.1:80", 0, 1_000);
    for service in ["a", "b", "c", "d", "c", "a"] {
        ledger.record(&Exchange { service: names.id(service), ..plain });
    }
    assert_eq!(ledger.services().len(), 2);
    let other = ledger.other_services().unwrap();
    assert_eq!(other.names_at_least(), 2);
    assert_eq!(other.tally.counts.exchanges(), 3);
    assert_eq!(ledger.total().exchanges(), 6);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn the_order_of_exchanges_does_not_matter(
        mut rows in proptest::collection::vec((0..4_u8, 0..300_u64, 1_000..1_000_000_u64, 0..5_usize), 1..200),
    ) {
        let sums = |rows: &[(u8, u64, u64, usize)]| {
            let mut names = Names::default();
            for instance in 0..4 {
                names.id(&instance.to_string());
            }
            let mut ledger = Ledger::default();
            for (instance, second, latency, outcome) in rows {
                let plain = exchange(&mut names, &instance.to_string(), second * 1_000_000_000, *latency);
                ledger.record(&Exchange { outcome: Outcome::ALL[*outcome], ..plain });
            }
            let newest = ledger.total().last_start;
            let mut sums: Vec<_> = ledger.services()[0].instances.iter().map(|(instance, tally)| {
                let (mut whole, mut recent) = (Merged::default(), Merged::default());
                whole.add(&tally.latency);
                tally.recent.add_to(newest, &mut recent);
                (
                    *instance,
                    tally.counts,
                    whole.counts().collect::<Vec<_>>(),
                    recent.counts().collect::<Vec<_>>(),
                )
            }).collect();
            sums.sort_by_key(|(instance, ..)| *instance);
            sums
        };
        let forward = sums(&rows);
        rows.reverse();
        prop_assert_eq!(&forward, &sums(&rows));
        rows.sort_unstable();
        prop_assert_eq!(&forward, &sums(&rows));
    }
}
