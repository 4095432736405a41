//! A histogram on one line.

use crate::report::model::Histogram;

const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// One character a count, as high as the count is against the highest one; whatever occurred at all is seen.
pub(super) fn line(histogram: &Histogram) -> String {
    let highest = histogram.counts.iter().copied().max().unwrap_or(0);
    let line: String = histogram.counts.iter().map(|count| bar(*count, highest)).collect();
    line.trim_end().into()
}

fn bar(count: u64, highest: u64) -> char {
    if count == 0 {
        return ' ';
    }
    let steps = HEIGHTS.len() as u128;
    let height = (u128::from(count) * steps).div_ceil(u128::from(highest));
    usize::try_from(height - 1).ok().and_then(|place| HEIGHTS.get(place)).copied().unwrap_or(HEIGHTS[7])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_high_as_their_counts() {
        let histogram = Histogram { bounds_s: Vec::new(), counts: vec![1, 500, 1_000, 0, 2, 0, 0] };
        assert_eq!(line(&histogram), "▁▄█ ▁");
        assert_eq!(line(&Histogram::default()), "");
    }
}
