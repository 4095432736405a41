//! Classes of requests that take about as long as each other.

use super::samples::{Sample, Samples};

/// Medians within this factor are about the same.
const ALIKE: f64 = 1.5;

/// For each class, its kind.
#[derive(Debug)]
pub(super) struct Kinds {
    of: Vec<u32>,
    count: usize,
}

impl Kinds {
    /// Classes, ordered by median, are of one kind as long as each is about as slow as the first of its kind and both are
    /// elevated or not.
    pub(super) fn of_classes(samples: &Samples, is_elevated: impl Fn(usize) -> bool) -> Self {
        let count = samples.classes.len();
        if count == 1 {
            return Self { of: vec![0], count: 1 };
        }
        let mut latencies: Vec<Vec<u64>> = vec![Vec::new(); count];
        for sample in &samples.primaries {
            latencies[sample.class as usize].push(sample.latency.0);
        }
        let mut classes: Vec<(bool, u64, usize)> = latencies
            .iter_mut()
            .enumerate()
            .filter(|(_, latencies)| !latencies.is_empty())
            .map(|(class, latencies)| {
                let middle = latencies.len() / 2;
                (is_elevated(class), *latencies.select_nth_unstable(middle).1, class)
            })
            .collect();
        classes.sort_unstable();
        let mut of = vec![0; count];
        let mut kinds = 0_u32;
        let mut first: Option<(bool, u64)> = None;
        for (elevated, median, class) in classes {
            let is_alike = first.is_some_and(|(other, least)| {
                other == elevated && median as f64 <= ALIKE * least.max(1) as f64
            });
            if !is_alike {
                kinds += u32::from(first.is_some());
                first = Some((elevated, median));
            }
            of[class] = kinds;
        }
        Self { of, count: kinds as usize + 1 }
    }

    /// How many kinds there are.
    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// The kind of a request.
    pub(super) fn of(&self, sample: &Sample) -> usize {
        self.of[sample.class as usize] as usize
    }
}
