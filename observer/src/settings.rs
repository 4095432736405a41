//! The configuration file.

mod question;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::Deserialize;

pub use self::question::QuestionSettings;
pub(crate) use self::question::{parse_fan_out, parse_idempotent, parse_metric, parse_share, parse_target};
use crate::identity::Rule;

/// What can be set in a file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Which instances belong to which service; the first that matches counts.
    #[serde(default, rename = "service")]
    pub services: Vec<Rule>,
    /// What is asked about the tail; flags and variables go before it.
    #[serde(default)]
    pub question: QuestionSettings,
}

/// A configuration file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// It cannot be read.
    #[error("cannot read the configuration '{}': {source}; check its name and permissions", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is not what it has to be.
    #[error(
        "the configuration '{}' is not valid{}: {reason}",
        path.display(),
        line.map_or_else(String::new, |line| format!(", line {line}"))
    )]
    Parse {
        /// The file.
        path: PathBuf,
        /// Where, from 1; nothing where it is a whole service, which the reason names.
        line: Option<usize>,
        /// Why.
        reason: String,
    },
}

impl Settings {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, SettingsError> {
        let text =
            fs::read_to_string(path).map_err(|source| SettingsError::Read { path: path.into(), source })?;
        toml::from_str(&text).map_err(|error| {
            let before = error.span().filter(|span| span.start > 0).and_then(|span| text.get(..span.start));
            let line = before.map(|before| before.matches('\n').count() + 1);
            let reason = error.message().lines().collect::<Vec<_>>().join(", ");
            SettingsError::Parse { path: path.into(), line, reason }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_set_by_addresses_ports_and_names() {
        let text = r#"
            [[service]]
            name = "cache"
            addresses = ["192.0.2.0/24"]
            ports = [6379]
            [[service]]
            name = "search"
            names = ["*.search.example"]
        "#;
        let settings: Settings = toml::from_str(text).unwrap();
        assert_eq!(settings.services.len(), 2);
        assert!(toml::from_str::<Settings>("[[servcie]]").is_err());
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_its_line() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("observer.toml");
        let first = "[[service]]\nname = 'cache'\nports = [6379]\n\n";
        for (rest, line, reason) in [
            ("[[service]]\nname = 'a'\nports = [80, 0]\n", ", line 7: ", "nonzero"),
            ("[[service]]\nname = 'a'\n", ": ", "the service 'a' matches nothing"),
            ("[[service]]\nname = ''\nports = [80]\n", ", line 6: ", "empty name"),
            ("[[service]]\nname = \"a\\nb\"\nports = [80]\n", ", line 6: ", r"'a\u{a}b'"),
            ("[[service]]\nname = 'a'\nport = 80\n", ", line 7: ", "unknown field `port`"),
            ("[[service]\n", ", line 5: ", ""),
            ("[question]\nbudget = '5'\n", ", line 6: ", "'5' is not understood: write it from 0% to 100%"),
            (
                "[question]\nbudget = 5\n",
                ", line 6: ",
                "'5' is not understood: write it from 0% to 100%, such as 5%, in quotes",
            ),
            (
                "[question]\nidempotent = true\n",
                ", line 6: ",
                "'true' is not understood: write 'yes', 'no' or 'auto'",
            ),
            (
                "[question]\nfanout = 0\n",
                ", line 6: ",
                "'0' is not understood: write a whole number from 1 to 4294967295",
            ),
        ] {
            fs::write(&path, format!("{first}{rest}")).unwrap();
            let message = Settings::read(&path).unwrap_err().to_string();
            assert!(
                message.contains(&format!("is not valid{line}")) && message.contains(reason),
                "{message}"
            );
            assert!(!message.contains('\n'), "{message}");
        }
    }
}
