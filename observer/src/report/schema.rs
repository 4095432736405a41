//! The report's JSON schema, generated from its types.

use schemars::{Schema, SchemaGenerator};

use super::Report;

/// The schema that every report in JSON fulfils (JSON Schema, draft 2020-12).
pub fn schema() -> Schema {
    SchemaGenerator::default().into_root_schema_for::<Report>()
}
