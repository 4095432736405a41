//! What strikes one instance.

use observer_common::Nanoseconds;
use rand::RngExt;
use rand_pcg::Pcg64;

use super::{Effect, Fault, Path, Purpose, Scope, Timetable, dice::Dice, path::losses, timetable::Turn};
use crate::simulation::{ServiceTime, Share, moment::Moment, rounding::nanoseconds};

/// One instance, and the faults that strike it.
#[derive(Debug)]
pub(super) struct Instance<'a> {
    faults: Vec<Struck<'a>>,
}

#[derive(Debug)]
struct Struck<'a> {
    /// Which of the conditions' faults it is.
    number: usize,
    effect: &'a Effect,
    timetable: Timetable,
}

/// How fast an instance works, and until when it does.
#[derive(Clone, Copy, Debug)]
struct Pace {
    speed: f64,
    until: Moment,
}

/// A copy, as far as random numbers depend on it: the number of its call, and which copy of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopyKey {
    pub(super) request: u64,
    pub(super) call: u64,
    pub(super) attempt: u64,
}

impl<'a> Instance<'a> {
    pub(super) fn new(instance: u32, instances: u32, faults: &'a [Fault], dice: Dice, end: Moment) -> Self {
        let struck = |(number, fault): (usize, &'a Fault)| {
            let (shared, turn) = fault.scope.schedule(instance, instances)?;
            let random = dice.of(Purpose::Fault(number), shared, 0);
            let timetable = Timetable::in_turn(fault.when, random, end, turn);
            Some(Struck { number, effect: &fault.effect, timetable })
        };
        Self { faults: faults.iter().enumerate().filter_map(struck).collect() }
    }

    /// The way of a copy that is sent now.
    pub(super) fn path(&mut self, copy: CopyKey, sent: Moment, dice: Dice) -> Path {
        let mut path = Path::default();
        for fault in &mut self.faults {
            match fault.effect {
                Effect::RoundTrip { added } if fault.timetable.now(sent).is_some() => path.lengthen(*added),
                Effect::Loss { share, timeout } if fault.timetable.now(sent).is_some() => {
                    let mut random = dice.of(Purpose::Loss(fault.number), copy.call, copy.attempt);
                    let request = random.random();
                    let times = losses(|| happens(*share, &mut random));
                    path.lose(request, times, *timeout);
                }
                _ => {}
            }
        }
        path
    }

    /// How long an execution that begins now waits for something else.
    pub(super) fn dependency(&mut self, copy: CopyKey, begun: Moment, dice: Dice) -> Nanoseconds {
        let mut wait = Nanoseconds(0);
        for fault in &mut self.faults {
            if let Effect::Dependency { share, time, by_request } = fault.effect
                && fault.timetable.now(begun).is_some()
            {
                let purpose = Purpose::Dependency(fault.number);
                let mut random = if *by_request {
                    dice.of(purpose, copy.request, u64::MAX)
                } else {
                    dice.of(purpose, copy.call, copy.attempt)
                };
                wait.0 = wait.0.saturating_add(held_up(*share, time, &mut random).0);
            }
        }
        wait
    }

    /// When work that begins now and takes so long at the normal speed is done.
    pub(super) fn work_ends(&mut self, begun: Moment, work: Nanoseconds) -> Moment {
        let (mut now, mut left) = (begun, work.0 as f64);
        loop {
            let pace = self.pace(now);
            let end = now.after(nanoseconds(left / pace.speed));
            // Without speed the end is that of time, and nothing becomes less.
            if end <= pace.until {
                return end;
            }
            left -= pace.until.since(now).0 as f64 * pace.speed;
            now = pace.until;
        }
    }

    fn pace(&mut self, now: Moment) -> Pace {
        let mut pace = Pace { speed: 1.0, until: Moment(u64::MAX) };
        let mut paused = None;
        for fault in &mut self.faults {
            let slower = match fault.effect {
                Effect::Pause => None,
                Effect::Slower(factor) => Some(*factor),
                _ => continue,
            };
            let Some(period) = fault.timetable.first_ending_after(now) else { continue };
            if period.from > now {
                pace.until = pace.until.min(period.from);
            } else if let Some(factor) = slower {
                pace.speed /= factor;
                pace.until = pace.until.min(period.to);
            } else {
                paused = paused.max(Some(period.to));
            }
        }
        // What else changes during a pause makes no difference before its end.
        paused.map_or(pace, |until| Pace { speed: 0.0, until })
    }

    /// When what has reached the instance is reset instead of being over at a moment.
    pub(super) fn reset(&mut self, reached: Moment, over: Moment) -> Option<Moment> {
        let hangs = self.faults.iter_mut().filter(|fault| matches!(fault.effect, Effect::Hang));
        let periods = hangs.filter_map(|fault| fault.timetable.first_ending_after(reached));
        periods.filter(|period| period.from < over).map(|period| period.to).min()
    }

