//! Truths that were measured before. They take most of the time, and do not depend on what is said about a case.

use std::{
    collections::HashMap,
    fs::{self, File, OpenOptions},
    hash::{DefaultHasher, Hash, Hasher},
    io::Write as _,
    path::Path,
    sync::{Mutex, PoisonError},
};

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use crate::{case::Case, truth::Truth};

/// Truths by case.
#[derive(Debug)]
pub struct Cache {
    known: HashMap<u64, Truth>,
    file: Mutex<Option<File>>,
    measure: fn(&Case) -> Truth,
}

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    key: u64,
    truth: Truth,
}

/// What a truth is called after: everything that the case and the way of measuring consist of.
fn key(case: &Case) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{:?} {} {:?}", case.traffic, case.run, case.family.hedging).hash(&mut hasher);
    include_str!("truth.rs").hash(&mut hasher);
    include_str!("grid.rs").hash(&mut hasher);
    hasher.finish()
}

impl Cache {
    /// Without anything, and without a file. What copies could gain is not measured: that takes most of the time.
    pub fn without_gains() -> Self {
        Self { known: HashMap::new(), file: Mutex::new(None), measure: Truth::without_copies }
    }

    /// What a file knows; new truths are added to it.
    pub fn open(path: &Path) -> Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        }
        // A line that was cut off, or is of another version, is measured again.
        let lines = fs::read_to_string(path).unwrap_or_default();
        let known = lines
            .lines()
            .filter_map(|line| serde_json::from_str::<Line>(line).ok())
            .map(|line| (line.key, line.truth))
            .collect();
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .with_context(|| format!("cannot write to {}", path.display()))?;
        Ok(Self { known, file: Mutex::new(Some(file)), measure: Truth::of })
    }

    /// What is true of a case, measured if it is not known, or if the simulation has changed since.
    pub fn truth(&self, case: &Case) -> Truth {
        let key = key(case);
        if let Some(truth) = self.known.get(&key).filter(|truth| truth.still_holds(case)) {
            return *truth;
        }
        let truth = (self.measure)(case);
        self.keep(key, truth);
        truth
    }

    /// A cache that cannot be written is a slow one, and no reason to stop.
    fn keep(&self, key: u64, truth: Truth) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(file), Ok(line)) = (file.as_mut(), serde_json::to_string(&Line { key, truth })) {
            let _ = writeln!(file, "{line}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{case::Hedging, families};

    fn case() -> Case {
        let (family, seed) = families::some().remove(0);
        Case::draw(family, seed).unwrap()
    }

    #[test]
    fn what_decides_how_much_is_tried_is_part_of_the_key() {
        let case = case();
        let mut forbidden = case.clone();
        forbidden.family.hedging = Hedging::Forbidden;
        assert_ne!(case.family.hedging, Hedging::Forbidden);
        assert_ne!(key(&case), key(&forbidden));
    }

    #[test]
    fn a_truth_is_measured_again_where_copies_do_something_else_now() {
        let case = case();
        let truth = Truth::of(&case);
        assert!(truth.recorded.library_copies > 0);
        let mut other = truth;
        other.recorded.library_copies += 1;
        let knows = |known: Truth| Cache {
            known: HashMap::from([(key(&case), known)]),
            file: Mutex::new(None),
            measure: |_| Truth::default(),
        };
        assert_eq!(knows(truth).truth(&case), truth);
        assert_eq!(knows(other).truth(&case), Truth::default());
    }
}
