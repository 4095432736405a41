//! What an assessment must know besides the exchanges.

/// What an assessment must know besides the exchanges and what is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Context<'a> {
    /// What is spoken, where it was recognised: `http1`, `grpc`, `redis` and others.
    pub protocol: Option<&'a str>,
    /// Whether an instance is a virtual address: several may answer behind it, so that nothing can be told across
    /// instances.
    pub virtual_address: bool,
    /// The share of requests that was seen, from 0 to 1: others were not sampled, or lost.
    pub seen: f64,
}
