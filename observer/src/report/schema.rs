//! JSON schemas of outputs, generated from their types.

use schemars::{
    JsonSchema, Schema,
    generate::SchemaSettings,
    transform::{Transform, transform_subschemas},
};
use serde_json::Value;

/// The schema that every output of this type fulfils in JSON (JSON Schema, draft 2020-12).
pub fn of<Output: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize().with_transform(WithoutNull);
    settings.into_generator().into_root_schema_for::<Output>()
}

/// Takes `null` out of all types: what is not known is absent from outputs.
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
    use crate::report::Report;

    #[test]
    fn no_field_may_be_null() {
        let text = serde_json::to_string(&of::<Report>()).unwrap();
        assert!(!text.contains("\"null\""), "{text}");
    }
}
