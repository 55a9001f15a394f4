//! The eleven tools, one file each.

mod arguments;
mod create_alert;
mod create_watchlist_item;
mod delete_alert;
mod delete_watchlist_item;
mod error_text;
mod get_alert;
mod list_alert_events;
mod list_alerts;
mod list_watchlist;
mod output_schema;
mod pause_alert;
mod resume_alert;
pub(super) mod tool_output;
mod update_alert;

use foundation::{Actor, Scope};
use rmcp::model::{Tool as ToolDescription, ToolAnnotations};
use serde_json::{Map, Value, json};
use service::approvals::{AgentChangeOutcome, CompletedChange};

use arguments::Arguments;
use output_schema::OutputSchema;
pub(super) use tool_output::{ToolError, ToolOutput};

use crate::rate_limiter::RateLimitGroup;
use crate::routes::approvals::view::{AppliedChange, PendingApprovalResponse};
use crate::state::App;

/// A tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tool {
    /// Reads a page of alerts.
    ListAlerts,
    /// Reads an alert.
    GetAlert,
    /// Reads the events of an alert, or the firings of all alerts.
    ListAlertEvents,
    /// Creates an alert.
    CreateAlert,
    /// Updates an alert.
    UpdateAlert,
    /// Pauses an alert.
    PauseAlert,
    /// Resumes an alert.
    ResumeAlert,
    /// Deletes an alert.
    DeleteAlert,
    /// Reads the watchlist.
    ListWatchlist,
    /// Adds a stock to the watchlist.
    CreateWatchlistItem,
    /// Removes a stock from the watchlist.
    DeleteWatchlistItem,
}

impl Tool {
    /// All tools.
    pub const ALL: [Self; 11] = [
        Self::ListAlerts,
        Self::GetAlert,
        Self::ListAlertEvents,
        Self::CreateAlert,
        Self::UpdateAlert,
        Self::PauseAlert,
        Self::ResumeAlert,
        Self::DeleteAlert,
        Self::ListWatchlist,
        Self::CreateWatchlistItem,
        Self::DeleteWatchlistItem,
    ];

    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ListAlerts => "list_alerts",
            Self::GetAlert => "get_alert",
            Self::ListAlertEvents => "list_alert_events",
            Self::CreateAlert => "create_alert",
            Self::UpdateAlert => "update_alert",
            Self::PauseAlert => "pause_alert",
            Self::ResumeAlert => "resume_alert",
            Self::DeleteAlert => "delete_alert",
            Self::ListWatchlist => "list_watchlist",
            Self::CreateWatchlistItem => "create_watchlist_item",
            Self::DeleteWatchlistItem => "delete_watchlist_item",
        }
    }

    /// Returns the tool with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Returns the required scope, which is the scope of the REST endpoint.
    #[must_use]
    pub const fn scope(self) -> Scope {
        match self {
            Self::ListAlerts | Self::GetAlert | Self::ListAlertEvents => Scope::AlertsRead,
            Self::CreateAlert | Self::UpdateAlert | Self::PauseAlert | Self::ResumeAlert | Self::DeleteAlert => {
                Scope::AlertsWrite
            }
            Self::ListWatchlist => Scope::WatchlistRead,
            Self::CreateWatchlistItem | Self::DeleteWatchlistItem => Scope::WatchlistWrite,
        }
    }

    /// Returns the rate limit group of its calls.
    pub(crate) const fn group(self) -> RateLimitGroup {
        match self {
            Self::ListWatchlist | Self::CreateWatchlistItem | Self::DeleteWatchlistItem => RateLimitGroup::Watchlist,
            _ => RateLimitGroup::Alerts,
        }
    }

    fn definition(self) -> ToolDefinition {
        match self {
            Self::ListAlerts => list_alerts::definition(),
            Self::GetAlert => get_alert::definition(),
            Self::ListAlertEvents => list_alert_events::definition(),
            Self::CreateAlert => create_alert::definition(),
            Self::UpdateAlert => update_alert::definition(),
            Self::PauseAlert => pause_alert::definition(),
            Self::ResumeAlert => resume_alert::definition(),
            Self::DeleteAlert => delete_alert::definition(),
            Self::ListWatchlist => list_watchlist::definition(),
            Self::CreateWatchlistItem => create_watchlist_item::definition(),
            Self::DeleteWatchlistItem => delete_watchlist_item::definition(),
        }
    }
}

