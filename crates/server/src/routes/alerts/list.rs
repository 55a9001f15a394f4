//! `GET /alerts`

use alerts::{AlertId, MAX_MANAGED_NAME_CHARACTERS};
use foundation::Actor;
use http::Uri;
use service::alerts::{AlertItem, ListState};
use service::{AlertFilter, AlertSort, AlertSortField, ListRequest, Page};

use super::view::ListedAlert;
use crate::document::names::{ConditionName, ListStatus, SortDirection, SortField};
use crate::list_cache::{CachedList, ListKey};
use crate::response::ResponseBody;
use crate::routes::prelude::*;

const MAX_SEARCH_CHARS: usize = 100;

type AlertsPage = ListParams<AlertId, 10, 100>;

/// Returns the names of statuses in a query.
pub(in crate::routes) fn status_choices() -> Vec<(&'static str, alerts::Status)> {
    alerts::Status::ALL
        .iter()
        .map(|status| (status.name(), *status))
        .collect()
}

/// Returns the names of conditions in a query.
pub(in crate::routes) fn condition_choices() -> Vec<(&'static str, alerts::ConditionKind)> {
    alerts::ConditionKind::ALL
        .iter()
        .map(|kind| (kind.name(), *kind))
        .collect()
}

pub(crate) const SORT_FIELDS: &[(&str, AlertSortField)] = &[
    ("created_at", AlertSortField::CreatedAt),
    ("symbol", AlertSortField::Symbol),
    ("condition", AlertSortField::Condition),
    ("status", AlertSortField::Status),
    ("threshold", AlertSortField::Threshold),
    ("triggered_at", AlertSortField::TriggeredAt),
    ("initial_price", AlertSortField::InitialPrice),
];

/// Query parameters: filter, sort order and level of detail.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; `ListAlertsQuery` reads them")]
pub struct ListAlertsParams {
    /// Only alerts with this status.
    #[param(inline)]
    status: Option<ListStatus>,
    /// Only alerts with this condition.
    #[param(inline)]
    condition: Option<ConditionName>,
    /// Only alerts whose symbol or company name contains this text, ignoring case.
    #[param(max_length = 100, pattern = "^[^\\u0000]*$", example = "apple")]
    search: Option<String>,
    /// Only alerts on this stock.
    #[param(pattern = "^[A-Za-z0-9.-]{1,10}$", example = "AAPL")]
    symbol: Option<String>,
    /// Only alerts that have all these tags: up to 20, separated by commas. Upper and lower case are different.
    #[param(
        pattern = "^[^,\\u0000-\\u001f\\u007f-\\u009f]{0,40}(,[^,\\u0000-\\u001f\\u007f-\\u009f]{0,40}){0,19}$",
        example = "earnings,swing"
    )]
    tags: Option<String>,
    /// Only alerts that this source manages (`managed_by.source`).
    #[param(max_length = 100, pattern = "^[^\\u0000]*$", example = "trading-alerts")]
    source: Option<String>,
    /// Sort field.
    #[param(inline)]
    sort_field: Option<SortField>,
    /// Sort direction.
    #[param(inline)]
    sort_direction: Option<SortDirection>,
    /// Returns only `id`, `symbol`, `condition`, `threshold` and `status` of each alert. Takes precedence over `extended`.
    #[param(default = false)]
    minimal: Option<bool>,
    /// Adds the stock's figures, the evaluation state and the distance to firing to each alert.
    #[param(default = false)]
    extended: Option<bool>,
}

struct ListAlertsQuery {
    filter: AlertFilter,
    sort: AlertSort,
    page: ListRequest<AlertId>,
    minimal: bool,
    extended: bool,
}

impl ListAlertsQuery {
    fn read(mut query: Query) -> Result<Self, ApiError> {
        let minimal = query.flag("minimal");
        let parsed = Self {
            page: AlertsPage::read(&mut query),
            filter: AlertFilter {
                status: query.choice("status", &status_choices()),
                condition: query.choice("condition", &condition_choices()),
                symbol: query.symbol("symbol"),
                search: query.text("search", MAX_SEARCH_CHARS),
                tags: query.tags("tags"),
                source: query.text("source", MAX_MANAGED_NAME_CHARACTERS),
            },
            sort: AlertSort {
                field: query.choice("sort_field", SORT_FIELDS).unwrap_or_default(),
                ascending: query
                    .choice("sort_direction", &[("asc", true), ("desc", false)])
                    .unwrap_or(false),
            },
            minimal,
            extended: query.flag("extended") && !minimal,
        };
        query.finish()?;
        Ok(parsed)
    }

    /// Whether the list depends only on its [`ListState`]. A search finds names of companies, and distances change with prices.
    fn is_cacheable(&self) -> bool {
        self.filter.search.is_none() && !self.extended
    }

    async fn find(&self, app: &App, actor: &Actor) -> Result<Page<AlertItem>, ApiError> {
        let alerts = &app.service().alerts;
        let found = alerts
            .alerts(actor, &self.filter, self.sort, self.page, self.extended)
            .await;
        Ok(found?)
    }

    fn view(&self, found: Page<AlertItem>) -> ListPage<ListedAlert> {
        ListPage::of(found, self.page, |item| ListedAlert::of(item, self.minimal))
    }
}

/// List alerts
///
/// Returns a page of the account's alerts. Unknown parameters are ignored.
#[utoipa::path(
    get,
    path = "/alerts",
    tag = "Alerts",
    params(AlertsPage, ListAlertsParams),
    responses((status = 200, description = "A page of alerts", body = Envelope<Vec<ListedAlert>>)),
    security(("ApiKeyHeader" = ["alerts:read"]))
)]
pub(super) async fn list_alerts(
    State(app): State<App>,
    caller: Authorized<AlertsRead>,
    headers: HeaderMap,
    uri: Uri,
    query: Query,
) -> Result<Response, ApiError> {
    let (actor, query) = (&caller.actor, ListAlertsQuery::read(query)?);
    let is_conditional = headers.contains_key(header::IF_NONE_MATCH) && query.is_cacheable();
    let Some(key) = ListKey::new(actor.account, uri.query()).filter(|_| is_conditional) else {
        let found = query.find(&app, actor).await?;
        return Ok(ApiResponse::page(query.view(found)).into_response());
    };
    let alerts = &app.service().alerts;
    if let Some(list) = app.list_cache().get(&key, app.now())
        && list.tag.matches(&headers.get_all(header::IF_NONE_MATCH))
        && !alerts.has_changed(actor, &list.state).await?
    {
        return Ok(list.tag.not_modified());
    }
    let revision = alerts.revision(actor).await?;
    let found = query.find(&app, actor).await?;
    let state = ListState::of(revision, &found.items, !query.minimal);
    let response = ApiResponse::page(query.view(found)).into_response();
    if let Some(tag) = response.extensions().get().and_then(ResponseBody::entity_tag) {
        let read_at = app.now();
        app.list_cache().insert(key, CachedList { tag, state, read_at });
    }
    Ok(response)
}

/// Reads the query and returns the requested page.
pub(crate) async fn page(app: &App, actor: &Actor, query: Query) -> Result<ListPage<ListedAlert>, ApiError> {
    let query = ListAlertsQuery::read(query)?;
    Ok(query.view(query.find(app, actor).await?))
}
