//! What tells requests apart.

use crate::{
    exchange::{NameId, Names},
    ledger::Row,
    maps::IndexMap,
};

use super::{rounding::count, samples::number};

/// A share of all requests below which a class is not told from other rare ones.
const RARE: f64 = 0.002;

/// So many requests a class needs to be told apart.
const FEW: usize = 30;

/// Heads tell requests apart if those that come often make up this share of the requests.
const MOSTLY: f64 = 0.5;

/// What the requests of one class have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Label {
    /// The name of their class.
    Name(NameId),
    /// The hash of their head: the same request over and over.
    Head(u64),
    /// How large they and their answers are, in powers of two.
    Sizes(Option<u8>, Option<u8>),
}

/// Classes that have enough requests to be told apart.
#[derive(Debug)]
pub(super) struct Classes {
    labels: Vec<Label>,
    numbers: IndexMap<Label, u32>,
    of: fn(&Row) -> Option<Label>,
    /// The one name that all requests have, where they have one.
    name: Option<NameId>,
}

impl Classes {
    /// By names, if there are several. Else by heads, if the same ones come often; else by sizes.
    pub(super) fn of(rows: &[Row]) -> Self {
        let name = |row: &Row| row.class().map(Label::Name);
        let head = |row: &Row| row.head_hash().map(Label::Head);
        let sizes = |row: &Row| {
            let (request, response) = (row.request_size(), row.response_size());
            (request.is_some() || response.is_some()).then_some(Label::Sizes(request, response))
        };
        let named = frequent(rows, name);
        let only = match named.first() {
            Some((Label::Name(name), _)) => Some(*name),
            _ => None,
        };
        if named.len() > 1 {
            return Self::new(named, name, None);
        }
        let heads = frequent(rows, head);
        let often: usize = heads.iter().map(|(_, often)| often).sum();
        if heads.len() > 1 && often as f64 >= MOSTLY * rows.len() as f64 {
            return Self::new(heads, head, only);
        }
        let by_size = frequent(rows, sizes);
        if by_size.len() > 1 { Self::new(by_size, sizes, only) } else { Self::new(named, name, only) }
    }

    fn new(found: Vec<(Label, usize)>, of: fn(&Row) -> Option<Label>, name: Option<NameId>) -> Self {
        let labels: Vec<Label> = found.into_iter().map(|(label, _)| label).collect();
        let numbers = labels.iter().enumerate().map(|(place, label)| (*label, number(place))).collect();
        Self { labels, numbers, of, name }
    }

    /// The number of a request's class; all that are not told apart have the one after the last.
    pub(super) fn number(&self, row: &Row) -> u32 {
        (self.of)(row)
            .and_then(|label| self.numbers.get(&label))
            .copied()
            .unwrap_or(number(self.labels.len()))
    }

    /// How many numbers there are.
    pub(super) fn len(&self) -> usize {
        self.labels.len() + 1
    }

    /// Whether they tell one request from another: several names do, or the same request that comes again. Sizes alone
    /// do not: what costs more need not be larger.
    pub(super) fn tell_requests_apart(&self) -> bool {
        self.labels.len() > 1 && !matches!(self.labels[0], Label::Sizes(..))
    }

    /// The name of a class, where it has one.
    pub(super) fn name<'a>(&self, class: usize, names: &'a Names) -> Option<&'a str> {
        match self.labels.get(class) {
            Some(Label::Name(name)) => Some(names.text(*name)),
            _ => self.name.map(|name| names.text(name)),
        }
    }

    /// What a class is called.
    pub(super) fn text(&self, class: usize, names: &Names) -> String {
        let size =
            |what: &str, size: Option<u8>| size.map(|size| format!("{what} below {} B", 1_u128 << size));
        match self.labels.get(class) {
            Some(Label::Name(name)) => names.text(*name).to_owned(),
            Some(Label::Head(hash)) => format!("the request {hash:016x}"),
            Some(Label::Sizes(request, response)) => {
                let parts = [size("requests", *request), size("answers", *response)];
                parts.into_iter().flatten().collect::<Vec<_>>().join(" with ")
            }
            None => "others".to_owned(),
        }
    }
}

/// Labels that come often enough, with how often, in an order that does not depend on that of the rows.
fn frequent(rows: &[Row], of: fn(&Row) -> Option<Label>) -> Vec<(Label, usize)> {
    let mut counts: IndexMap<Label, usize> = IndexMap::default();
    for label in rows.iter().filter_map(of) {
        *counts.entry(label).or_default() += 1;
    }
    let least = FEW.max(count(rows.len() as f64 * RARE));
    let mut frequent: Vec<_> = counts.into_iter().filter(|(_, often)| *often >= least).collect();
    frequent.sort_unstable();
    frequent
}
