//! Whether conditions can be.

use super::{Conditions, Effect, Fault, Scope, When};
use crate::simulation::{Balancing, Discipline, System};

/// Conditions that cannot be, of this system.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ConditionsError {
    /// The shares of classes are more than all requests.
    #[error("the shares of classes add up to {:.4}%; make them 100% or less", sum * 100.0)]
    Classes {
        /// What they add up to.
        sum: f64,
    },
    /// Something is multiplied by what is no positive number.
    #[error("{factor} is no factor or speed; take a positive number")]
    Factor {
        /// By this.
        factor: f64,
    },
    /// A fault strikes an instance that is not there.
    #[error("there is no instance {instance}; the first of {instances} is number 0")]
    Instance {
        /// Which.
        instance: u32,
        /// How many there are.
        instances: u32,
    },
    /// A group has no instances.
    #[error("a group of instances is empty; give it one at least")]
    Group,
    /// A time in which something happens has no length, or ends after the next one has begun.
    #[error("it happens for no time, or again before it is over; correct when it does")]
    When,
    /// There is not one speed, or not one weight, for each instance.
    #[error("there are {given} speeds or weights for {instances} instances; give one for each, or none")]
    Number {
        /// How many there are.
        given: usize,
        /// How many instances there are.
        instances: u32,
    },
    /// Weights are no shares of traffic.
    #[error("weights must not be negative, nor all be zero")]
    Weights,
    /// Only random balancing has weights.
    #[error("weights are for random balancing only; choose it, or leave them out")]
    Balancing,
    /// A fault or a bound is about a queue, and there is none.
    #[error("pauses, slower work, hanging and bounded queues are simulated for first in, first out only")]
    Discipline,
}

impl Conditions {
    /// Whether they can be simulated with a system. What cannot has no meaning, but does no harm.
    pub fn check(&self, system: &System) -> Result<(), ConditionsError> {
        let sum: f64 = self.classes.iter().map(|class| class.share.as_fraction()).sum();
        if sum > 1.0 + super::prepared::TOLERANCE {
            return Err(ConditionsError::Classes { sum });
        }
        let class_factors = self.classes.iter().map(|class| class.factor);
        let hidden_factor = self.hidden_cost.map(|hidden| hidden.factor);
        for factor in class_factors.chain(hidden_factor).chain(self.speeds.iter().copied()) {
            check_factor(factor)?;
        }
        for fault in &self.faults {
            fault.check(system)?;
        }
        self.others.iter().try_for_each(|other| other.when.check())?;
        if self.most_waiting.is_some() {
            check_queue(system)?;
        }
        for given in [self.speeds.len(), self.weights.len()] {
            let instances = system.instances.get();
            if given != 0 && given != instances as usize {
                return Err(ConditionsError::Number { given, instances });
            }
        }
        self.check_weights(system.balancing)
    }

    fn check_weights(&self, balancing: Balancing) -> Result<(), ConditionsError> {
        if self.weights.is_empty() {
            return Ok(());
        }
        if balancing != Balancing::Random {
            return Err(ConditionsError::Balancing);
        }
        let sum: f64 = self.weights.iter().sum();
        let shares = self.weights.iter().all(|weight| *weight >= 0.0) && sum > 0.0 && sum.is_finite();
        if shares { Ok(()) } else { Err(ConditionsError::Weights) }
    }
}

impl Fault {
    fn check(&self, system: &System) -> Result<(), ConditionsError> {
        self.scope.check(system.instances.get())?;
        self.when.check()?;
        match self.effect {
            Effect::Slower(factor) => {
                check_factor(factor)?;
                check_queue(system)
            }
            Effect::Pause | Effect::Hang => check_queue(system),
            Effect::Dependency { .. }
            | Effect::Down { .. }
            | Effect::Loss { .. }
            | Effect::RoundTrip { .. }
            | Effect::LateReader => Ok(()),
        }
    }
}

impl Scope {
    fn check(&self, instances: u32) -> Result<(), ConditionsError> {
        let named = match self {
            Self::Groups(0) => return Err(ConditionsError::Group),
            Self::All | Self::EachAlone | Self::Groups(_) | Self::InTurn => &[],
            Self::One(instance) => std::slice::from_ref(instance),
            Self::Some(some) => some.as_slice(),
        };
        let missing = named.iter().find(|instance| **instance >= instances);
        missing.map_or(Ok(()), |instance| Err(ConditionsError::Instance { instance: *instance, instances }))
    }
}

impl When {
    fn check(self) -> Result<(), ConditionsError> {
        let can_be = match self {
            Self::Always => true,
            Self::Window { from, to } => from < to,
            Self::Periodic { every, length } => length.0 > 0 && length <= every,
            Self::Random { gap, length } => gap.0 > 0 && length.0 > 0,
        };
        if can_be { Ok(()) } else { Err(ConditionsError::When) }
    }
}

fn check_factor(factor: f64) -> Result<(), ConditionsError> {
    if factor.is_finite() && factor > 0.0 { Ok(()) } else { Err(ConditionsError::Factor { factor }) }
}

fn check_queue(system: &System) -> Result<(), ConditionsError> {
    match system.discipline {
        Discipline::FirstInFirstOut => Ok(()),
        Discipline::ProcessorSharing => Err(ConditionsError::Discipline),
    }
}
