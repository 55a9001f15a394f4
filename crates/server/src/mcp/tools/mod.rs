//! The eleven tools.

mod arguments;
mod changes;
mod create_alert;
mod error_text;
mod get_alert;
mod output_schema;
mod reads;
mod tool_output;

use foundation::{Actor, Scope};
use rmcp::model::{Tool as ToolDescription, ToolAnnotations};
use serde_json::{Map, Value, json};
use service::approvals::{AgentChange, AgentChangeOutcome, CompletedChange};

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
    pub(crate) const ALL: [Self; 11] = [
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

    /// Returns the name, and the required scope, which is the scope of the REST endpoint.
    const fn name_and_scope(self) -> (&'static str, Scope) {
        match self {
            Self::ListAlerts => ("list_alerts", Scope::AlertsRead),
            Self::GetAlert => ("get_alert", Scope::AlertsRead),
            Self::ListAlertEvents => ("list_alert_events", Scope::AlertsRead),
            Self::CreateAlert => ("create_alert", Scope::AlertsWrite),
            Self::UpdateAlert => ("update_alert", Scope::AlertsWrite),
            Self::PauseAlert => ("pause_alert", Scope::AlertsWrite),
            Self::ResumeAlert => ("resume_alert", Scope::AlertsWrite),
            Self::DeleteAlert => ("delete_alert", Scope::AlertsWrite),
            Self::ListWatchlist => ("list_watchlist", Scope::WatchlistRead),
            Self::CreateWatchlistItem => ("create_watchlist_item", Scope::WatchlistWrite),
            Self::DeleteWatchlistItem => ("delete_watchlist_item", Scope::WatchlistWrite),
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        self.name_and_scope().0
    }

    pub(crate) const fn scope(self) -> Scope {
        self.name_and_scope().1
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Returns the rate limit group of its calls.
    pub(crate) const fn group(self) -> RateLimitGroup {
        match self.scope() {
            Scope::WatchlistRead | Scope::WatchlistWrite => RateLimitGroup::Watchlist,
            _ => RateLimitGroup::Alerts,
        }
    }

    fn definition(self) -> ToolDefinition {
        match self {
            Self::ListAlerts => reads::list_alerts(),
            Self::GetAlert => get_alert::definition(),
            Self::ListAlertEvents => reads::list_alert_events(),
            Self::CreateAlert => create_alert::definition(),
            Self::UpdateAlert => changes::update_alert(),
            Self::PauseAlert => changes::pause_alert(),
            Self::ResumeAlert => changes::resume_alert(),
            Self::DeleteAlert => changes::delete_alert(),
            Self::ListWatchlist => reads::list_watchlist(),
            Self::CreateWatchlistItem => changes::create_watchlist_item(),
            Self::DeleteWatchlistItem => changes::delete_watchlist_item(),
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
    let mut arguments = Arguments::read(&catalog.description(tool).input_schema, arguments)?;
    if tool == Tool::CreateAlert {
        create_alert::move_expression(&mut arguments)?;
        if let Some(preview) = create_alert::preview(app, actor, &mut arguments).await? {
            return Ok(preview);
        }
    }
    let change = match tool {
        Tool::ListAlerts => return reads::read_alerts(app, actor, arguments).await,
        Tool::GetAlert => return get_alert::read(app, actor, arguments).await,
        Tool::ListAlertEvents => return reads::read_alert_events(app, actor, arguments).await,
        Tool::ListWatchlist => return reads::read_watchlist(app, actor).await,
        Tool::CreateAlert => create_alert::change(arguments),
        Tool::UpdateAlert => AgentChange::UpdateAlert(arguments.alert_id()?, arguments.body()),
        Tool::PauseAlert => AgentChange::PauseAlert(arguments.alert_id()?),
        Tool::ResumeAlert => AgentChange::ResumeAlert(arguments.alert_id()?),
        Tool::DeleteAlert => AgentChange::DeleteAlert(arguments.confirmed(Arguments::alert_id)?),
        Tool::CreateWatchlistItem => AgentChange::CreateWatchlistItem(arguments.body()),
        Tool::DeleteWatchlistItem => AgentChange::DeleteWatchlistItem(arguments.confirmed(Arguments::item_id)?),
    };
    let asked = app.service().approvals.change_as_agent(actor, &change).await;
    match asked.map_err(|error| error_text::for_agent(tool, error))? {
        AgentChangeOutcome::Done(CompletedChange::Created(created)) => create_alert::output(created),
        AgentChangeOutcome::Done(changed) => ToolOutput::of(&AppliedChange::of(changed)),
        AgentChangeOutcome::Pending(approval) => ToolOutput::of(&PendingApprovalResponse::of(*approval, app.service())),
    }
}
