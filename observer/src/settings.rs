//! The configuration file.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::identity::Rule;

/// What can be set in a file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Which instances belong to which service; the first that matches counts.
    #[serde(default, rename = "service")]
    pub services: Vec<Rule>,
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
    #[error("the configuration '{}' is not valid: {source}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: Box<toml::de::Error>,
    },
}

impl Settings {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, SettingsError> {
        let text =
            fs::read_to_string(path).map_err(|source| SettingsError::Read { path: path.into(), source })?;
        toml::from_str(&text)
            .map_err(|source| SettingsError::Parse { path: path.into(), source: Box::new(source) })
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
}
