//! Runs the benchmark of accuracy.
#![expect(clippy::print_stderr, clippy::print_stdout, reason = "tasks talk to the person who started them")]

use std::{
    fs,
    io::{IsTerminal as _, stderr},
    path::PathBuf,
    str::FromStr,
    sync::atomic::{AtomicUsize, Ordering},
};

use anyhow::{Context as _, Result};
use clap::{Parser, ValueEnum};
use observer_accuracy::{
    Adaptive, Cache, Case, Family, Half, Recording, Score, by_case, by_family, families, in_full, in_lab,
    in_short, lab_page, page, some_cases, speed,
};
use rayon::prelude::*;

/// Pages of the documentation, from the top of the checkout.
const PAGE: &str = "docs/accuracy.md";
const LAB_PAGE: &str = "docs/accuracy-lab.md";

#[derive(Parser)]
#[command(name = "accuracy", about = "How often the verdict and the advice are right")]
struct Arguments {
    /// How many cases, spread evenly over families
    #[arg(long, default_value_t = 1_000)]
    cases: usize,
    /// Which families
    #[arg(long, value_enum, default_value_t = Chosen::Both)]
    half: Chosen,
    /// Only families, or causes of the lab, whose names contain this
    #[arg(long)]
    family: Option<String>,
    /// Only this case, with all that is known about it
    #[arg(long, value_name = "FAMILY:SEED", conflicts_with_all = ["cases", "family", "half"])]
    case: Option<Named>,
    /// Write what was recorded of that case to this folder, as an exchange log
    #[arg(long, value_name = "DIR", requires = "case")]
    dump: Option<PathBuf>,
    /// Two dozen cases of tuning families that are always the same
    #[arg(long, conflicts_with_all = ["cases", "family", "half", "case"])]
    quick: bool,
    /// Write the page of the documentation as well
    #[arg(long, conflicts_with_all = ["quick", "family", "half", "case"])]
    write: bool,
    /// Only assess 100,000 exchanges of one service so many times, and say how many milliseconds that takes
    #[arg(long, value_name = "TIMES", conflicts_with_all = ["cases", "half", "family", "case"])]
    speed: Option<usize>,
    /// Run the causes of `observer demo` on real sockets instead, for so many minutes in all
    #[arg(long, value_name = "MINUTES", value_parser = minutes, conflicts_with_all = ["cases", "half", "case", "quick"])]
    lab: Option<f64>,
    /// Where recordings of the lab stay
    #[arg(long, value_name = "DIR", default_value = "target/accuracy/lab", requires = "lab")]
    recordings: PathBuf,
    /// Where measured truths are kept
    #[arg(long, value_name = "FILE", default_value = "target/accuracy/truths.jsonl")]
    truths: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Chosen {
    Tuning,
    HeldOut,
    Both,
}

impl Chosen {
    const fn half(self) -> Option<Half> {
        match self {
            Self::Tuning => Some(Half::Tuning),
            Self::HeldOut => Some(Half::HeldOut),
            Self::Both => None,
        }
    }
}

fn minutes(text: &str) -> Result<f64, String> {
    let minutes = text.parse().ok().filter(|minutes| (0.1..=1_440.0).contains(minutes));
    minutes.ok_or_else(|| "write a number of minutes, such as 10".into())
}

/// A case, as it is written.
#[derive(Clone)]
struct Named {
    family: Family,
    seed: u64,
}

impl FromStr for Named {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, seed) = text.rsplit_once(':').context("write it as FAMILY:SEED")?;
        let family = families(None).into_iter().find(|family| family.name == name);
        let family = family.with_context(|| format!("there is no family '{name}'"))?;
        Ok(Self { family, seed: seed.parse().context("the seed is a whole number")? })
    }
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if let Some(times) = arguments.speed {
        print!("{}", speed(times)?);
        return Ok(());
    }
    if let Some(minutes) = arguments.lab {
        let part = arguments.family.as_deref();
        let text = in_lab(minutes, part, &arguments.recordings, &mut |what| eprintln!("{what}"))?;
        println!("{text}");
        if arguments.write {
            write(LAB_PAGE, lab_page(minutes, &text))?;
        }
        return Ok(());
    }
    let cache = Cache::open(&arguments.truths)?;
    if let Some(Named { family, seed }) = arguments.case {
        if let Some(folder) = arguments.dump {
            let recording = Recording::of(&Case::draw(family, seed)?);
            recording.write(&folder.join(format!("{}-{seed}.csv", family.name)))?;
        }
        println!("{}", in_full(&Score::of(family, seed, &cache)?));
        return Ok(());
    }
    let families: Vec<_> = families(arguments.half.half())
        .into_iter()
        .filter(|family| arguments.family.as_ref().is_none_or(|part| family.name.contains(part.as_str())))
        .collect();
    let wanted = if arguments.quick { some_cases() } else { evenly(&families, arguments.cases) };
    let scores = scores(wanted, &cache)?;
    println!("{}", by_family(&scores, &families));
    println!("{}", by_case(&scores));
    println!("{}", in_short(&scores));
    let adaptive = Adaptive::run()?;
    for run in &adaptive {
        println!("{run}");
    }
    if arguments.write {
        write(PAGE, page(&scores, &families, &adaptive))?;
    }
    Ok(())
}

fn write(page: &str, text: String) -> Result<()> {
    fs::write(page, text).with_context(|| format!("cannot write {page}"))
}

/// So many cases, spread evenly over the families.
fn evenly(families: &[Family], cases: usize) -> Vec<(Family, u64)> {
    let seeds = 1_u64..;
    seeds.flat_map(|seed| families.iter().map(move |family| (*family, seed))).take(cases).collect()
}

/// Scores cases on all processors, with one line of progress.
fn scores(cases: Vec<(Family, u64)>, cache: &Cache) -> Result<Vec<Score>> {
    let (done, all) = (AtomicUsize::new(0), cases.len());
    let scores = cases
        .into_par_iter()
        .map(|(family, seed)| {
            let score = Score::of(family, seed, cache).with_context(|| format!("{}:{seed}", family.name))?;
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if stderr().is_terminal() {
                eprint!("\r{done} of {all} cases");
            }
            Ok(score)
        })
        .collect();
    if stderr().is_terminal() {
        eprintln!();
    }
    scores
}
