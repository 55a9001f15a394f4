//! `bellwether://events`

use jiff::Timestamp;
use serde::Serialize;
use service::{Actor, PageRequest};

use crate::answer::Pagination;
use crate::app::App;
use crate::mcp::tools::ToolError;
use crate::routes::alerts::history::{self, HistoryEntry};

/// How many firings the resource shows.
const LATEST: PageRequest = PageRequest { page: 1, limit: 50 };

/// The latest firings, as `list_alert_events` has them.
#[derive(Debug, Serialize)]
pub(super) struct LatestFirings {
    items: Vec<HistoryEntry>,
    pagination: Pagination,
}

pub(super) async fn read(app: &App, actor: &Actor) -> Result<LatestFirings, ToolError> {
    let page = app.service().alerts.firings(actor, Timestamp::MIN, LATEST).await?;
    let (items, pagination) = history::shown(page, LATEST);
    Ok(LatestFirings { items, pagination })
}
