//! `bellwether import`: creates the alerts of a file of another program, or of a file of alerts, and reports each of them.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use alert_files::{
    ChannelIds, FileFormat, FileSet, ImportSkip, ImportedItem, SourceFile, read_stockalert, read_tradingview,
};
use alerts::request::ParseContext;
use anyhow::Context;
use clap::{Args, ValueEnum};
use client::{Client, ClientError};
use clock::Clock;
use market::Calendar;
use market::calendar::new_york_time_zone;
use serde_json::{Map, Value};

use super::super::{CommandError, print};
use super::connection::{ConnectionArgs, block_on};
use super::table::table;
use crate::clock::SystemClock;

/// The largest number of changes in a batch.
const MAX_BATCH: usize = 1_000;

/// The program that wrote a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum ImportFormat {
    /// A file of alerts of this program
    Bellwether,
    /// The responses of `GET /alerts` of a service with the same API, as JSON
    Stockalert,
    /// A CSV file of TradingView alerts with the columns Ticker and Condition or Description
    TradingviewCsv,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct ImportArgs {
    /// The file
    file: PathBuf,
    /// The program that wrote it
    #[arg(long, value_enum, default_value = "bellwether")]
    from: ImportFormat,
    /// Import alerts that are not active, too
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

/// Imports the alerts. Equivalent alerts that exist are not doubled. Fails if an alert is refused or not understood.
pub(super) fn run(args: &ImportArgs) -> Result<(), CommandError> {
    let name = args.file.display().to_string();
    let text = fs::read_to_string(&args.file).with_context(|| format!("cannot read {name}"))?;
    let items = match args.from {
        ImportFormat::Bellwether => read_own(&name, &text)?,
        ImportFormat::Stockalert => read_stockalert(&text, args.all).with_context(|| name.clone())?,
        ImportFormat::TradingviewCsv => read_tradingview(&text).with_context(|| name.clone())?,
    };
    let client = args.connection.client()?;
    let results = block_on(import(&client, &items))?;
    let rows: Vec<_> = items
        .iter()
        .zip(&results)
        .map(|(item, result)| [item.place.clone(), item.title.clone(), result.text.clone()])
        .collect();
    print(&table(["place", "alert", "result"], &rows))?;
    match results.iter().filter(|result| result.is_failure).count() {
        0 => Ok(()),
        count => Err(CommandError::Failed(anyhow::anyhow!(
            "{count} of {} alerts were not imported; all others are",
            items.len()
        ))),
    }
}

/// The result of an item, for the report.
#[derive(Clone)]
struct ItemResult {
    text: String,
    is_failure: bool,
}

fn read_own(name: &str, text: &str) -> Result<Vec<ImportedItem>, CommandError> {
    let format = FileFormat::of_name(name).context("the name of the file must end in .yaml, .toml or .json")?;
    let failed = |errors: alert_files::FileErrors| CommandError::Failed(errors.into());
    let file = SourceFile { name, text, format };
    let set = FileSet::read(&[file], &|name| std::env::var(name).ok()).map_err(failed)?;
    let context = ParseContext {
        now: SystemClock.now(),
        time_zone: &new_york_time_zone(),
        calendar: &Calendar::nyse(),
    };
    let alerts = set.validate(&ChannelIds::new(), &context).map_err(failed)?;
    let items = alerts.into_iter().map(|alert| ImportedItem {
        place: format!("line {}", alert.declared.position().line),
        title: alert.declared.name.clone(),
        body: Ok(alert.body),
    });
    Ok(items.collect())
}

async fn import(client: &Client, items: &[ImportedItem]) -> Result<Vec<ItemResult>, CommandError> {
    let mut results: HashMap<usize, ItemResult> = HashMap::new();
    let mut accepted: Vec<(usize, &Map<String, Value>)> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        match &item.body {
            Ok(body) => accepted.push((index, body)),
            Err(skip) => drop(results.insert(
                index,
                ItemResult {
                    text: skip.to_string(),
                    is_failure: matches!(skip, ImportSkip::NotUnderstood(_)),
                },
            )),
        }
    }
    for part in accepted.chunks(MAX_BATCH) {
        import_part(client, part, &mut results).await?;
    }
    let unknown = ItemResult {
        text: "not imported".to_owned(),
        is_failure: true,
    };
    Ok((0..items.len())
        .map(|index| results.get(&index).cloned().unwrap_or_else(|| unknown.clone()))
        .collect())
}

/// Creates the alerts that the server accepts. The others are found by a dry run.
async fn import_part(
    client: &Client,
    part: &[(usize, &Map<String, Value>)],
    results: &mut HashMap<usize, ItemResult>,
) -> Result<(), CommandError> {
    let mut left: Vec<(usize, &Map<String, Value>)> = part.to_vec();
    if let Err(error) = client.change_alerts(batch(&left, true)).await {
        let refused = refused_items(&error);
        if refused.is_empty() {
            return Err(error.into());
        }
        for (place, message) in refused {
            if let Some((index, _)) = part.get(place) {
                let text = format!("refused: {message}");
                results.insert(*index, ItemResult { text, is_failure: true });
            }
        }
        left.retain(|(index, _)| !results.contains_key(index));
    }
    if left.is_empty() {
        return Ok(());
    }
    let changed = client.change_alerts(batch(&left, false)).await?;
    for ((index, _), created) in left.iter().zip(&changed.create) {
        let text = match created.result.as_str() {
            "existing" => format!("exists already as {}", created.alert.id),
            result => format!("{result} as {}", created.alert.id),
        };
        results.insert(
            *index,
            ItemResult {
                text,
                is_failure: false,
            },
        );
    }
    Ok(())
}

fn batch(items: &[(usize, &Map<String, Value>)], is_dry_run: bool) -> Map<String, Value> {
    let bodies = items.iter().map(|(_, body)| Value::Object((*body).clone()));
    Map::from_iter([
        ("create".to_owned(), bodies.collect()),
        ("dry_run".to_owned(), is_dry_run.into()),
    ])
}

/// Returns the places and messages of the refused items.
fn refused_items(error: &ClientError) -> Vec<(usize, String)> {
    let refused = error
        .refusal()
        .map(client::RequestRefusal::refused_changes)
        .unwrap_or_default();
    refused
        .into_iter()
        .map(|refused| (refused.index, refused.message))
        .collect()
}
