//! How client and replicas name what they ask and answer.

use http::{HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};

use super::hedging::Attempt;

/// What kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Costs as much as any other.
    Ordinary,
    /// Costs more, at whichever replica.
    Expensive,
}

impl Class {
    /// The path template of HTTP/1, without the number behind it.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Ordinary => "/item/",
            Self::Expensive => "/search/",
        }
    }

    /// The method of gRPC.
    pub(super) const fn method(self) -> &'static str {
        match self {
            Self::Ordinary => "/demo.Catalogue/Item",
            Self::Expensive => "/demo.Catalogue/Search",
        }
    }

    /// The class that a path of either protocol asks for.
    pub(super) fn of(path: &str) -> Option<Self> {
        [Self::Ordinary, Self::Expensive]
            .into_iter()
            .find(|class| path.starts_with(class.path()) || path == class.method())
    }
}

/// Which copy of which request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket {
    /// The request's number.
    pub(super) request: u64,
    /// The copy.
    pub(super) attempt: Attempt,
    /// What kind of request.
    pub(super) class: Class,
}

const REQUEST: HeaderName = HeaderName::from_static("demo-request");
const ATTEMPT: HeaderName = HeaderName::from_static("demo-attempt");

impl Ticket {
    /// The headers by which a replica knows it.
    pub(super) fn headers(self) -> [(HeaderName, HeaderValue); 2] {
        [(REQUEST, self.request.into()), (ATTEMPT, self.attempt.number().into())]
    }

    /// The ticket of a request with this path and these headers, if it is one of the lab's.
    pub(super) fn of(path: &str, headers: &HeaderMap) -> Option<Self> {
        let number = |name| headers.get(name)?.to_str().ok()?.parse::<u64>().ok();
        let attempt = number(ATTEMPT)?;
        Some(Self {
            request: number(REQUEST)?,
            attempt: [Attempt::Primary, Attempt::Hedge]
                .into_iter()
                .find(|copy| u64::from(copy.number()) == attempt)?,
            class: Class::of(path)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_reads_back_as_it_was_written() {
        for class in [Class::Ordinary, Class::Expensive] {
            let ticket = Ticket { request: 17, attempt: Attempt::Hedge, class };
            let headers = HeaderMap::from_iter(ticket.headers());
            for path in [format!("{}17", class.path()), class.method().to_owned()] {
                assert_eq!(Ticket::of(&path, &headers), Some(ticket));
            }
        }
    }

    #[test]
    fn what_the_lab_did_not_send_has_no_ticket() {
        assert_eq!(Ticket::of("/item/1", &HeaderMap::new()), None);
        let headers = HeaderMap::from_iter(
            Ticket { request: 1, attempt: Attempt::Primary, class: Class::Ordinary }.headers(),
        );
        assert_eq!(Ticket::of("/other", &headers), None);
    }
}
