//! Service times: `98%:10ms,2%:5ms+exponential=20ms`.

use std::{fmt, str::FromStr};

use observer_common::Nanoseconds;

use super::{
    NotationError,
    quantities::{DurationText, ShareText, duration, share},
};
use crate::simulation::{Part, ServiceTime, Shape, Share};

const SHAPES: &str = "'10ms', 'uniform=5ms..15ms', 'exponential=20ms' or 'lognormal=10ms/1' (median and sigma), each \
                      perhaps with '5ms+' before it";

impl FromStr for ServiceTime {
    type Err = NotationError;

    /// Parts apart by commas, each `[SHARE:][SHIFT+]SHAPE`; the share may be left out where there is one part.
    fn from_str(text: &str) -> Result<Self, NotationError> {
        let parts = text.split(',').filter(|part| !part.is_empty()).map(part);
        Ok(Self::mixture(parts.collect::<Result<_, _>>()?)?)
    }
}

fn part(text: &str) -> Result<Part, NotationError> {
    let (part, time) = match text.split_once(':') {
        Some((part, time)) => (share(part)?, time),
        None => (Share::ALL, text),
    };
    match time.split_once('+') {
        Some((shift, text)) => Ok(Part { share: part, shift: duration(shift)?, shape: shape(text)? }),
        None => Ok(Part { share: part, shift: Nanoseconds(0), shape: shape(time)? }),
    }
}

fn shape(text: &str) -> Result<Shape, NotationError> {
    let Some((name, rest)) = text.split_once('=') else { return Ok(Shape::Constant(duration(text)?)) };
    let wrong = |expected| NotationError::Value { found: rest.into(), expected };
    match name {
        "uniform" => {
            let ends = "pair of durations, the shorter first, such as '5ms..15ms'";
            let (from, to) = rest.split_once("..").ok_or_else(|| wrong(ends))?;
            let (from, to) = (duration(from)?, duration(to)?);
            if from < to { Ok(Shape::Uniform { from, to }) } else { Err(wrong(ends)) }
        }
        "exponential" => Ok(Shape::Exponential { mean: positive(rest)? }),
        "lognormal" => {
            let pair = "median with a sigma from 0.001 to 10, such as '10ms/1'";
            let (median, sigma) = rest.split_once('/').ok_or_else(|| wrong(pair))?;
            let sigma = sigma.parse().ok().filter(|sigma| (0.001..=10.0).contains(sigma));
            Ok(Shape::LogNormal { median: positive(median)?, sigma: sigma.ok_or_else(|| wrong(pair))? })
        }
        _ => Err(NotationError::Unknown { found: name.into(), known: SHAPES }),
    }
}

fn positive(text: &str) -> Result<Nanoseconds, NotationError> {
    match duration(text)? {
        Nanoseconds(0) => {
            Err(NotationError::Value { found: text.into(), expected: "time longer than nothing" })
        }
        time => Ok(time),
    }
}

impl fmt::Display for ServiceTime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, part) in self.parts().iter().enumerate() {
            if place > 0 {
                formatter.write_str(",")?;
            }
            if part.share != Share::ALL {
                write!(formatter, "{}:", ShareText(part.share))?;
            }
            if part.shift > Nanoseconds(0) {
                write!(formatter, "{}+", DurationText(part.shift))?;
            }
            write!(formatter, "{}", ShapeText(&part.shape))?;
        }
        Ok(())
    }
}

struct ShapeText<'a>(&'a Shape);

impl fmt::Display for ShapeText<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Shape::Constant(time) => write!(formatter, "{}", DurationText(*time)),
            Shape::Uniform { from, to } => {
                write!(formatter, "uniform={}..{}", DurationText(*from), DurationText(*to))
            }
            Shape::Exponential { mean } => write!(formatter, "exponential={}", DurationText(*mean)),
            Shape::LogNormal { median, sigma } => {
                write!(formatter, "lognormal={}/{sigma}", DurationText(*median))
            }
            Shape::Empirical(empirical) => write!(formatter, "measured ({} times)", empirical.count()),
        }
    }
}
