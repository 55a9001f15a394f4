//! `bellwether export`: prints the alerts of a server as a file.

use alert_files::exported_file;
use anyhow::Context;
use clap::{Args, ValueEnum};
use client::{RemoteAlert, RemoteAlertFilter};

use super::super::{CommandError, print};
use super::connection::{ConnectionArgs, block_on};

/// The format of an export.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum ExportFormat {
    /// A file of alerts in YAML
    Yaml,
    /// A file of alerts in TOML
    Toml,
    /// A file of alerts in JSON
    Json,
    /// A table for spreadsheets
    Csv,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct ExportArgs {
    /// The format
    #[arg(long, value_enum, default_value = "yaml")]
    format: ExportFormat,
    /// Only the alerts that this source manages
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    #[command(flatten)]
    connection: ConnectionArgs,
}

/// Prints all alerts, oldest first.
pub(super) fn run(args: &ExportArgs) -> Result<(), CommandError> {
    let client = args.connection.client()?;
    let filter = RemoteAlertFilter {
        source: args.source.clone(),
        ..RemoteAlertFilter::default()
    };
    let mut alerts = block_on(async { Ok(client.alerts(&filter).await?) })?;
    alerts.reverse();
    print(&text(&alerts, args.format)?)
}

fn text(alerts: &[RemoteAlert], format: ExportFormat) -> anyhow::Result<String> {
    let file = exported_file(alerts);
    Ok(match format {
        ExportFormat::Yaml => yaml_serde::to_string(&file).context("cannot write the alerts as YAML")?,
        ExportFormat::Toml => toml::to_string_pretty(&file).context("cannot write the alerts as TOML")?,
        ExportFormat::Json => format!("{}\n", serde_json::to_string_pretty(&file)?),
        ExportFormat::Csv => csv_text(alerts)?,
    })
}

/// The columns of a table. Cells that a spreadsheet would take for formulas begin with an apostrophe.
const COLUMNS: [&str; 12] = [
    "id",
    "source",
    "name",
    "symbol",
    "condition",
    "threshold",
    "parameters",
    "options",
    "status",
    "note",
    "tags",
    "created_at",
];

fn csv_text(alerts: &[RemoteAlert]) -> anyhow::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS)?;
    for alert in alerts {
        let json = |members: &Option<serde_json::Map<_, _>>| match members {
            Some(members) => serde_json::Value::from(members.clone()).to_string(),
            None => String::new(),
        };
        let managed = alert.managed_by.as_ref();
        let stocks = alert.scope.as_ref().map(ToString::to_string);
        let cells = [
            alert.id.to_string(),
            managed.map(|managed| managed.source.clone()).unwrap_or_default(),
            managed.map(|managed| managed.name.clone()).unwrap_or_default(),
            alert.symbol.clone().or(stocks).unwrap_or_default(),
            alert.condition.clone(),
            alert.threshold.as_ref().map(ToString::to_string).unwrap_or_default(),
            json(&alert.parameters),
            json(&alert.options),
            alert.status.clone(),
            alert.note.clone().unwrap_or_default(),
            alert.tags.clone().unwrap_or_default().join(","),
            alert.created_at.clone(),
        ];
        writer.write_record(cells.map(without_formula))?;
    }
    let bytes = writer
        .into_inner()
        .map_err(|error| anyhow::anyhow!("cannot write the table: {error}"))?;
    Ok(String::from_utf8(bytes)?)
}

fn without_formula(cell: String) -> String {
    match cell.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        true => format!("'{cell}"),
        false => cell,
    }
}
