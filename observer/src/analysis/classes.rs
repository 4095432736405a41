//! What tells requests apart.

use crate::{
    exchange::{NameId, Names},
    ledger::Row,
    maps::{IndexMap, IndexSet},
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
    labels: IndexSet<Label>,
    /// The most frequent first.
    by_frequency: Vec<Label>,
    of: fn(&Row) -> Option<Label>,
}

impl Classes {
    /// By names, if there are several. Else by heads, if the same ones come often; else by sizes.
    pub(super) fn of(rows: &[Row], names: &Names) -> Self {
        let name = |row: &Row| row.class().map(Label::Name);
        let head = |row: &Row| row.head_hash().map(Label::Head);
        let mut by_name = frequent(rows, name);
        // Names have numbers in the order in which they were first seen, which must not matter.
        let text = |label: Label| if let Label::Name(name) = label { names.text(name) } else { "" };
        by_name.sort_unstable_by(|(one, _), (other, _)| text(*one).cmp(text(*other)));
        if by_name.len() > 1 {
            return Self::new(by_name, name);
        }
        let heads = frequent(rows, head);
        let often: usize = heads.iter().map(|(_, often)| often).sum();
        if heads.len() > 1 && often as f64 >= MOSTLY * rows.len() as f64 {
            return Self::new(heads, head);
        }
        let by_size = frequent(rows, sizes);
        if by_size.len() > 1 { Self::new(by_size, sizes) } else { Self::new(by_name, name) }
    }

    fn new(found: Vec<(Label, usize)>, of: fn(&Row) -> Option<Label>) -> Self {
        let labels = found.iter().map(|(label, _)| *label).collect();
        let mut by_frequency = found;
        by_frequency.sort_by_key(|(_, often)| std::cmp::Reverse(*often));
        let by_frequency = by_frequency.into_iter().map(|(label, _)| label).collect();
        Self { labels, by_frequency, of }
    }

    /// The number of a request's class; all that are not told apart have the one after the last.
    pub(super) fn number(&self, row: &Row) -> u32 {
        let label = if self.are_sizes() && !has_answer(row) { self.expected(row) } else { (self.of)(row) };
        number(label.and_then(|label| self.labels.get_index_of(&label)).unwrap_or(self.labels.len()))
    }

    /// What a request without an answer, or with a failure for one, most likely is: how large that answer is tells how it
    /// ended and not what was asked.
    fn expected(&self, row: &Row) -> Option<Label> {
        let request = row.request_size();
        let alike = |label: &&Label| matches!(label, Label::Sizes(size, _) if *size == request);
        self.by_frequency.iter().find(alike).or(self.by_frequency.first()).copied()
    }

    /// Whether they tell the same request that comes again.
    pub(super) fn are_heads(&self) -> bool {
        matches!(self.labels.first(), Some(Label::Head(_)))
    }

    fn are_sizes(&self) -> bool {
        matches!(self.labels.first(), Some(Label::Sizes(..)))
    }

    /// How many numbers there are.
    pub(super) fn len(&self) -> usize {
        self.labels.len() + 1
    }

    /// Whether they tell one request from another: several names do, or the same request that comes again. Sizes alone
    /// do not: what costs more need not be larger.
    pub(super) fn tell_requests_apart(&self) -> bool {
        self.labels.len() > 1 && !self.are_sizes()
    }

    /// What a class is called.
    pub(super) fn text(&self, class: usize, names: &Names) -> String {
        let size =
            |what: &str, size: Option<u8>| size.map(|size| format!("{what} below {} B", 1_u128 << size));
        match self.labels.get_index(class) {
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

/// The sizes of a request and of its answer, where there is one that is not a failure.
fn sizes(row: &Row) -> Option<Label> {
    let (request, response) = (row.request_size(), row.response_size());
    (has_answer(row) && (request.is_some() || response.is_some())).then_some(Label::Sizes(request, response))
}

fn has_answer(row: &Row) -> bool {
    !row.is_censored() && !row.is_failed()
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
