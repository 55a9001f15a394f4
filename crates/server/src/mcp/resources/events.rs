//! `bellwether://events`

use foundation::Actor;
use service::PageRequest;

use crate::mcp::tools::ToolError;
use crate::response::ListPage;
use crate::routes::alerts::history::HistoryEntry;
use crate::state::App;

/// The page of firings that the resource shows.
const LATEST_PAGE: PageRequest = PageRequest { page: 1, limit: 50 };

/// Returns the latest firings, in the format of `list_alert_events`.
pub(super) async fn read(app: &App, actor: &Actor) -> Result<ListPage<HistoryEntry>, ToolError> {
    let page = app.service().alerts.firings_since(actor, None, LATEST_PAGE).await?;
    Ok(ListPage::of(page, LATEST_PAGE, HistoryEntry::of))
}
