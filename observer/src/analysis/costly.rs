//! Requests that are slow because of what they ask for, and those that wait behind them.

use observer_common::Nanoseconds;

use super::{
    attributable::{attributable, late},
    elevated::{self, Group, Member},
    samples::Samples,
    slow::Slow,
};

/// Of so many instances that have enough requests of a class, it must be elevated at that share.
const EVERYWHERE: f64 = 0.75;

/// Classes that are late everywhere, and which part of the slow requests of each that explains.
pub(super) fn classes(samples: &Samples, slow: &Slow, left: &[f64]) -> (Vec<Group>, Vec<f64>) {
    let count = samples.classes.len();
    if count < 2 {
        return (vec![Group::default(); count], vec![0.0; count]);
    }
    let late = late(slow, left);
    let members = samples.primaries.iter().zip(&late).map(|(sample, late)| Member {
        group: sample.class,
        start: sample.start,
        slow: *late,
    });
    let mut classes = elevated::compare(members, count, samples.span);
    for (place, class) in classes.iter_mut().enumerate().filter(|(_, class)| class.is_elevated) {
        let own = class.slow / class.requests;
        // Class by class: a table of all classes at all instances could be very large.
        let mut cells: Vec<[f64; 2]> = vec![[0.0; 2]; samples.instances.len()];
        let of_class =
            samples.primaries.iter().zip(&late).filter(|(sample, _)| sample.class as usize == place);
        for (sample, late) in of_class {
            cells[sample.instance as usize][0] += 1.0;
            cells[sample.instance as usize][1] += late;
        }
        // Where at least three late ones are expected, half of them are there.
        let expected = cells.iter().filter(|cell| cell[0] * own >= 3.0);
        let (enough, elevated) = expected.fold((0.0, 0.0), |(enough, elevated), cell| {
            (enough + 1.0, elevated + f64::from(u8::from(cell[1] >= 0.5 * cell[0] * own)))
        });
        class.is_elevated = elevated >= EVERYWHERE * enough;
    }
    let attributable = attributable(&classes, samples.primaries.iter().map(|sample| sample.class), left);
    (classes, attributable)
}

/// Which requests began while one of a costly class was under way at their instance.
pub(super) fn behind_costly(samples: &Samples, classes: &[Group]) -> Vec<bool> {
    let mut behind = vec![false; samples.primaries.len()];
    for rows in &samples.by_instance {
        let mut until = Nanoseconds(0);
        for row in rows {
            let sample = &samples.primaries[*row as usize];
            behind[*row as usize] = sample.start < until;
            if classes[sample.class as usize].is_elevated {
                until = until.max(sample.end());
            }
        }
    }
    behind
}
