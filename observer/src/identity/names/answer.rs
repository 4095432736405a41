//! What one DNS response says (RFC 1035 for A and CNAME, RFC 3596 for AAAA, RFC 2782 for SRV).

use domain::{
    base::{
        Message, ParsedName,
        iana::{Class, Rcode},
        message::RecordSection,
        wire::ParseError,
    },
    rdata::{A, Aaaa, Cname, Srv},
};
use observer_common::Address;

/// More records than any honest answer has; what comes after is not looked at.
const MOST_RECORDS: usize = 512;

/// The longest chain of aliases that is followed. Resolvers themselves give up after about as many.
const MOST_ALIASES: usize = 16;

/// Hosts of one service.
const MOST_TARGETS: usize = 64;

type Name<'message> = ParsedName<&'message [u8]>;

/// The records of a response that lead from the name that was asked for to addresses.
pub(super) struct Answer<'message> {
    /// The name that was asked for.
    pub(super) question: Name<'message>,
    addresses: Vec<(Name<'message>, Address)>,
    aliases: Vec<(Name<'message>, Name<'message>)>,
    targets: Vec<(Name<'message>, Name<'message>)>,
}

impl<'message> Answer<'message> {
    /// Reads a response without an error that answers one question. Where the message was `truncated` by its
    /// capture, the complete records before the cut count; a complete message must be well formed as a whole.
    pub(super) fn parse(message: &'message [u8], truncated: bool) -> Option<Self> {
        let message = Message::from_slice(message).ok()?;
        let header = message.header();
        if !header.qr() || header.rcode() != Rcode::NOERROR || message.header_counts().qdcount() != 1 {
            return None;
        }
        let question = message.question().next()?.ok()?.into_qname();
        let mut answer = Self { question, addresses: Vec::new(), aliases: Vec::new(), targets: Vec::new() };
        let mut read = 0;
        let mut section = message.answer().ok();
        while let Some(records) = section {
            section = match answer.read(records, &mut read) {
                Ok(next) => next,
                Err(_) if truncated => None,
                Err(_) => return None,
            };
        }
        Some(answer)
    }

    /// Takes the records of a section, and returns the next one.
    fn read(
        &mut self,
        mut records: RecordSection<'message, [u8]>,
        read: &mut usize,
    ) -> Result<Option<RecordSection<'message, [u8]>>, ParseError> {
        for record in records.by_ref() {
            let record = record?;
            *read += 1;
            if *read > MOST_RECORDS {
                return Ok(None);
            }
            let owner = record.owner();
            if record.class() != Class::IN {
                continue;
            }
            if let Some(address) = record.to_record::<A>()? {
                self.addresses.push((owner, Address::from_ip(address.data().addr().into())));
            } else if let Some(address) = record.to_record::<Aaaa>()? {
                self.addresses.push((owner, Address::from_ip(address.data().addr().into())));
            } else if let Some(alias) = record.to_record::<Cname<_>>()? {
                if self.aliases.len() < MOST_ALIASES {
                    self.aliases.push((owner, alias.into_data().into_cname()));
                }
            } else if let Some(service) = record.to_record::<Srv<_>>()?
                && self.targets.len() < MOST_TARGETS
            {
                self.targets.push((owner, *service.data().target()));
            }
        }
        records.next_section()
    }

    /// The addresses that the question leads to, over aliases and service targets. Records that answer another
    /// question, such as a forger appends, lead nowhere.
    pub(super) fn addresses(&self) -> impl Iterator<Item = Address> {
        let mut reached = self.reached();
        reached.extend(self.targets_of(&reached));
        let mut seen = Vec::new();
        self.addresses.iter().filter_map(move |(owner, address)| {
            let wanted = reached.contains(owner) && !seen.contains(address);
            wanted.then(|| {
                seen.push(*address);
                *address
            })
        })
    }

    /// The hosts that stand for the service that was asked for.
    pub(super) fn targets(&self) -> Vec<Name<'message>> {
        self.targets_of(&self.reached())
    }

    fn targets_of(&self, reached: &[Name<'message>]) -> Vec<Name<'message>> {
        self.targets.iter().filter(|(owner, _)| reached.contains(owner)).map(|(_, target)| *target).collect()
    }

    /// The question and every alias of it. Aliases come in any order, and a loop among them ends by itself.
    fn reached(&self) -> Vec<Name<'message>> {
        let mut reached = vec![self.question];
        let mut next = 0;
        while let Some(name) = reached.get(next).copied() {
            for (owner, target) in &self.aliases {
                if *owner == name && !reached.contains(target) {
                    reached.push(*target);
                }
            }
            next += 1;
        }
        reached
    }
}
