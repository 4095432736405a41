//! The requests that are assessed, in the order in which they began.

use observer_common::{Nanoseconds, Timestamp};

use super::classes::Classes;
use crate::{
    exchange::{NameId, Names},
    ledger::Row,
    maps::IndexMap,
};

/// A longer latency is taken for this one, so that sums and multiples of it are numbers: some 36 years.
const LONGEST: u64 = 1 << 60;

/// One copy of a request, as its caller experienced it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Sample {
    /// When it began, since the first one did.
    pub(super) start: Nanoseconds,
    /// Until the caller had the answer; where there is none, how long it waited for one.
    pub(super) latency: Nanoseconds,
    /// The part of it for which the answer lay unread.
    pub(super) read_lag: Nanoseconds,
    /// Which instance.
    pub(super) instance: u32,
    /// Which class.
    pub(super) class: u32,
    /// What was asked for, where that has a name: classes are what of these comes often enough.
    pub(super) name: Option<NameId>,
    /// Whether there is an answer.
    pub(super) answered: bool,
    /// Whether the answer is a failure.
    pub(super) failed: bool,
    /// Whether the failure says that there is too much to do.
    pub(super) busy: bool,
    /// Whether a segment was seen again.
    pub(super) retransmitted: bool,
    /// The smoothed round-trip time, where it is known.
    pub(super) round_trip: Option<Nanoseconds>,
    /// Whether it is a copy of a request that was under way.
    pub(super) is_copy: bool,
}

impl Sample {
    /// When the answer was there, or the waiting over.
    pub(super) const fn end(&self) -> Nanoseconds {
        Nanoseconds(self.start.0.saturating_add(self.latency.0))
    }

    /// When the answer arrived, read or not.
    pub(super) const fn arrived(&self) -> Nanoseconds {
        Nanoseconds(self.end().0.saturating_sub(self.read_lag.0))
    }
}

/// All samples of a service.
#[derive(Debug)]
pub(super) struct Samples {
    /// First copies, by when they began.
    pub(super) primaries: Vec<Sample>,
    /// Further copies of requests, where a log tells them apart.
    pub(super) copies: Vec<Sample>,
    /// The instances' addresses, by their number.
    pub(super) instances: Vec<NameId>,
    /// What tells requests apart.
    pub(super) classes: Classes,
    /// The samples of each instance, by when they began.
    pub(super) by_instance: Vec<Vec<u32>>,
    /// For each class, the instance that alone is asked for it, if there are several instances and only one is.
    only_instance: Vec<Option<u32>>,
    /// Whether it is known of any answer when it was read.
    pub(super) sees_reads: bool,
    /// From the first beginning to the last.
    pub(super) span: Nanoseconds,
}

impl Samples {
    /// Sorts rows, in whatever order they come.
    pub(super) fn of(rows: &[Row], names: &Names) -> Self {
        let origin = rows.iter().map(Row::start).min().unwrap_or(Timestamp(0));
        let classes = Classes::of(rows, names);
        let mut instances: IndexMap<NameId, u32> = IndexMap::default();
        let (mut primaries, mut copies) = (Vec::with_capacity(rows.len()), Vec::new());
        for row in in_order(rows, names) {
            let next = number(instances.len());
            let instance = *instances.entry(row.instance()).or_insert(next);
            let sample = sample(row, origin, instance, classes.number(row), names);
            if sample.is_copy { copies.push(sample) } else { primaries.push(sample) }
        }
        let mut sizes = vec![0; instances.len()];
        for sample in &primaries {
            sizes[sample.instance as usize] += 1;
        }
        let mut by_instance: Vec<Vec<u32>> = sizes.into_iter().map(Vec::with_capacity).collect();
        for (place, sample) in primaries.iter().enumerate() {
            by_instance[sample.instance as usize].push(number(place));
        }
        let only_instance = only_instance(&primaries, classes.len(), instances.len());
        Self {
            only_instance,
            sees_reads: rows.iter().any(|row| row.read_lag().is_some()),
            span: primaries.last().map_or(Nanoseconds(0), |last| last.start),
            primaries,
            copies,
            instances: instances.into_keys().collect(),
            classes,
            by_instance,
        }
    }
}

impl Samples {
    /// Whether another instance is asked for the same as this request, by its place.
    pub(super) fn is_served_elsewhere(&self, row: usize) -> bool {
        self.instances.len() > 1 && self.only_instance[self.primaries[row].class as usize].is_none()
    }
}

fn only_instance(primaries: &[Sample], classes: usize, instances: usize) -> Vec<Option<u32>> {
    let mut only: Vec<Option<u32>> = vec![None; classes];
    let mut several = vec![instances < 2; classes];
    for sample in primaries {
        let class = sample.class as usize;
        several[class] |= only[class].is_some_and(|only| only != sample.instance);
        only[class] = Some(sample.instance);
    }
    only.into_iter().zip(several).map(|(only, several)| only.filter(|_| !several)).collect()
}

/// Rows by when they began, whatever their order and whatever names were seen first.
fn in_order<'a>(rows: &'a [Row], names: &Names) -> impl Iterator<Item = &'a Row> {
    let mut order: Vec<(Timestamp, u32)> =
        rows.iter().enumerate().map(|(place, row)| (row.start(), number(place))).collect();
    order.sort_unstable();
    let key = |row: &Row| (row.latency(), row.experienced(), row.attempt());
    let row = |place: u32| &rows[place as usize];
    for same in order.chunk_by_mut(|one, other| one.0 == other.0).filter(|same| same.len() > 1) {
        same.sort_unstable_by(|one, other| {
            let (one, other) = (row(one.1), row(other.1));
            key(one)
                .cmp(&key(other))
                .then_with(|| names.text(one.instance()).cmp(names.text(other.instance())))
                .then_with(|| one.cmp(other))
        });
    }
    order.into_iter().map(move |(_, place)| &rows[place as usize])
}

/// A place among the samples: there are fewer than 2³².
#[expect(clippy::cast_possible_truncation, reason = "the ledger keeps far fewer rows")]
pub(super) const fn number(place: usize) -> u32 {
    place as u32
}

fn sample(row: &Row, origin: Timestamp, instance: u32, class: u32, names: &Names) -> Sample {
    Sample {
        start: row.start().since(origin).unwrap_or_default(),
        latency: Nanoseconds(row.experienced().0.min(LONGEST)),
        read_lag: Nanoseconds(row.read_lag().unwrap_or_default().0.min(LONGEST)),
        instance,
        class,
        name: row.class(),
        answered: !row.is_censored(),
        failed: row.is_failed(),
        busy: row.is_failed() && row.status().is_some_and(|status| says_busy(names.text(status))),
        retransmitted: row.retransmitted() == Some(true),
        round_trip: row.srtt(),
        is_copy: row.attempt().is_some_and(|attempt| attempt > 0),
    }
}

/// Whether a status says that there is too much to do: 429 and 503 of HTTP, `RESOURCE_EXHAUSTED` of gRPC and what
/// databases and caches say when they have no room.
fn says_busy(status: &str) -> bool {
    let code = status.split(' ').next().unwrap_or_default();
    matches!(code, "429" | "503" | "8" | "53300" | "57P03" | "1040" | "1203" | "BUSY" | "TRYAGAIN" | "OOM")
        || status.contains("RESOURCE_EXHAUSTED")
}
