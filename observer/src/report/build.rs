//! From the ledger to the report.

use std::net::SocketAddr;

use observer_common::{Nanoseconds, Outcome, Reason, Timestamp};

use super::{
    assessed::{Assessed, Assessor, Settlements},
    histogram::Range,
    model::{
        Asked, Histogram, Instance, Intervals, Measured, OtherInstances, OtherServices, Outcomes, Quantiles,
        Recent, Report, SCHEMA_VERSION, Selection, Service, Source, Tool,
    },
    span::Span,
};
use crate::{
    analysis::Question,
    exchange::{NameId, Names},
    ledger::{self, Counts, Distribution, Ledger, Merged, ROLLING, Tally},
    provenance::{Provenance, SourceKind},
};

/// What a report is made of.
#[derive(Debug)]
pub struct Inputs<'a> {
    /// The selected exchanges.
    pub ledger: &'a Ledger,
    /// Their texts.
    pub names: &'a Names,
    /// Where they come from.
    pub provenance: &'a Provenance,
    /// Which were selected.
    pub selection: Selection,
    /// How many there were before the selection.
    pub exchanges_before_selection: u64,
    /// How many rows of the input were bad and left out.
    pub skipped_rows: u64,
    /// What is asked about them.
    pub question: &'a Question,
    /// What earlier reports of the same observation said.
    pub settled: &'a mut Settlements,
}

/// Makes the report.
pub fn build(inputs: Inputs<'_>) -> Report {
    let total = inputs.ledger.total();
    let span = Span::of(inputs.provenance, &total);
    let source = source(&inputs, &total);
    let mut builder = Builder {
        names: inputs.names,
        assessor: Assessor {
            names: inputs.names,
            question: inputs.question,
            settled: inputs.settled,
            seen: seen(inputs.provenance, total.exchanges()),
        },
        span,
        newest: total.last_start,
        scratch: Merged::default(),
        censored: Merged::default(),
        nothing: Merged::default(),
    };
    let mut services: Vec<_> =
        inputs.ledger.services().iter().map(|service| builder.service(service)).collect();
    services.sort_by(|a, b| {
        let key = |service: &Service| {
            (service.name.clone(), service.client.clone(), service.protocol.clone(), service.role.clone())
        };
        b.measured.exchanges.cmp(&a.measured.exchanges).then_with(|| key(a).cmp(&key(b)))
    });
    let other = inputs.ledger.other_services().map(|other| OtherServices {
        services: other.names_at_least(),
        measured: builder.measured_alone(&other.tally),
    });
    Report {
        schema_version: SCHEMA_VERSION,
        tool: Tool { name: env!("CARGO_PKG_NAME").into(), version: env!("CARGO_PKG_VERSION").into() },
        window: span.window(inputs.provenance),
        source,
        selection: inputs.selection,
        question: Asked::of(inputs.question, inputs.ledger.metric()),
        services,
        other,
    }
}

fn source(inputs: &Inputs<'_>, total: &Counts) -> Source {
    let provenance = inputs.provenance;
    let is_lost =
        |name: &str| [Reason::RingFull, Reason::StorageFailed].iter().any(|lost| lost.name() == name);
    let unpaired: u64 =
        provenance.unpaired.iter().filter(|(name, _)| !is_lost(name)).map(|(_, count)| count).sum();
    Source {
        kind: provenance.kind,
        note: note(provenance.kind).map(Into::into),
        exchanges: total.exchanges(),
        lost_events: provenance.lost_events,
        sampled_fraction: provenance.sampled_fraction,
        unpaired: provenance.unpaired.clone(),
        unmeasurable_share: share(unpaired, inputs.exchanges_before_selection + unpaired),
        degraded: provenance.degraded.clone(),
        skipped_rows: inputs.skipped_rows,
    }
}

const fn note(kind: SourceKind) -> Option<&'static str> {
    match kind {
        SourceKind::DemoClient => {
            Some("these are the demo client's own timestamps: nothing was measured by the probes")
        }
        SourceKind::Kernel | SourceKind::Pcap | SourceKind::Table | SourceKind::AccessLog => None,
    }
}

/// The share of exchanges that was seen: those that were sampled and not lost.
fn seen(provenance: &Provenance, exchanges: u64) -> f64 {
    let all = exchanges + provenance.lost_events;
    if all == 0 { 1.0 } else { provenance.sampled_fraction * exchanges as f64 / all as f64 }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

struct Builder<'a> {
    names: &'a Names,
    assessor: Assessor<'a>,
    span: Span,
    newest: Timestamp,
    scratch: Merged,
    censored: Merged,
    nothing: Merged,
}

