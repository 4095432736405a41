//! Lists of fields: `first,key=value,key=value`.

use super::NotationError;

/// What is written after the name of a thing, ready to be taken out field by field.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    fields: Vec<(&'a str, &'a str)>,
}

impl<'a> Fields<'a> {
    /// Takes `name:first,key=value` apart into its name and fields; the first field may lack the key that the name gives
    /// it.
    pub(super) fn split(
        text: &'a str,
        first_key: impl FnOnce(&str) -> &'static str,
    ) -> Result<(&'a str, Self), NotationError> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let first_key = first_key(name);
        let mut fields: Vec<(&str, &str)> = Vec::new();
        for (place, field) in rest.split(',').enumerate().filter(|(_, field)| !field.is_empty()) {
            let (key, value) = match field.split_once('=') {
                Some(pair) => pair,
                None if place == 0 => (first_key, field),
                None => {
                    return Err(NotationError::Value {
                        found: field.into(),
                        expected: "setting, such as 'budget=5%'",
                    });
                }
            };
            if fields.iter().any(|(other, _)| *other == key) {
                return Err(NotationError::Twice { key: key.into() });
            }
            fields.push((key, value));
        }
        Ok((name, Self { fields }))
    }

    /// Takes out a field, if it is there.
    pub(super) fn take<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&str) -> Result<T, NotationError>,
    ) -> Result<Option<T>, NotationError> {
        let Some(place) = self.fields.iter().position(|(other, _)| *other == key) else { return Ok(None) };
        read(self.fields.swap_remove(place).1).map(Some)
    }

    /// Refuses what was not taken out.
    pub(super) fn finish(self, known: &'static str) -> Result<(), NotationError> {
        match self.fields.first() {
            Some((key, _)) => Err(NotationError::Unknown { found: (*key).into(), known }),
            None => Ok(()),
        }
    }
}
