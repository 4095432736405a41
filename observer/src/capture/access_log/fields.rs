//! Named values of one line.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::entry::Bad;

/// Named values: an object of JSON, or pairs of text.
#[derive(Debug)]
pub(super) enum Fields<'a> {
    Json(Map<String, Value>),
    Pairs(Vec<(&'a str, &'a str)>),
}

impl Fields<'_> {
    /// The values of a flat object.
    pub(super) fn of_json(line: &str) -> Result<Self, Bad> {
        serde_json::from_str(line)
            .map(Self::Json)
            .map_err(|_| Bad::new(line, "an object of JSON on one line"))
    }

    /// The value of a name, where it is there: texts and numbers as they were written, empty where it is null.
    pub(super) fn get(&self, name: &str) -> Option<Cow<'_, str>> {
        match self {
            Self::Json(values) => match values.get(name)? {
                Value::String(text) => Some(Cow::Borrowed(text)),
                Value::Number(number) => Some(Cow::Owned(number.to_string())),
                Value::Null => Some(Cow::Borrowed("")),
                Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
            },
            Self::Pairs(pairs) => {
                pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| Cow::Borrowed(*value))
            }
        }
    }

    /// The value of the first of these names that is there.
    pub(super) fn first(&self, names: &[&str]) -> Option<Cow<'_, str>> {
        names.iter().find_map(|name| self.get(name))
    }
}

/// Logs write a hyphen, or nothing, where a value is missing.
pub(super) fn is_missing(value: &str) -> bool {
    matches!(value, "" | "-")
}
