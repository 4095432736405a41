//! Instances that are slow as a whole.

use super::{
    attributable::{OFTEN, attributable, late},
    bursts::bursts,
    elevated::{self, Group, Member},
    hung::hung,
    samples::Samples,
    slow::Slow,
};

/// Instances that are late as a whole, and which part of the slow requests of each that explains.
pub(super) fn instances(
    samples: &Samples,
    slow: &Slow,
    left: &[f64],
    in_flight: &[u32],
) -> (Vec<Group>, Vec<f64>) {
    let count = samples.instances.len();
    let late = late(slow, left);
    let members = samples.primaries.iter().zip(&late).map(|(sample, late)| Member {
        group: sample.instance,
        start: sample.start,
        slow: *late,
    });
    let mut instances = elevated::compare(members, count, samples.span);
    let hung = hung(samples, slow);
    let struck = struck_more_often(samples, slow, in_flight);
    for (place, instance) in instances.iter_mut().enumerate() {
        instance.is_elevated |= hung[place] || struck[place];
    }
    // If most of them are, it is not they that are special.
    let elevated = instances.iter().filter(|instance| instance.is_elevated).count();
    if elevated * 2 > count {
        for instance in &mut instances {
            instance.is_elevated = false;
        }
    }
    let attributable = attributable(&instances, samples.primaries.iter().map(|sample| sample.instance), left);
    (instances, attributable)
}

/// So many strokes an instance needs to be told from others by their number, and so many standard errors.
const STROKES: f64 = 8.0;
const ERRORS: f64 = 4.0;

/// For each instance, whether slowness strikes it more often than others, however few requests go there once it is slow.
fn struck_more_often(samples: &Samples, slow: &Slow, in_flight: &[u32]) -> Vec<bool> {
    let mut strokes = vec![0.0; samples.instances.len()];
    for burst in bursts(samples, slow, in_flight, |_| true) {
        strokes[burst.instance as usize] += 1.0;
    }
    let all: f64 = strokes.iter().sum();
    let requests = samples.primaries.len() as f64;
    let is_struck = |(own, rows): (&f64, &Vec<u32>)| {
        let rows = rows.len() as f64;
        let expected = (all - own) / (requests - rows).max(1.0) * rows;
        *own >= STROKES && *own >= OFTEN * expected && own - expected >= ERRORS * (own + expected).sqrt()
    };
    strokes.iter().zip(&samples.by_instance).map(is_struck).collect()
}
