//! `bellwether alerts …`: the alerts of an account.

use alert_files::create_body;
use clap::{Args, Subcommand};
use client::{Client, RemoteAlert, RemoteAlertFilter, RemoteExplanation, RemotePreview};
use serde::Serialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::super::{CommandError, print};
use super::connection::{ConnectionArgs, block_on};
use super::table::table;

/// The number of firings that a preview shows.
const SHOWN_FIRINGS: usize = 10;

#[derive(Args, Debug)]
pub(in crate::cli) struct AlertsArgs {
    #[command(subcommand)]
    command: AlertsCommand,
    /// Print JSON, one line for each item
    #[arg(long, global = true)]
    json: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(Subcommand, Debug)]
enum AlertsCommand {
    /// List alerts, newest first
    List(ListArgs),
    /// Show an alert with all its fields
    Show {
        /// The id of the alert
        id: Uuid,
    },
    /// Create an alert from a text, such as "AAPL < 180 and rsi < 30 each time"
    Add {
        /// The alert
        text: String,
        /// A note for the notifications
        #[arg(long)]
        note: Option<String>,
        /// A tag; may be repeated
        #[arg(long = "tag", value_name = "TAG")]
        tags: Vec<String>,
    },
    /// Explain why an alert fires, or does not
    Why {
        /// The id of the alert
        id: Uuid,
        /// A time in the past, such as 2026-03-02T15:04:00Z
        #[arg(long)]
        at: Option<String>,
    },
    /// Play an alert over the history: its id, or a text such as "AAPL < 180"
    Preview {
        /// The id or the text
        alert: String,
        /// The first day
        #[arg(long, value_name = "YYYY-MM-DD")]
        from: Option<String>,
        /// The last day
        #[arg(long, value_name = "YYYY-MM-DD")]
        to: Option<String>,
    },
    /// Pause alerts
    Pause(IdsArgs),
    /// Activate paused and fired alerts, with new initial prices
    Resume(IdsArgs),
    /// Delete alerts
    Rm(IdsArgs),
}

#[derive(Args, Debug)]
struct ListArgs {
    /// Only alerts with this status: active, inactive, paused, triggered
    #[arg(long)]
    status: Option<String>,
    /// Only alerts on this stock
    #[arg(long)]
    symbol: Option<String>,
    /// Only alerts with this tag; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Only alerts that this source manages
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// Only alerts whose symbol or company name contains this text
    #[arg(long)]
    search: Option<String>,
}

#[derive(Args, Debug)]
struct IdsArgs {
    /// The ids of the alerts
    #[arg(required = true)]
    ids: Vec<Uuid>,
}

/// Runs a command.
pub(super) fn run(args: &AlertsArgs) -> Result<(), CommandError> {
    let client = args.connection.client()?;
    let text = block_on(output(&client, &args.command, args.json))?;
    print(&text)
}

async fn output(client: &Client, command: &AlertsCommand, is_json: bool) -> Result<String, CommandError> {
    Ok(match command {
        AlertsCommand::List(args) => {
            let filter = RemoteAlertFilter {
                source: args.source.clone(),
                status: args.status.clone(),
                symbol: args.symbol.clone(),
                tags: args.tags.clone(),
                search: args.search.clone(),
            };
            let alerts = client.alerts(&filter).await?;
            shown(&alerts, is_json, list_text)
        }
        AlertsCommand::Show { id } => {
            let alert = client.alert(*id).await?;
            shown(&[alert], is_json, |alerts| alerts.iter().map(alert_text).collect())
        }
        AlertsCommand::Add { text, note, tags } => add(client, text, note.as_deref(), tags, is_json).await?,
        AlertsCommand::Why { id, at } => {
            let explanation = client.explain_alert(*id, at.as_deref()).await?;
            shown(&[explanation], is_json, |all| {
                all.iter().map(explanation_text).collect()
            })
        }
        AlertsCommand::Preview { alert, from, to } => {
            let body = match Uuid::try_parse(alert) {
                Ok(id) => create_body(&client.alert(id).await?),
                Err(_) => client.parse_alert(alert).await?.alert,
            };
            let preview = client.preview_alert(body, from.as_deref(), to.as_deref()).await?;
            shown(&[preview], is_json, |all| all.iter().map(preview_text).collect())
        }
        AlertsCommand::Pause(args) => {
            let mut changed = Vec::new();
            for id in &args.ids {
                changed.push(client.pause_alert(*id).await?);
            }
            shown(&changed, is_json, status_text)
        }
        AlertsCommand::Resume(args) => {
            let mut changed = Vec::new();
            for id in &args.ids {
                changed.push(client.activate_alert(*id).await?);
            }
            shown(&changed, is_json, status_text)
        }
        AlertsCommand::Rm(args) => {
            let mut deleted = Vec::new();
            for id in &args.ids {
                client.delete_alert(*id).await?;
                deleted.push(client::RemoteAlertStatus {
                    alert_id: *id,
                    status: "deleted".to_owned(),
                });
            }
            shown(&deleted, is_json, status_text)
        }
    })
}

