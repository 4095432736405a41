//! Stretches of time, and whether those that one program saw lie within those that another one logged.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use observer_common::Timestamp;

use crate::recording::Observed;

/// From a moment to a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// When it begins.
    pub start: Timestamp,
    /// When it ends.
    pub end: Timestamp,
}

impl Span {
    /// From the first byte of a request to the first of its response.
    pub fn to_first_byte(exchange: &Observed) -> Self {
        Self { start: exchange.start, end: exchange.first() }
    }

    /// From the first byte of a request to the last of its response.
    pub fn to_last_byte(exchange: &Observed) -> Self {
        Self { start: exchange.start, end: exchange.last().unwrap_or_else(|| exchange.first()) }
    }

    /// Its length in nanoseconds.
    pub const fn length(self) -> u64 {
        self.end.0.saturating_sub(self.start.0)
    }
}

/// Whether each of `inner` lies within another one of `outer`, where nobody says which belongs to which.
///
/// An inner span may take any outer one that began before it, and those that later ones may take are no fewer. So
/// each takes the one that ends first of those that it fits in: whichever else it took, it would leave the others no
/// better off.
pub fn nest(inner: &[Span], outer: &[Span]) -> Result<()> {
    let (mut inner, mut outer) = (inner.to_vec(), outer.to_vec());
    inner.sort_unstable();
    outer.sort_unstable();
    let mut begun = outer.iter().peekable();
    let mut free: BTreeMap<Timestamp, usize> = BTreeMap::new();
    for (number, span) in inner.iter().enumerate() {
        while let Some(next) = begun.next_if(|next| next.start <= span.start) {
            *free.entry(next.end).or_default() += 1;
        }
        let Some((&end, count)) = free.range_mut(span.end..).next() else {
            bail!(
                "number {number} of {} by its start, {} ns long, lies within none of {}: {span:?}",
                inner.len(),
                span.length(),
                outer.len()
            );
        };
        *count -= 1;
        if *count == 0 {
            free.remove(&end);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(ends: &[(u64, u64)]) -> Vec<Span> {
        ends.iter().map(|&(start, end)| Span { start: Timestamp(start), end: Timestamp(end) }).collect()
    }

    #[test]
    fn each_takes_the_tightest_that_fits() {
        let outer = spans(&[(0, 10), (1, 20), (2, 5)]);
        assert!(nest(&spans(&[(3, 4), (2, 9), (2, 20)]), &outer).is_ok());
        assert!(nest(&spans(&[(0, 10), (1, 20), (2, 5)]), &outer).is_ok());
        assert!(nest(&[], &outer).is_ok());
    }

    #[test]
    fn none_is_taken_twice() {
        let outer = spans(&[(0, 10), (5, 8)]);
        assert!(nest(&spans(&[(1, 9), (2, 9)]), &outer).is_err());
        assert!(nest(&spans(&[(1, 9), (6, 7), (6, 7)]), &outer).is_err());
    }

    #[test]
    fn nothing_sticks_out() {
        assert!(nest(&spans(&[(0, 11)]), &spans(&[(0, 10)])).is_err());
        assert!(nest(&spans(&[(0, 10)]), &spans(&[(1, 20)])).is_err());
    }
}
