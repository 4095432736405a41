//! A fixed set of exchanges, and the report about it.

use observer::{
    analysis::Question,
    exchange::{Exchange, Names},
    ledger::{Ledger, Limits},
    provenance::{Degradation, Provenance, SourceKind, Window},
    report::{
        Inputs, Report, Settlements, build,
        model::{SelectedRole, Selection},
    },
};
use observer_common::{Nanoseconds, Outcome, Role, Timestamp};

const SECOND: u64 = 1_000_000_000;

/// Exchanges and where they come from.
pub(crate) struct Sample {
    pub(crate) names: Names,
    pub(crate) exchanges: Vec<Exchange>,
    pub(crate) provenance: Provenance,
    pub(crate) selection: Selection,
    pub(crate) limits: Limits,
    pub(crate) skipped_rows: u64,
}

impl Sample {
    /// Three instances over ten seconds, the second of which pauses now and then.
    pub(crate) fn new() -> Self {
        let mut sample = Self {
            names: Names::default(),
            exchanges: Vec::new(),
            provenance: Provenance {
                window: Some(Window {
                    start: Timestamp(5 * SECOND),
                    duration: Nanoseconds(10 * SECOND),
                    wall_offset_ns: Some(1_790_000_000_000_000_000),
                }),
                ..Provenance::of(SourceKind::Kernel)
            },
            selection: Selection::default(),
            limits: Limits::default(),
            skipped_rows: 0,
        };
        for number in 0..3_600 {
            let instance = number % 3;
            let address = format!("127.0.0.{}:8080", 11 + instance);
            let noise = number * 7_919 % 1_000;
            let paused = instance == 1 && number % 97 < 3;
            let latency = 180_000 + noise * 150 + u64::from(paused) * (40_000_000 + noise * 20_000);
            let start = 5 * SECOND + number * (10 * SECOND / 3_600);
            sample.add(&address, start, latency);
        }
        sample
    }

    /// Adds an answered exchange.
    pub(crate) fn add(&mut self, address: &str, start: u64, latency: u64) -> &mut Exchange {
        let (service, instance) = (self.names.id("127.0.0.0/8"), self.names.id(address));
        let plain = Exchange::new(Timestamp(start), service, instance, Nanoseconds(latency));
        self.exchanges.push(Exchange {
            complete: Some(Nanoseconds(latency + 20_000)),
            read_lag: Some(Nanoseconds(15_000)),
            srtt: Some(Nanoseconds(45_000)),
            retransmits: Some(0),
            protocol: Some(self.names.id("http1")),
            ..plain
        });
        self.exchanges.last_mut().unwrap()
    }

    /// Adds requests without an answer, failures, losses: everything that a good day does not show.
    pub(crate) fn with_troubles(mut self) -> Self {
        for (outcome, waited) in [
            (Outcome::Pending, 1_500_000_000),
            (Outcome::Pending, 20_000_000),
            (Outcome::Reset, 3_000_000),
            (Outcome::Timeout, 9_000_000_000),
        ] {
            let exchange = self.add("127.0.0.12:8080", 13 * SECOND, waited);
            exchange.outcome = outcome;
            exchange.complete = None;
            exchange.read_lag = None;
        }
        for _ in 0..5 {
            let exchange = self.add("127.0.0.13:8080", 12 * SECOND, 90_000);
            exchange.failed = true;
            exchange.retransmits = Some(2);
        }
        self.add("127.0.0.13:8080", 6 * SECOND, 7_200 * SECOND);
        let client = self.names.id("frontend");
        let served = self.add("[2001:db8::1]:443", 7 * SECOND, 2_500_000);
        served.role = Role::Server;
        served.client = Some(client);
        self.selection =
            Selection { role: SelectedRole::Both, ports: vec![443, 8080, 9090], ..Selection::default() };
        self.selection.ports_not_seen = vec![9090];
        self.skipped_rows = 2;
        let provenance = &mut self.provenance;
        provenance.lost_events = 1_234;
        provenance.unpaired = [("push".into(), 12), ("ring-full".into(), 1_234), ("tls".into(), 88)].into();
        provenance.degraded.push(Degradation {
            what: "probe read".into(),
            reason: "the kernel has no BTF".into(),
            consequence: "a late reader cannot be told from a slow backend".into(),
        });
        self
    }

    /// The report.
    pub(crate) fn report(&self) -> Report {
        let mut ledger = Ledger::new(self.limits);
        for exchange in &self.exchanges {
            ledger.record(exchange);
        }
        build(Inputs {
            ledger: &ledger,
            names: &self.names,
            provenance: &self.provenance,
            selection: self.selection.clone(),
            exchanges_before_selection: self.exchanges.len() as u64,
            skipped_rows: self.skipped_rows,
            question: &Question::default(),
            settled: &mut Settlements::default(),
        })
    }
}