async fn add(
    client: &Client,
    text: &str,
    note: Option<&str>,
    tags: &[String],
    is_json: bool,
) -> Result<String, CommandError> {
    let parsed = client.parse_alert(text).await?;
    let mut body: Map<String, Value> = parsed.alert;
    if let Some(note) = note {
        body.insert("note".to_owned(), note.into());
    }
    if !tags.is_empty() {
        body.insert("tags".to_owned(), json!(tags));
    }
    let created = client.create_alert(body).await?;
    if is_json {
        return Ok(format!(
            "{}\n",
            json!({"created": created.is_new, "alert": created.alert})
        ));
    }
    let result = if created.is_new { "created" } else { "exists already" };
    Ok(format!("{} {result}: {}\n", created.alert.id, parsed.sentence))
}

/// Returns items as JSON lines, or as text.
fn shown<T: Serialize>(items: &[T], is_json: bool, text: impl Fn(&[T]) -> String) -> String {
    if !is_json {
        return text(items);
    }
    items.iter().map(|item| format!("{}\n", json!(item))).collect()
}

fn list_text(alerts: &[RemoteAlert]) -> String {
    let rows: Vec<_> = alerts
        .iter()
        .map(|alert| {
            let name = alert
                .managed_by
                .as_ref()
                .map(|managed| format!("{}/{}", managed.source, managed.name));
            [
                alert.id.to_string(),
                stocks_text(alert),
                condition_text(alert),
                alert.status.clone(),
                name.unwrap_or_default(),
            ]
        })
        .collect();
    table(["id", "stock", "condition", "status", "managed by"], &rows)
}

fn stocks_text(alert: &RemoteAlert) -> String {
    let scope = alert.scope.as_ref().map(ToString::to_string);
    alert.symbol.clone().or(scope).unwrap_or_default()
}

/// Returns the condition with its threshold, or its expression.
fn condition_text(alert: &RemoteAlert) -> String {
    let when = alert.parameters.as_ref().and_then(|parameters| parameters.get("when"));
    match (when.and_then(Value::as_str), &alert.threshold) {
        (Some(when), _) => when.to_owned(),
        (None, Some(threshold)) => format!("{} {threshold}", alert.condition),
        (None, None) => alert.condition.clone(),
    }
}

fn alert_text(alert: &RemoteAlert) -> String {
    let value = json!(alert);
    let members = value.as_object().into_iter().flatten();
    let rows: Vec<_> = members
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            [name.clone(), text]
        })
        .collect();
    table(["field", "value"], &rows)
}

fn status_text(changed: &[client::RemoteAlertStatus]) -> String {
    let lines = changed
        .iter()
        .map(|alert| format!("{} {}\n", alert.alert_id, alert.status));
    lines.collect()
}

fn explanation_text(explanation: &RemoteExplanation) -> String {
    let holds = |holds: Option<bool>| match holds {
        Some(true) => "holds",
        Some(false) => "does not hold",
        None => "is unknown",
    };
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let rows: Vec<_> = explanation
        .terms
        .iter()
        .map(|term| {
            [
                term.text.clone(),
                number(term.left),
                number(term.right),
                number(term.distance_pct),
                holds(term.holds).to_owned(),
            ]
        })
        .collect();
    let mut text = format!("{}: {}\n", explanation.sentence, holds(explanation.holds));
    if !rows.is_empty() {
        text.push_str(&table(["comparison", "left", "right", "distance in %", ""], &rows));
    }
    for gate in &explanation.gates {
        text.push_str(&format!("{}: {}\n", gate.gate, gate.message));
    }
    text
}

fn preview_text(preview: &RemotePreview) -> String {
    let period = match (&preview.coverage.from, &preview.coverage.to) {
        (Some(from), Some(to)) => format!("{from} to {to}"),
        _ => "no data".to_owned(),
    };
    let per_year = preview
        .per_year
        .map(|rate| format!(", {rate} a year"))
        .unwrap_or_default();
    let mut text = format!("{} firings from {period}{per_year}\n", preview.count);
    let rows: Vec<_> = preview
        .firings
        .iter()
        .rev()
        .take(SHOWN_FIRINGS)
        .map(|firing| {
            let price = firing.price.map(|price| price.to_string()).unwrap_or_default();
            [firing.time.clone(), firing.symbol.clone(), price, firing.reason.clone()]
        })
        .collect();
    if !rows.is_empty() {
        text.push_str(&table(["time", "stock", "price", "reason"], &rows));
    }
    if let Some(noise) = &preview.noise {
        text.push_str(&format!("{}; {}\n", noise.message, noise.suggestion));
    }
    text
}
