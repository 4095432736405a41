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
    let mut ledger = Ledger::new(Limits { services: 10, instances: 3, ..Limits::default() });
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
    let mut ledger = Ledger::new(Limits { services: 2, instances: 100, ..Limits::default() });
    let plain = exchange(&mut names, "192.0.2.1:80", 0, 1_000);
    for service in ["a", "b", "c", "d", "c", "a"] {
        ledger.record(&Exchange { service: names.id(service), ..plain });
    }
    assert_eq!(ledger.services().len(), 2);
    let other = ledger.other_services().unwrap();
    assert_eq!(other.names_at_least(), 2);
    assert_eq!(other.tally.counts.exchanges(), 3);
    assert_eq!(ledger.total().exchanges(), 6);
    assert_eq!(ledger.services().iter().map(|service| service.rows().len()).sum::<usize>(), 3);
}

#[test]
fn instances_beyond_the_limit_have_rows_with_their_own_names() {
    let mut names = Names::default();
    let mut ledger = Ledger::new(Limits { instances: 1, ..Limits::default() });
    for port in 0..3 {
        ledger.record(&exchange(&mut names, &format!("192.0.2.1:{port}"), port, 1_000));
    }
    let rows = ledger.services()[0].rows();
    let instances: Vec<_> = rows.iter().map(|row| names.text(row.instance())).collect();
    assert_eq!(instances, ["192.0.2.1:0", "192.0.2.1:1", "192.0.2.1:2"]);
}

#[test]
fn a_service_keeps_its_latest_rows_in_whatever_order_they_come() {
    let mut names = Names::default();
    let limits = Limits { rows_per_service: 100, ..Limits::default() };
    let (mut forward, mut mixed) = (Ledger::new(limits), Ledger::new(limits));
    for number in 0..1_009_u64 {
        forward.record(&exchange(&mut names, "192.0.2.1:80", number, 1_000 + number));
        let number = number * 379 % 1_009;
        mixed.record(&exchange(&mut names, "192.0.2.1:80", number, 1_000 + number));
    }
    let [rows, others] = [forward, mixed].map(|ledger| {
        let mut rows = ledger.services()[0].rows();
        rows.sort_unstable();
        rows
    });
    assert!(rows.iter().map(|row| row.start().0).eq(909..1_009));
    assert_eq!(rows, others);
}

#[test]
fn at_the_limit_of_all_rows_the_longest_service_gives_up_its_older_half() {
    let mut names = Names::default();
    let mut ledger = Ledger::new(Limits { rows: 1_000, ..Limits::default() });
    for number in 0..5_000 {
        let service = names.id(if number % 10 == 0 { "quiet" } else { "busy" });
        ledger.record(&Exchange { service, ..exchange(&mut names, "192.0.2.1:80", number, 1_000) });
        assert!(ledger.rows <= 1_000);
        assert_eq!(ledger.rows, ledger.services().iter().map(|service| service.rows().len()).sum::<usize>());
    }
    let services = ledger.services();
    let newest: Vec<_> = services
        .iter()
        .map(|service| service.rows().iter().map(|row| row.start().0).max().unwrap())
        .collect();
    assert_eq!(newest, [4_990, 4_999]);
}

#[test]
fn a_copy_takes_in_more_without_the_original_and_without_its_memory() {
    let mut names = Names::default();
    let mut ledger = Ledger::default();
    ledger.record(&exchange(&mut names, "192.0.2.1:80", 1, 1_000));
    let mut so_far = ledger.clone();
    let pending = exchange(&mut names, "192.0.2.1:80", 2, 5_000);
    so_far.record(&Exchange { outcome: Outcome::Pending, ..pending });
    assert_eq!(so_far.services()[0].rows().len(), 2);
    assert_eq!(ledger.services()[0].rows().len(), 1);
    drop(so_far);
    ledger.record(&pending);
    let rows = ledger.services()[0].rows();
    assert!(rows.iter().all(|row| !row.is_censored()));
    assert_eq!(rows.len(), 2);
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
