//! Flags that several commands share.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum, ValueHint, builder::EnumValueParser};

use super::{failure::Failure, number};
use crate::{
    filter::Filter,
    report::{
        model::{SelectedRole, Selection},
        text::Color,
    },
    settings::Settings,
};

/// Flags of every command.
#[derive(Debug, Args)]
pub(super) struct GlobalArguments {
    /// When to use colour; 'auto' means on a terminal, unless `NO_COLOR` is set and not empty
    #[arg(long, global = true, value_name = "WHEN", env = "OBSERVER_COLOR", default_value = "auto")]
    pub(super) color: ColorChoice,
    /// Print nothing on standard error but errors
    #[arg(short, long, global = true, env = "OBSERVER_QUIET", conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// Say more on standard error; twice: even more
    #[arg(short, long, global = true, env = "OBSERVER_VERBOSE", action = ArgAction::Count)]
    pub(super) verbose: u8,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum ColorChoice {
    /// On a terminal.
    Auto,
    /// Anywhere.
    Always,
    /// Nowhere.
    Never,
}

impl ColorChoice {
    /// Whether an output gets colour.
    pub(super) fn on(self, is_terminal: bool) -> Color {
        let set = |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty());
        let wanted = match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                is_terminal
                    && set("NO_COLOR").is_none()
                    && set("TERM").is_none_or(|terminal| terminal != "dumb")
            }
        };
        if wanted { Color::Ansi } else { Color::Plain }
    }
}

/// Which exchanges are wanted.
#[derive(Debug, Args)]
#[command(next_help_heading = "Selection")]
pub(super) struct SelectionArguments {
    /// Which side of connections: requests sent (client), requests served (server), or both
    #[arg(long, value_name = "ROLE", env = "OBSERVER_ROLE", default_value = "client")]
    pub(super) role: RoleChoice,
    /// Only instances with this port; may be repeated
    #[arg(
        long = "port",
        value_name = "N",
        env = "OBSERVER_PORT",
        value_delimiter = ',',
        allow_negative_numbers = true,
        value_parser = number::whole(1, u16::MAX)
    )]
    ports: Vec<u16>,
    /// Only connections of this process; may be repeated
    #[arg(
        long = "pid",
        value_name = "PID",
        env = "OBSERVER_PID",
        value_delimiter = ',',
        allow_negative_numbers = true,
        value_parser = number::whole(0, u32::MAX)
    )]
    pids: Vec<u32>,
    /// Only connections of processes with such a name (at most 15 characters, as in 'ps -o comm'); may be repeated
    #[arg(long = "comm", value_name = "GLOB", env = "OBSERVER_COMM")]
    comms: Vec<String>,
    /// Only connections of processes in such a control group, as reported ('redis.service', 'docker 4f0c*'); may be
    /// repeated
    #[arg(long = "cgroup", value_name = "GLOB", env = "OBSERVER_CGROUP")]
    cgroups: Vec<String>,
}

/// Which side of connections.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum RoleChoice {
    /// Requests that were sent.
    Client,
    /// Requests that were served.
    Server,
    /// Both.
    Both,
}

impl RoleChoice {
    /// The same, as the report names it.
    pub(super) const fn selected(self) -> SelectedRole {
        match self {
            Self::Client => SelectedRole::Client,
            Self::Server => SelectedRole::Server,
            Self::Both => SelectedRole::Both,
        }
    }
}

impl SelectionArguments {
    /// The filter for them.
    pub(super) fn filter(&self) -> Result<Filter, Failure> {
        let selection = Selection {
            role: self.role.selected(),
            ports: self.ports.clone(),
            ports_not_seen: Vec::new(),
            pids: self.pids.clone(),
            comms: self.comms.clone(),
            cgroups: self.cgroups.clone(),
        };
        Filter::new(selection).map_err(|error| Failure::Usage(error.into()))
    }
}

/// How a result is printed, and where.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputArguments<F: Formats = Format> {
    /// How to print the result
    #[arg(
        long,
        value_name = "FORMAT",
        env = "OBSERVER_FORMAT",
        default_value = "text",
        value_parser = EnumValueParser::<F>::new(),
        overrides_with = "json"
    )]
    format: F,
    /// The same as --format json
    #[arg(long, env = "OBSERVER_JSON", overrides_with = "format")]
    json: bool,
    /// Write to this file, which appears only when it is complete, instead of to standard output
    #[arg(short, long, value_name = "FILE", env = "OBSERVER_OUTPUT", value_hint = ValueHint::FilePath)]
    pub(super) output: Option<PathBuf>,
}

impl<F: Formats> OutputArguments<F> {
    /// The wanted format.
    pub(super) fn format(&self) -> F {
        if self.json { F::JSON } else { self.format }
    }
}

/// Formats to choose from, JSON among them.
pub(super) trait Formats: ValueEnum + Copy + Send + Sync + 'static {
    /// What `--json` stands for.
    const JSON: Self;
}

/// How a result is printed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// For programs, a report a line.
    Jsonl,
}

impl Formats for Format {
    const JSON: Self = Self::Json;
}

/// How a report is printed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum ReportFormat {
    /// For people.
    Text,
    /// For people, in chat and pull requests.
    Markdown,
    /// For programs.
    Json,
    /// For programs, a report a line.
    Jsonl,
}

impl Formats for ReportFormat {
    const JSON: Self = Self::Json;
}

/// Whether an incomplete observation is a failure.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct StrictArguments {
    /// Exit with code 4 if something could not be observed or was lost
    #[arg(long, env = "OBSERVER_STRICT")]
    pub(super) strict: bool,
}

/// What is set in a file.
#[derive(Debug, Args)]
pub(super) struct ConfigArguments {
    /// Take settings from this TOML file: [[service]] tables with name, and addresses, ports or names; and a [question]
    /// table with budget, target and the like
    #[arg(short, long, value_name = "FILE", env = "OBSERVER_CONFIG", value_hint = ValueHint::FilePath)]
    config: Option<PathBuf>,
}

impl ConfigArguments {
    /// What the file says; nothing where there is none.
    pub(super) fn settings(&self) -> Result<Settings, Failure> {
        let read = self.config.as_deref().map(Settings::read).transpose();
        Ok(read.map_err(|error| Failure::Usage(error.into()))?.unwrap_or_default())
    }
}

/// What only developers need.
#[derive(Debug, Args)]
pub(super) struct DeveloperArguments {
    /// Load this eBPF object instead of the embedded one
    #[arg(long, value_name = "FILE", env = "OBSERVER_BPF_OBJECT", hide = true, value_hint = ValueHint::FilePath)]
    pub(super) bpf_object: Option<PathBuf>,
}
