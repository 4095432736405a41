//! The lab against itself: what each fault says of itself agrees with what client, replicas and probes saw.
//!
//! Every cause runs once in either protocol, for a moment, observed by the probes. Nothing is said about how fast this
//! machine is: faults last a tenth of a second or more, and are compared with each other's absence.

mod causes;
mod hedging;
mod leftovers;
mod run;
mod simulated;
mod verdicts;
