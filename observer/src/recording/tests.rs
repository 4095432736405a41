use std::{collections::BTreeMap, fs, path::Path};

use observer_common::{Nanoseconds, Outcome, Role, Timestamp};
use proptest::{collection::vec, option, prelude::*};
use tempfile::tempdir;

use super::*;
use crate::{
    capture::table::{self, TableOptions},
    provenance::{Degradation, SourceKind, Window},
};

/// The texts of an exchange, which has only their ids.
type Texts = (String, String, [Option<String>; 7]);

fn exchanges() -> impl Strategy<Value = Vec<(Exchange, Texts)>> {
    let text = "[ -~äöü\u{1f980}\"',\r\n#]{1,12}";
    let numbers = (any::<[u64; 2]>(), any::<[Option<u64>; 9]>(), any::<[Option<u32>; 3]>());
    let flags = (0..Outcome::ALL.len(), any::<bool>(), any::<bool>());
    let texts = (text, text, vec(option::of(text), 7));
    let exchange =
        (numbers, flags, texts).prop_map(|((required, long, short), (outcome, server, failed), texts)| {
            let mut names = Names::default();
            let any_name = names.id("");
            let mut exchange =
                Exchange::new(Timestamp(required[0]), any_name, any_name, Nanoseconds(required[1]));
            // A last byte is never before the first.
            exchange.complete = long[0].map(|complete| Nanoseconds(complete).max(exchange.latency));
            exchange.sent = long[1].map(Nanoseconds);
            exchange.request_bytes = long[2];
            exchange.response_bytes = long[3];
            exchange.srtt = long[4].map(Nanoseconds);
            exchange.read_lag = long[5].map(Nanoseconds);
            exchange.connection = long[6];
            exchange.head_hash = long[7];
            exchange.request = long[8];
            exchange.retransmits = short[0];
            exchange.pid = short[1];
            exchange.attempt = short[2];
            exchange.outcome = Outcome::ALL[outcome];
            exchange.role = if server { Role::Server } else { Role::Client };
            exchange.failed = failed;
            (exchange, (texts.0, texts.1, texts.2.try_into().unwrap()))
        });
    vec(exchange, 0..40)
}

fn provenances() -> impl Strategy<Value = Provenance> {
    let kind = prop::sample::select(vec![
        SourceKind::Kernel,
        SourceKind::Pcap,
        SourceKind::Table,
        SourceKind::AccessLog,
        SourceKind::DemoClient,
    ]);
    let window = option::of((any::<u64>(), any::<u64>(), any::<Option<i64>>()));
    let text = "[ -~ä\n\"]{0,12}";
    let degraded = vec((text, text, text), 0..3);
    let unpaired = prop::collection::btree_map("[a-z-]{1,12}", any::<u64>(), 0..4);
    (kind, window, any::<u64>(), 0.0..=1.0, unpaired, degraded).prop_map(
        |(kind, window, lost_events, sampled_fraction, unpaired, degraded)| Provenance {
            kind,
            window: window.map(|(start, duration, wall_offset_ns)| Window {
                start: Timestamp(start),
                duration: Nanoseconds(duration),
                wall_offset_ns,
            }),
            lost_events,
            sampled_fraction,
            unpaired,
            degraded: degraded
                .into_iter()
                .map(|(what, reason, consequence)| Degradation { what, reason, consequence })
                .collect(),
        },
    )
}

/// Gives the exchange the ids of its texts.
fn named(exchange: &Exchange, (service, instance, optional): &Texts, names: &mut Names) -> Exchange {
    let [class, client, protocol, status, comm, cgroup, service_address] =
        optional.each_ref().map(|text| text.as_ref().map(|text| names.id(text)));
    let (service, instance) = (names.id(service), names.id(instance));
    Exchange {
        service,
        instance,
        class,
        client,
        protocol,
        status,
        comm,
        cgroup,
        service_address,
        ..*exchange
    }
}

/// The texts that the exchange's ids stand for.
fn texts(exchange: &Exchange, names: &Names) -> Texts {
    let optional = [
        exchange.class,
        exchange.client,
        exchange.protocol,
        exchange.status,
        exchange.comm,
        exchange.cgroup,
        exchange.service_address,
    ];
    let text = |id| names.text(id).to_owned();
    (text(exchange.service), text(exchange.instance), optional.map(|id| id.map(text)))
}

fn record(path: &Path, exchanges: &[(Exchange, Texts)], provenance: &Provenance) {
    let mut names = Names::default();
    let mut recorder = Recorder::create(path).unwrap();
    for (exchange, texts) in exchanges {
        let exchange = named(exchange, texts, &mut names);
        recorder.write(&exchange, &names).unwrap();
    }
    assert!(!path.exists(), "nothing appears before it is complete");
    recorder.finish(provenance).unwrap();
}

