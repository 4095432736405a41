//! What is judged: traffic to a system, and what may rightly be said about it.

use std::fmt;

use anyhow::{Context as _, Result, bail};
use observer::{
    analysis::model::{Action, Cause},
    simulation::{
        Class, Conditions, Discipline, Effect, Fault, HiddenCost, OtherLoad, Policy, Rate, Scope, System,
        When,
    },
};

use crate::{draw::Draw, recording::simulate};

/// Many different systems that are slow for one reason.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// What it is called.
    pub name: &'static str,
    /// Whether anything was chosen by looking at it.
    pub half: Half,
    /// The causes that may be named, the best one first.
    pub causes: &'static [Cause],
    /// The actions that may be advised, the best one first.
    pub actions: &'static [Action],
    /// What is right about second copies.
    pub hedging: Hedging,
    /// What every case of it has to show.
    pub check: Check,
    /// Draws a case.
    pub draw: fn(&mut Draw) -> Result<Traffic>,
}

impl Family {
    /// What most families have in common: their own fields are written before `..Family::PATTERN`.
    pub(crate) const PATTERN: Self = Self {
        name: "",
        half: Half::Tuning,
        causes: &[Cause::Independent],
        actions: &[Action::Hedge, Action::Canary],
        hedging: Hedging::Remedy,
        check: Check::Tail,
        draw: |_| bail!("this is only a pattern"),
    };
}

/// Which families may be looked at while the analysis is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// These.
    Tuning,
    /// Not these: they show what the analysis is worth on what nobody thought of.
    HeldOut,
}

/// What is right about second copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hedging {
    /// They are the remedy: not to advise them where they gain is to miss it.
    Remedy,
    /// They may help, and something else is better or as good.
    Possible,
    /// They are wrong, even where they do no harm yet.
    Forbidden,
}

/// What every case of a family has to show in its latencies, so that the cause that it is called after is one. Cases
/// that do not are drawn again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// A p99 of three medians or more.
    Tail,
    /// That, and at most 0.6 of the p99 once the faults are gone.
    TailByFault,
    /// A p99 of two medians or less.
    NoTail,
    /// Nothing.
    Anything,
}

/// Requests to a system as one client sees them.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// Clients and instances.
    pub system: System,
    /// What is the matter with them.
    pub conditions: Conditions,
    /// What the client does about slow requests already.
    pub policy: Policy,
    /// Whether it logs which copy of which request each exchange is.
    pub logs_copies: bool,
    /// Whether what kind of request it is can be seen.
    pub shows_classes: bool,
}

impl Traffic {
    /// Requests without names to a system without faults.
    pub fn to(system: System) -> Self {
        Self {
            system,
            conditions: Conditions::default(),
            policy: Policy::NONE,
            logs_copies: false,
            shows_classes: false,
        }
    }

    /// With another fault. Who shares a processor cannot be paused or slowed, so then there are queues instead.
    #[must_use]
    pub fn fault(mut self, scope: Scope, when: When, effect: Effect) -> Self {
        if matches!(effect, Effect::Pause | Effect::Slower(_) | Effect::Hang) {
            self.system.discipline = Discipline::FirstInFirstOut;
        }
        self.conditions.faults.push(Fault { scope, when, effect });
        self
    }

    /// To instances that refuse what finds so many waiting, for which they need a queue.
    #[must_use]
    pub fn refused_beyond(mut self, most_waiting: u32) -> Self {
        self.system.discipline = Discipline::FirstInFirstOut;
        self.conditions.most_waiting = Some(most_waiting);
        self
    }

    /// With the requests of clients that nobody sees.
    #[must_use]
    pub fn others(mut self, when: When, rate: Rate) -> Self {
        self.conditions.others.push(OtherLoad { when, rate });
        self
    }

    /// With kinds of requests that can be told apart.
    #[must_use]
    pub fn classes(mut self, classes: Vec<Class>) -> Self {
        self.conditions.classes = classes;
        self.shows_classes = true;
        self
    }

    /// With requests some of which cost more, which nothing shows.
    #[must_use]
    pub fn hidden_cost(mut self, cost: HiddenCost) -> Self {
        self.conditions.hidden_cost = Some(cost);
        self
    }

    /// From a client that sends copies already.
    #[must_use]
    pub fn hedged(mut self, policy: Policy, logs_copies: bool) -> Self {
        self.policy = policy;
        self.logs_copies = logs_copies;
        self
    }

    /// The same without what makes it slow, as far as that is a fault.
    pub fn mended(&self) -> Self {
        let mut mended = self.clone();
        mended.conditions.faults.clear();
        mended.conditions.others.clear();
        mended
    }
}

/// One case of a family.
#[derive(Clone, Debug)]
pub struct Case {
    /// Which family's.
    pub family: Family,
    /// Which of its cases.
    pub seed: u64,
    /// What is recorded.
    pub traffic: Traffic,
    /// How many instances share a host.
    pub per_host: u32,
    /// The seed of the simulation.
    pub run: u64,
    /// How many were drawn before this one and did not show what they have to.
    pub rejected: u32,
}

/// How often a case is drawn at most. Below this a family says what it is called after too seldom.
const MOST_DRAWS: u32 = 60;

impl Case {
    /// Draws a case that shows what its family is called after.
    pub fn draw(family: Family, seed: u64) -> Result<Self> {
        let mut draw = Draw::new(family.name, seed);
        for rejected in 0..MOST_DRAWS {
            let traffic = (family.draw)(&mut draw)?;
            let on_hosts = traffic.conditions.faults.iter().find_map(|fault| match fault.scope {
                Scope::Groups(each) => Some(each),
                _ => None,
            });
            // Most of the hosts with several instances have no fault of their own.
            let by_chance = if draw.chance(0.2) { draw.whole(2..=4) } else { 1 };
            let per_host = on_hosts.unwrap_or(by_chance);
            let case = Self { family, seed, traffic, per_host, run: draw.seed(), rejected };
            case.traffic
                .conditions
                .check(&case.traffic.system)
                .with_context(|| format!("{case} cannot be"))?;
            if case.shows_it() {
                return Ok(case);
            }
        }
        bail!("{}:{seed} was drawn {MOST_DRAWS} times and never showed what it should", family.name)
    }

    /// Whether the latencies show what the family is called after.
    fn shows_it(&self) -> bool {
        if self.family.check == Check::Anything {
            return true;
        }
        let quantiles = |traffic: &Traffic| {
            let latency = simulate(traffic, &Policy::NONE, self.run).latency();
            [0.5, 0.99].map(|quantile| latency.quantile(quantile).0 as f64)
        };
        let [median, p99] = quantiles(&self.traffic);
        let spread = p99 / median.max(1.0);
        match self.family.check {
            Check::Anything => true,
            Check::NoTail => spread <= 2.0,
            Check::Tail => spread >= 3.0,
            Check::TailByFault => spread >= 3.0 && quantiles(&self.traffic.mended())[1] <= 0.6 * p99,
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.family.name, self.seed)
    }
}
