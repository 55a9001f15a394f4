//! `bellwether schema`: prints the JSON Schema of files of alerts.

use anyhow::Context;

use super::super::{CommandError, print};

/// Prints the schema.
pub(super) fn run() -> Result<(), CommandError> {
    let text = serde_json::to_string_pretty(&alert_files::file_schema()).context("cannot write the schema")?;
    print(&format!("{text}\n"))
}
