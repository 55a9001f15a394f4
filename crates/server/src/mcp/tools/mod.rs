//! The eleven tools, one file each.

pub(super) mod answer;
mod arguments;
mod create_alert;
mod create_watchlist_item;
mod delete_alert;
mod delete_watchlist_item;
mod get_alert;
mod list_alert_events;
mod list_alerts;
mod list_watchlist;
mod output;
mod pause_alert;
mod refusals;
mod resume_alert;
mod update_alert;

use std::sync::LazyLock;

use rmcp::model::{Tool as Described, ToolAnnotations};
use serde_json::{Map, Value, json};
use service::approvals::{Asked, Changed};
use service::{Actor, Scope};

pub(super) use answer::{Answer, ToolError};
use arguments::Arguments;

use crate::app::App;
use crate::layers::limit::Group;
use crate::routes::approvals::view::{ChangeMade, WaitingChange};

/// A tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tool {
    /// Reads a page of alerts.
    ListAlerts,
    /// Reads an alert.
    GetAlert,
    /// Reads what happened to an alert.
    ListAlertEvents,
    /// Makes an alert.
    CreateAlert,
    /// Changes an alert.
    UpdateAlert,
    /// Puts an alert aside.
    PauseAlert,
    /// Takes an alert up again.
    ResumeAlert,
    /// Deletes an alert.
    DeleteAlert,
    /// Reads the watchlist.
    ListWatchlist,
    /// Adds a stock to the watchlist.
    CreateWatchlistItem,
    /// Takes a stock off the watchlist.
    DeleteWatchlistItem,
}

impl Tool {
    /// All there are.
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

    /// What agents call it by.
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

    /// The tool of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// What it takes to call it: the same as for its REST endpoint.
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

    /// With which requests its calls are counted.
    pub(crate) const fn group(self) -> Group {
        match self {
            Self::ListWatchlist | Self::CreateWatchlistItem | Self::DeleteWatchlistItem => Group::Watchlist,
            _ => Group::Alerts,
        }
    }

    fn definition(self) -> Definition {
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

/// What a tool says of itself.
struct Definition {
    title: &'static str,
    description: String,
    effect: Effect,
    /// The schemas of its arguments, and which of them must be there.
    arguments: Value,
    required: &'static [&'static str],
    /// The schema of what it answers.
    output: Map<String, Value>,
}

/// What a tool does to what is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Effect {
    /// Nothing.
    Reads,
    /// It adds, or changes what can be changed back.
    Adds,
    /// Something that was there is gone afterwards.
    Destroys,
}

impl Effect {
    fn hints(self, title: &str) -> ToolAnnotations {
        // Doing any of it twice does no more than doing it once: an equivalent alert is not made again. What stocks there
        // are is known here; no tool asks the world outside.
        ToolAnnotations::with_title(title)
            .read_only(self == Self::Reads)
            .destructive(self == Self::Destroys)
            .idempotent(true)
            .open_world(false)
    }
}

static DESCRIBED: LazyLock<Vec<Described>> = LazyLock::new(|| Tool::ALL.into_iter().map(describe).collect());

/// The tools that the caller has the scopes for.
pub(super) fn described(actor: &Actor) -> Vec<Described> {
    let allowed = Tool::ALL.into_iter().filter(|tool| actor.require(tool.scope()).is_ok());
    allowed.map(|tool| described_as(tool).clone()).collect()
}

/// A tool as agents are shown it.
pub(super) fn described_as(tool: Tool) -> &'static Described {
    // They are in the order of the tools.
    &DESCRIBED[tool as usize]
}

fn describe(tool: Tool) -> Described {
    let definition = tool.definition();
    let mut input = Map::new();
    input.insert("type".to_owned(), json!("object"));
    input.insert("properties".to_owned(), definition.arguments);
    input.insert("required".to_owned(), json!(definition.required));
    input.insert("additionalProperties".to_owned(), json!(false));
    Described::new(tool.name(), definition.description, input)
        .with_title(definition.title)
        .with_raw_output_schema(definition.output.into())
        .with_annotations(definition.effect.hints(definition.title))
}

/// Calls a tool for somebody who may.
pub(super) async fn call(
    tool: Tool,
    app: &App,
    actor: &Actor,
    arguments: Map<String, Value>,
) -> Result<Answer, ToolError> {
    // The front has asked already, and would have said so better. No tool may depend on that.
    actor.require(tool.scope())?;
    let arguments = Arguments::read(&described_as(tool).input_schema, arguments)?;
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
    match asked.map_err(|error| refusals::of(tool, error))? {
        Asked::Done(Changed::Created(created)) => create_alert::answer(created),
        Asked::Done(changed) => Answer::of(&ChangeMade::of(changed)),
        Asked::Waits(approval) => Answer::of(&WaitingChange::of(*approval, app.service())),
    }
}
