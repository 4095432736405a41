//! Intervals from blocks of time.

use super::*;
use crate::analysis::bootstrap::{BLOCKS, Bootstrap, interval};

/// In blocks of a hundred independent draws of chance `p` each, the interval of their share.
fn interval_of_share(seed: u64, p: f64, together: bool) -> [f64; 2] {
    let mut random = random(seed);
    let blocks: Vec<f64> = (0..BLOCKS)
        .map(|_| {
            let all = f64::from(u8::from(chance(&mut random, p)));
            let each =
                |random: &mut Pcg64| if together { all } else { f64::from(u8::from(chance(random, p))) };
            (0..100).map(|_| each(&mut random)).sum()
        })
        .collect();
    let bootstrap = Bootstrap::new(200, &mut random);
    interval(&bootstrap.figures(|times| {
        let sum: f64 = blocks.iter().zip(times).map(|(block, times)| block * f64::from(*times)).sum();
        sum / 100.0 / BLOCKS as f64
    }))
}

#[test]
fn intervals_cover_the_truth_about_as_often_as_they_say() {
    let covers = |seed| {
        let [low, high] = interval_of_share(seed, 0.3, false);
        (low..=high).contains(&0.3)
    };
    let covered = times(300, covers);
    assert!((264..=299).contains(&covered), "{covered} of 300");
}

#[test]
fn what_comes_in_whole_blocks_has_wide_intervals() {
    let [low, high] = interval_of_share(1, 0.3, true);
    let [narrow_low, narrow_high] = interval_of_share(1, 0.3, false);
    assert!(high - low > 5.0 * (narrow_high - narrow_low));
    let covered = times(300, |seed| {
        let [low, high] = interval_of_share(seed, 0.3, true);
        (low..=high).contains(&0.3)
    });
    assert!((255..=299).contains(&covered), "{covered} of 300");
}

#[test]
fn each_draw_has_as_many_blocks_as_there_are() {
    let bootstrap = Bootstrap::new(50, &mut random(1));
    assert!(
        bootstrap
            .draws()
            .iter()
            .all(|times| times.iter().map(|times| usize::from(*times)).sum::<usize>() == BLOCKS)
    );
}