fn comes_back(file: &str, exchanges: &[(Exchange, Texts)], provenance: &Provenance) {
    let directory = tempdir().unwrap();
    let path = directory.path().join(file);
    record(&path, exchanges, provenance);
    let mut names = Names::default();
    let mut seen = Vec::new();
    let read = table::read(&path, &TableOptions::default(), &mut names, &mut |exchange, names| {
        seen.push((*exchange, texts(exchange, names)));
    })
    .unwrap();
    assert_eq!(read.provenance, *provenance);
    assert_eq!((read.rows, read.skipped_rows, read.notes.len()), (exchanges.len() as u64, 0, 0));
    let mut ids = Names::default();
    for ((seen, seen_texts), (exchange, texts)) in seen.iter().zip(exchanges) {
        assert_eq!(seen_texts, texts);
        assert_eq!(named(seen, texts, &mut ids), named(exchange, texts, &mut ids));
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing else is left behind");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_was_recorded_comes_back(exchanges in exchanges(), provenance in provenances()) {
        comes_back("x.parquet", &exchanges, &provenance);
        comes_back("x.csv", &exchanges, &provenance);
    }
}

fn plain(names: &mut Names, start: u64) -> Exchange {
    let (service, instance) = (names.id(":80"), names.id("192.0.2.1:80"));
    Exchange::new(Timestamp(start), service, instance, Nanoseconds(1_000))
}

#[test]
fn many_row_groups_come_back_in_order() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("x.parquet");
    let mut names = Names::default();
    let mut recorder = Recorder::create(&path).unwrap();
    for start in 0..150_000 {
        recorder.write(&plain(&mut names, start), &names).unwrap();
    }
    recorder.finish(&Provenance::of(SourceKind::Kernel)).unwrap();
    let mut next = 0;
    let read = table::read(&path, &TableOptions::default(), &mut names, &mut |exchange, _| {
        assert_eq!(exchange.start, Timestamp(next));
        next += 1;
    })
    .unwrap();
    assert_eq!((read.rows, next), (150_000, 150_000));
}

#[test]
fn a_recording_that_is_given_up_leaves_nothing() {
    let directory = tempdir().unwrap();
    for file in ["x.parquet", "x.csv"] {
        let mut names = Names::default();
        let mut recorder = Recorder::create(&directory.path().join(file)).unwrap();
        recorder.write(&plain(&mut names, 1), &names).unwrap();
        drop(recorder);
        let path = directory.path().join(file);
        let panicked = std::panic::catch_unwind(|| {
            let _recorder = Recorder::create(&path).unwrap();
            panic!("in the middle of it");
        });
        assert!(panicked.is_err());
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn an_older_recording_stays_until_the_new_one_is_complete() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("x.csv");
    fs::write(&path, "old").unwrap();
    let recorder = Recorder::create(&path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    recorder.finish(&Provenance::of(SourceKind::Kernel)).unwrap();
    assert!(fs::read_to_string(&path).unwrap().contains("start_ns,service,instance,latency_ns,"));
}

#[test]
fn where_nothing_can_be_recorded_the_reason_is_told() {
    let directory = tempdir().unwrap();
    let at = |file: &str| Recorder::create(&directory.path().join(file)).unwrap_err().to_string();
    assert!(at("x.txt").contains("must end in .parquet or .csv"));
    assert!(at("missing/x.csv").contains("choose a directory that exists"));
    fs::create_dir(directory.path().join("d.csv")).unwrap();
    assert!(at("d.csv").contains("is a directory"));
}

#[test]
fn metadata_stands_at_the_top_of_csv() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("x.csv");
    let unpaired = BTreeMap::from([("push".to_owned(), 3)]);
    let provenance = Provenance { unpaired, ..Provenance::of(SourceKind::Pcap) };
    record(&path, &[], &provenance);
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "# observer.log_version: 1");
    assert!(lines.contains(&r#"# observer.unpaired: {"push":3}"#), "{text}");
    assert!(lines.last().unwrap().starts_with("start_ns,service,instance"), "{text}");
}

#[test]
fn what_a_link_leads_to_is_replaced_and_the_link_stays() {
    let directory = tempdir().unwrap();
    let elsewhere = directory.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    for (file, there) in [("there.csv", true), ("not-yet.csv", false)] {
        let (target, link) = (elsewhere.join(file), directory.path().join(file));
        if there {
            fs::write(&target, "old").unwrap();
        }
        std::os::unix::fs::symlink(Path::new("elsewhere").join(file), &link).unwrap();
        let recorder = Recorder::create(&link).unwrap();
        assert_eq!(recorder.output().part().unwrap().parent(), target.parent());
        recorder.finish(&Provenance::of(SourceKind::Kernel)).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(!fs::symlink_metadata(&target).unwrap().is_symlink());
        assert!(fs::read_to_string(&target).unwrap().contains("start_ns,service,instance"));
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 3);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 2);
}

#[test]
fn a_named_pipe_is_written_and_stays() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let directory = tempdir().unwrap();
    for (file, beginning) in [("x.csv", "# observer"), ("x.parquet", "PAR1")] {
        let path = directory.path().join(file);
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let reader = std::thread::spawn({
            let path = path.clone();
            move || fs::read(path).unwrap()
        });
        let recorder = Recorder::create(&path).unwrap();
        recorder.finish(&Provenance::of(SourceKind::Kernel)).unwrap();
        let received = reader.join().unwrap();
        assert!(received.starts_with(beginning.as_bytes()), "{file}");
        assert!(!fs::symlink_metadata(&path).unwrap().is_file());
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
}
