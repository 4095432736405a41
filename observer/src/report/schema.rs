//! The report's JSON schema, generated from its types.

use schemars::{
    Schema,
    generate::SchemaSettings,
    transform::{Transform, transform_subschemas},
};
use serde_json::Value;

use super::Report;

/// The schema that every report in JSON fulfils (JSON Schema, draft 2020-12).
pub fn schema() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize().with_transform(WithoutNull);
    settings.into_generator().into_root_schema_for::<Report>()
}

/// Takes `null` out of all types: what is not known is absent from a report.
#[derive(Clone, Debug)]
struct WithoutNull;

impl Transform for WithoutNull {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        if let Some(Value::Array(types)) = schema.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                schema.insert("type".into(), only);
            }
        }
        let Some(Value::Array(choices)) = schema.get_mut("anyOf") else { return };
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            schema.remove("anyOf");
            for (key, value) in only {
                schema.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_field_may_be_null() {
        let text = serde_json::to_string(&schema()).unwrap();
        assert!(!text.contains("\"null\""), "{text}");
    }
}
