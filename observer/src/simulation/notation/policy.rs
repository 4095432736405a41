//! Policies: `hedge:30ms,budget=5%,cancel=1ms`.

use std::{fmt, num::NonZeroU32, str::FromStr};

use observer_common::Nanoseconds;

use super::{
    NotationError,
    fields::Fields,
    quantities::{DurationText, ShareText, count, duration, share},
};
use crate::simulation::{
    Budget, Cancellation, Hedge, Policy, QueueDepth, ServiceTime, Share, Tactic, Target,
};

/// How many tokens a bucket holds that nothing else is said about.
const BURST: NonZeroU32 = NonZeroU32::new(10).unwrap();

/// How often a layer tries of which nothing else is said.
const TRIES: NonZeroU32 = NonZeroU32::new(2).unwrap();

/// A policy as it is written. Its delay may be a quantile of the service time: `hedge:p95`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolicyText {
    policy: Policy,
    delay: Option<Share>,
}

impl PolicyText {
    /// The quantile of the service time that its delay is; nothing where it is a duration.
    pub const fn delay_quantile(&self) -> Option<Share> {
        self.delay
    }

    /// The policy for calls that take so long to serve.
    #[must_use]
    pub fn for_service(self, service: &ServiceTime) -> Policy {
        match (self.policy.tactic, self.delay) {
            (Tactic::Hedge(hedge), Some(quantile)) => {
                let delay = readable(service.quantile(quantile));
                Policy { tactic: Tactic::Hedge(Hedge { delay, ..hedge }), ..self.policy }
            }
            _ => self.policy,
        }
    }
}

impl FromStr for PolicyText {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Self, NotationError> {
        let (name, mut fields) = Fields::split(text, |name| match name {
            "copies" => "copies",
            "tied" => "message",
            "retry" => "timeout",
            _ => "delay",
        })?;
        let deadline = fields.take("deadline", duration)?;
        let cancellation = fields.take("cancel", duration)?.map_or(Cancellation::Never, Cancellation::After);
        let mut quantile = None;
        let (tactic, known) = match name {
            "none" => (Tactic::Single, "deadline, cancel"),
            "hedge" => {
                let (hedge, of) = hedge(&mut fields)?;
                quantile = of;
                let known = "delay, probability, budget, burst, per-request, off-above, to, deadline, cancel";
                (Tactic::Hedge(hedge), known)
            }
            "copies" => {
                let what = "a number of copies, such as 'copies:2'";
                let copies =
                    fields.take("copies", count)?.ok_or(NotationError::Missing { of: "copies", what })?;
                (Tactic::AtOnce { copies }, "copies, deadline, cancel")
            }
            "tied" => {
                let message = fields.take("message", duration)?.unwrap_or(Nanoseconds(0));
                (Tactic::Tied { message }, "message, deadline, cancel")
            }
            "retry" => (retry(&mut fields)?, "timeout, tries, layers, deadline, cancel"),
            _ => {
                return Err(NotationError::Unknown {
                    found: name.into(),
                    known: "'none', 'hedge:30ms', 'copies:2', 'tied:1ms', 'retry:50ms'",
                });
            }
        };
        fields.finish(known)?;
        let policy = Policy { tactic, deadline, cancellation };
        policy.check()?;
        Ok(Self { policy, delay: quantile })
    }
}

/// A hedge, and the quantile that its delay is to be.
fn hedge(fields: &mut Fields<'_>) -> Result<(Hedge, Option<Share>), NotationError> {
    let what = "a delay: a duration, or a quantile of the service time, such as 'hedge:30ms' or 'hedge:p95'";
    let delay = fields.take("delay", delay)?.ok_or(NotationError::Missing { of: "hedge", what })?;
    let burst = fields.take("burst", count)?;
    let budget = match fields.take("budget", share)? {
        Some(share) => Some(Budget { share, burst: burst.unwrap_or(BURST) }),
        None if burst.is_some() => {
            return Err(NotationError::Missing { of: "burst", what: "a budget, such as 'budget=5%'" });
        }
        None => None,
    };
    let hedge = Hedge {
        delay: match delay {
            Delay::After(duration) => duration,
            Delay::Quantile(_) => Nanoseconds(0),
        },
        probability: fields.take("probability", share)?.unwrap_or(Share::ALL),
        budget,
        per_request: fields.take("per-request", count)?,
        off_above: fields.take("off-above", queue_depth)?,
        target: fields.take("to", target)?.unwrap_or(Target::Another),
    };
    let quantile = match delay {
        Delay::After(_) => None,
        Delay::Quantile(quantile) => Some(quantile),
    };
    Ok((hedge, quantile))
}