impl Builder<'_> {
    fn service(&mut self, service: &ledger::Service<'_>) -> Service {
        let names = self.names;
        let tallies: Vec<_> = service.tallies().collect();
        let range = self.range(&tallies);
        let measured = self.measured(&tallies, range);
        // What `measured` counted last is still in the scratch memory.
        let ci_s = Intervals::of(&self.scratch, &self.censored);
        let assessed = self.assessor.assess(service);
        let mut instances: Vec<_> = service
            .instances
            .iter()
            .map(|(address, tally)| self.instance(*address, tally, range, &assessed))
            .collect();
        instances.sort_by_cached_key(|instance| address_order(&instance.address));
        Service {
            name: names.text(service.key.name).into(),
            client: service.key.client.map(|client| names.text(client).into()),
            protocol: service.key.protocol.map(|protocol| names.text(protocol).into()),
            role: service.key.role.name().into(),
            measured,
            ci_s,
            instances,
            other: service.other.map(|other| OtherInstances {
                instances: other.names_at_least(),
                measured: self.measured(&[&other.tally], range),
            }),
            assessment: assessed.assessment,
        }
    }

    fn instance(
        &mut self,
        address: NameId,
        tally: &Tally,
        range: Option<Range>,
        assessed: &Assessed,
    ) -> Instance {
        let text = self.names.text(address);
        Instance {
            address: text.into(),
            measured: self.measured(&[tally], range),
            slow_share: assessed.slow_share(address),
            elevated: assessed.assessment.verdict.elevated.iter().any(|elevated| elevated == text),
            first_start_s: self.span.seconds_until(tally.counts.first_start),
            last_start_s: self.span.seconds_until(tally.counts.last_start),
        }
    }

    fn measured_alone(&mut self, tally: &Tally) -> Measured {
        let range = self.range(&[tally]);
        self.measured(&[tally], range)
    }

    fn measured(&mut self, tallies: &[&Tally], range: Option<Range>) -> Measured {
        let mut counts = Counts::default();
        for tally in tallies {
            counts += &tally.counts;
        }
        let last_byte_s = self.quantiles(tallies, |tally| &tally.last_byte);
        let read_lag_s = self.quantiles(tallies, |tally| &tally.read_lag);
        let recent = (self.span.duration > ROLLING).then(|| self.recent(tallies));
        // The last one, since the histogram is counted from what it leaves in the scratch memory.
        self.censored.clear();
        for tally in tallies {
            self.censored.add(&tally.censored);
        }
        self.merge(tallies, |tally| &tally.latency);
        let latency_s = Quantiles::of(&self.scratch, &self.censored);
        let exchanges = counts.exchanges();
        let answered = counts.outcome(Outcome::Ok);
        let seconds = self.span.duration.as_seconds();
        Measured {
            exchanges,
            rate_per_s: (seconds > 0.0).then(|| exchanges as f64 / seconds),
            in_flight: counts.outcome(Outcome::Pending),
            pending_oldest_s: counts.oldest_pending.map(Nanoseconds::as_seconds),
            outcomes: outcomes(&counts),
            failed: counts.failed,
            censored_share: share(exchanges - answered, exchanges),
            last_byte_late: is_late(&latency_s, &last_byte_s),
            latency_s,
            last_byte_s,
            read_lag_s,
            latency_histogram: range.map_or_else(Histogram::default, |range| range.count(&self.scratch)),
            saturated: self.scratch.saturated(),
            srtt_s: counts.mean_srtt().map(Nanoseconds::as_seconds),
            retransmit_share: counts.retransmit_share(),
            recent,
        }
    }

    fn recent(&mut self, tallies: &[&Tally]) -> Recent {
        self.scratch.clear();
        for tally in tallies {
            tally.recent.add_to(self.newest, &mut self.scratch);
        }
        Recent {
            duration_s: ROLLING.as_seconds(),
            answered: self.scratch.count(),
            latency_s: Quantiles::of(&self.scratch, &self.nothing),
        }
    }

    /// The quantiles of one distribution over all tallies.
    fn quantiles(&mut self, tallies: &[&Tally], of: impl Fn(&Tally) -> &Distribution) -> Quantiles {
        self.merge(tallies, of);
        Quantiles::of(&self.scratch, &self.nothing)
    }

    /// Brings one distribution over all tallies into the scratch memory.
    fn merge(&mut self, tallies: &[&Tally], of: impl Fn(&Tally) -> &Distribution) {
        self.scratch.clear();
        for tally in tallies {
            self.scratch.add(of(tally));
        }
    }

    fn range(&mut self, tallies: &[&Tally]) -> Option<Range> {
        self.merge(tallies, |tally| &tally.latency);
        Range::of(&self.scratch)
    }
}

/// How many times as late as the first byte the last one is that comes much later.
const MUCH_LATER: f64 = 2.0;

fn is_late(first: &Quantiles, last: &Quantiles) -> bool {
    [(first.p50, last.p50), (first.p99, last.p99)].into_iter().any(|(first, last)| {
        first.zip(last).is_some_and(|(first, last)| last > first && last >= MUCH_LATER * first)
    })
}

fn outcomes(counts: &Counts) -> Outcomes {
    Outcomes {
        ok: counts.outcome(Outcome::Ok),
        pending: counts.outcome(Outcome::Pending),
        cancelled: counts.outcome(Outcome::Cancelled),
        reset: counts.outcome(Outcome::Reset),
        timeout: counts.outcome(Outcome::Timeout),
    }
}

/// Whatever else than an address somebody calls an instance comes first, by name; then addresses, by number.
fn address_order(address: &str) -> (Option<SocketAddr>, String) {
    (address.split(' ').next().and_then(|address| address.parse().ok()), address.into())
}
