//! `bellwether://events`

use foundation::Actor;
use jiff::Timestamp;
use serde::Serialize;
use service::PageRequest;

use crate::mcp::tools::ToolError;
use crate::response::Pagination;
use crate::routes::alerts::history::{self, HistoryEntry};
use crate::state::App;

/// The page of firings that the resource shows.
const LATEST_PAGE: PageRequest = PageRequest { page: 1, limit: 50 };

/// The latest firings, in the format of `list_alert_events`.
#[derive(Debug, Serialize)]
pub(super) struct LatestFirings {
    items: Vec<HistoryEntry>,
    pagination: Pagination,
}

pub(super) async fn read(app: &App, actor: &Actor) -> Result<LatestFirings, ToolError> {
    let page = app.service().alerts.firings(actor, Timestamp::MIN, LATEST_PAGE).await?;
    let (items, pagination) = history::history_page(page, LATEST_PAGE);
    Ok(LatestFirings { items, pagination })
}