/// The next longer duration with no more than five digits: what is printed stays short, and no more calls are late.
fn readable(duration: Nanoseconds) -> Nanoseconds {
    let digits = duration.0.checked_ilog10().map_or(1, |log| log + 1);
    let step = 10_u64.pow(digits.saturating_sub(5));
    Nanoseconds(duration.0.div_ceil(step).saturating_mul(step))
}

enum Delay {
    After(Nanoseconds),
    Quantile(Share),
}

fn delay(text: &str) -> Result<Delay, NotationError> {
    match text.strip_prefix('p').and_then(|percent| share(&format!("{percent}%")).ok()) {
        Some(quantile) => Ok(Delay::Quantile(quantile)),
        None => duration(text).map(Delay::After),
    }
}

fn retry(fields: &mut Fields<'_>) -> Result<Tactic, NotationError> {
    let what = "a time-out, such as 'retry:50ms'";
    Ok(Tactic::Retry {
        timeout: fields.take("timeout", duration)?.ok_or(NotationError::Missing { of: "retry", what })?,
        tries: fields.take("tries", count)?.unwrap_or(TRIES),
        layers: fields.take("layers", count)?.unwrap_or(NonZeroU32::MIN),
    })
}

fn queue_depth(text: &str) -> Result<QueueDepth, NotationError> {
    let expected = "number of calls that wait at an instance, such as '4'";
    text.parse().map(QueueDepth).map_err(|_| NotationError::Value { found: text.into(), expected })
}

fn target(text: &str) -> Result<Target, NotationError> {
    match text {
        "any" => Ok(Target::Any),
        "another" => Ok(Target::Another),
        "idle" => Ok(Target::Idle),
        _ => Err(NotationError::Unknown { found: text.into(), known: "'any', 'another', 'idle'" }),
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = match self.tactic {
            Tactic::Single => Vec::new(),
            Tactic::Hedge(hedge) => hedge_fields(&hedge),
            Tactic::AtOnce { copies } => vec![copies.to_string()],
            Tactic::Tied { message } => vec![DurationText(message).to_string()],
            Tactic::Retry { timeout, tries, layers } => {
                vec![DurationText(timeout).to_string(), format!("tries={tries}"), format!("layers={layers}")]
            }
        };
        fields.extend(self.deadline.map(|deadline| format!("deadline={}", DurationText(deadline))));
        if let Cancellation::After(delay) = self.cancellation {
            fields.push(format!("cancel={}", DurationText(delay)));
        }
        let name = match self.tactic {
            Tactic::Single => "none",
            Tactic::Hedge(_) => "hedge",
            Tactic::AtOnce { .. } => "copies",
            Tactic::Tied { .. } => "tied",
            Tactic::Retry { .. } => "retry",
        };
        let colon = if fields.is_empty() { "" } else { ":" };
        write!(formatter, "{name}{colon}{}", fields.join(","))
    }
}

fn hedge_fields(hedge: &Hedge) -> Vec<String> {
    let mut fields = vec![DurationText(hedge.delay).to_string()];
    if hedge.probability != Share::ALL {
        fields.push(format!("probability={}", ShareText(hedge.probability)));
    }
    if let Some(Budget { share, burst }) = hedge.budget {
        fields.push(format!("budget={}", ShareText(share)));
        if burst != BURST {
            fields.push(format!("burst={burst}"));
        }
    }
    fields.extend(hedge.per_request.map(|most| format!("per-request={most}")));
    fields.extend(hedge.off_above.map(|QueueDepth(depth)| format!("off-above={depth}")));
    match hedge.target {
        Target::Any => fields.push("to=any".into()),
        Target::Another => {}
        Target::Idle => fields.push("to=idle".into()),
    }
    fields
}