    /// After which time a copy that arrives now is refused, if it is.
    pub(super) fn refusal(&mut self, now: Moment) -> Option<Nanoseconds> {
        self.faults.iter_mut().find_map(|fault| match fault.effect {
            Effect::Down { refuse_after } => fault.timetable.now(now).map(|_| *refuse_after),
            _ => None,
        })
    }
}

impl Scope {
    /// What an instance shares its times with, and which of them are its own; nothing if it is never struck.
    fn schedule(&self, instance: u32, instances: u32) -> Option<(u64, Turn)> {
        let (shared, turn) = match self {
            Self::All => (0, Turn::Every),
            Self::One(one) => (0, (*one == instance).then_some(Turn::Every)?),
            Self::Some(some) => (0, some.contains(&instance).then_some(Turn::Every)?),
            Self::EachAlone => (instance, Turn::Every),
            Self::Groups(size) => (instance / (*size).max(1), Turn::Every),
            Self::InTurn => (0, Turn::OneIn { of: instances.into(), from: instance.into() }),
        };
        Some((shared.into(), turn))
    }
}

/// Whether something happens that does so with this probability.
pub(super) fn happens(share: Share, random: &mut Pcg64) -> bool {
    random.random::<f64>() < share.as_fraction()
}

fn held_up(share: Share, time: &ServiceTime, random: &mut Pcg64) -> Nanoseconds {
    if happens(share, random) { time.draw(random) } else { Nanoseconds(0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::When;

    fn window(effect: Effect, from: u64, to: u64) -> Fault {
        let when = When::Window { from: Nanoseconds(from), to: Nanoseconds(to) };
        Fault { scope: Scope::All, when, effect }
    }

    fn end(faults: &[Fault], begun: u64, work: u64) -> u64 {
        let mut instance = Instance::new(0, 1, faults, Dice::new(1), Moment(1_000));
        instance.work_ends(Moment(begun), Nanoseconds(work)).0
    }

    #[test]
    fn a_pause_delays_by_what_is_left_of_it() {
        let pause = [window(Effect::Pause, 100, 200)];
        assert_eq!(end(&pause, 0, 100), 100);
        assert_eq!(end(&pause, 0, 101), 201);
        assert_eq!(end(&pause, 150, 10), 210);
        assert_eq!(end(&pause, 200, 10), 210);
    }

    #[test]
    fn slower_work_takes_longer_as_long_as_it_is_slow() {
        let slower = [window(Effect::Slower(4.0), 100, 200)];
        assert_eq!(end(&slower, 100, 10), 140);
        // 25 of it within the time, and the rest after.
        assert_eq!(end(&slower, 100, 50), 225);
        assert_eq!(end(&slower, 50, 100), 225);
    }

    #[test]
    fn what_overlaps_is_both() {
        let both = [window(Effect::Slower(2.0), 0, 300), window(Effect::Pause, 100, 200)];
        assert_eq!(end(&both, 0, 60), 220);
        let paused = [window(Effect::Pause, 0, 150), window(Effect::Pause, 100, 200)];
        assert_eq!(end(&paused, 0, 1), 201);
    }

    #[test]
    fn nothing_strikes_after_the_end() {
        let always = [Fault { scope: Scope::All, when: When::Always, effect: Effect::Pause }];
        assert_eq!(end(&always, 5, 7), 1_007);
    }

    #[test]
    fn a_hanging_instance_resets_what_it_holds() {
        let hang = [window(Effect::Hang, 100, 200)];
        let mut instance = Instance::new(0, 1, &hang, Dice::new(1), Moment(1_000));
        let mut reset = |reached, over| instance.reset(Moment(reached), Moment(over)).map(|at| at.0);
        assert_eq!(reset(50, 100), None);
        assert_eq!(reset(50, 101), Some(200));
        assert_eq!(reset(150, 151), Some(200));
        assert_eq!(reset(200, 300), None);
    }

    #[test]
    fn a_scope_says_who_shares_times() {
        let shared =
            |scope: &Scope| [0, 1, 2, 3].map(|instance| scope.schedule(instance, 4).map(|found| found.0));
        assert_eq!(shared(&Scope::All), [Some(0); 4]);
        assert_eq!(shared(&Scope::One(2)), [None, None, Some(0), None]);
        assert_eq!(shared(&Scope::Some(vec![0, 3])), [Some(0), None, None, Some(0)]);
        assert_eq!(shared(&Scope::EachAlone), [Some(0), Some(1), Some(2), Some(3)]);
        assert_eq!(shared(&Scope::Groups(2)), [Some(0), Some(0), Some(1), Some(1)]);
    }
}