/// The definition of a tool.
struct ToolDefinition {
    title: &'static str,
    description: String,
    effect: ToolEffect,
    /// The schemas of the arguments.
    arguments: Value,
    /// The required arguments.
    required: &'static [&'static str],
    /// The schema of the result.
    output: OutputSchema,
}

/// The effect of a tool on existing data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ToolEffect {
    /// Reads data.
    Reads,
    /// Adds data, or makes a reversible change.
    Adds,
    /// Removes or overwrites data.
    Destroys,
}

impl ToolEffect {
    fn hints(self, title: &str) -> ToolAnnotations {
        // All tools are idempotent: an equivalent alert is not created again. No tool accesses external systems; the stock
        // catalog is local.
        ToolAnnotations::with_title(title)
            .read_only(self == Self::Reads)
            .destructive(self == Self::Destroys)
            .idempotent(true)
            .open_world(false)
    }
}

/// The descriptions of all tools for agents.
#[derive(Debug)]
pub(super) struct ToolCatalog(Vec<ToolDescription>);

impl ToolCatalog {
    /// Creates the descriptions. `schemas` are the schemas of the OpenAPI document's components.
    pub(super) fn new(schemas: &Value) -> Self {
        Self(Tool::ALL.into_iter().map(|tool| describe(tool, schemas)).collect())
    }

    /// Returns the tools that the caller's scopes permit.
    pub(super) fn allowed(&self, actor: &Actor) -> Vec<ToolDescription> {
        let allowed = Tool::ALL.into_iter().filter(|tool| actor.require(tool.scope()).is_ok());
        allowed.map(|tool| self.description(tool).clone()).collect()
    }

    /// Returns the description of a tool.
    pub(super) fn description(&self, tool: Tool) -> &ToolDescription {
        // The descriptions are in the order of the tools.
        &self.0[tool as usize]
    }
}

fn describe(tool: Tool, schemas: &Value) -> ToolDescription {
    let definition = tool.definition();
    let mut input = Map::new();
    input.insert("type".to_owned(), json!("object"));
    input.insert("properties".to_owned(), definition.arguments);
    input.insert("required".to_owned(), json!(definition.required));
    input.insert("additionalProperties".to_owned(), json!(false));
    ToolDescription::new(tool.name(), definition.description, input)
        .with_title(definition.title)
        .with_raw_output_schema(definition.output.resolve(schemas).into())
        .with_annotations(definition.effect.hints(definition.title))
}

/// Calls a tool.
pub(super) async fn call(
    catalog: &ToolCatalog,
    tool: Tool,
    app: &App,
    actor: &Actor,
    arguments: Map<String, Value>,
) -> Result<ToolOutput, ToolError> {
    // The module `request` has checked the scope already, with a better error. This check does not rely on it.
    actor.require(tool.scope())?;
    let arguments = Arguments::read(&catalog.description(tool).input_schema, arguments)?;
    let change = match tool {
        Tool::ListAlerts => return list_alerts::call(app, actor, arguments).await,
        Tool::GetAlert => return get_alert::call(app, actor, arguments).await,
        Tool::ListAlertEvents => return list_alert_events::call(app, actor, arguments).await,
        Tool::ListWatchlist => return list_watchlist::call(app, actor).await,
        Tool::CreateAlert => create_alert::change(arguments),
        Tool::UpdateAlert => update_alert::change(arguments)?,
        Tool::PauseAlert => pause_alert::change(&arguments)?,
        Tool::ResumeAlert => resume_alert::change(&arguments)?,
        Tool::DeleteAlert => delete_alert::change(&arguments)?,
        Tool::CreateWatchlistItem => create_watchlist_item::change(arguments),
        Tool::DeleteWatchlistItem => delete_watchlist_item::change(&arguments)?,
    };
    let asked = app.service().approvals.change_as_agent(actor, &change).await;
    match asked.map_err(|error| error_text::for_agent(tool, error))? {
        AgentChangeOutcome::Done(CompletedChange::Created(created)) => create_alert::output(created),
        AgentChangeOutcome::Done(changed) => ToolOutput::of(&AppliedChange::of(changed)),
        AgentChangeOutcome::Pending(approval) => ToolOutput::of(&PendingApprovalResponse::of(*approval, app.service())),
    }
}
