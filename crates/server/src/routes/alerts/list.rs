//! `GET /alerts`

use axum::extract::State;
use service::{Actor, AlertFilter, AlertSort, AlertSortField};
use utoipa::IntoParams;

use super::view::ListedAlert;
use crate::answer::{Envelope, Pagination, Reply};
use crate::app::App;
use crate::auth::{AlertsRead, Allowed};
use crate::document::names::{ConditionName, ListStatus, SortDirection, SortField};
use crate::error::ApiError;
use crate::query::Query;

const DEFAULT_LIMIT: u32 = 10;
const MAX_LIMIT: u32 = 100;
const MAX_SEARCH_CHARS: usize = 100;

pub(crate) const SORT_FIELDS: &[(&str, AlertSortField)] = &[
    ("created_at", AlertSortField::CreatedAt),
    ("symbol", AlertSortField::Symbol),
    ("condition", AlertSortField::Condition),
    ("status", AlertSortField::Status),
    ("threshold", AlertSortField::Threshold),
    ("triggered_at", AlertSortField::TriggeredAt),
    ("initial_price", AlertSortField::InitialPrice),
];

/// Which alerts, in which order, how much of each.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; `Wanted` reads them")]
pub struct ListAlertsParams {
    /// The page, from 1.
    #[param(value_type = Option<u64>, minimum = 1, maximum = 4_294_967_294_u64, default = 1)]
    page: Option<u32>,
    /// How many a page has; more than 100 are cut to 100.
    #[param(value_type = Option<u64>, minimum = 1, default = 10)]
    limit: Option<u32>,
    /// Only those of this status.
    #[param(inline)]
    status: Option<ListStatus>,
    /// Only those of this condition.
    #[param(inline)]
    condition: Option<ConditionName>,
    /// Only those whose symbol or company name has this in it, in any case.
    #[param(max_length = 100, pattern = "^[^\\u0000]*$", example = "apple")]
    search: Option<String>,
    /// Only those of this stock.
    #[param(pattern = "^[A-Za-z0-9.-]{1,10}$", example = "AAPL")]
    symbol: Option<String>,
    /// By what they are sorted.
    #[param(inline)]
    sort_field: Option<SortField>,
    /// Smallest or largest first.
    #[param(inline)]
    sort_direction: Option<SortDirection>,
    /// Of each alert only `id`, `symbol`, `condition`, `threshold` and `status`; goes before `extended`.
    #[param(default = false)]
    minimal: Option<bool>,
    /// With each alert its stock's figures and how near it is to firing.
    #[param(default = false)]
    extended: Option<bool>,
}

struct Wanted {
    filter: AlertFilter,
    sort: AlertSort,
    page: service::PageRequest,
    minimal: bool,
    extended: bool,
}

impl Wanted {
    fn read(mut query: Query) -> Result<Self, ApiError> {
        let statuses: Vec<_> = alerts::Status::ALL
            .iter()
            .map(|status| (status.name(), *status))
            .collect();
        let conditions: Vec<_> = alerts::ConditionKind::ALL
            .iter()
            .map(|kind| (kind.name(), *kind))
            .collect();
        let minimal = query.flag("minimal");
        let wanted = Self {
            page: query.page(DEFAULT_LIMIT, MAX_LIMIT),
            filter: AlertFilter {
                status: query.word("status", &statuses),
                condition: query.word("condition", &conditions),
                symbol: query.symbol("symbol"),
                search: query.text("search", MAX_SEARCH_CHARS),
            },
            sort: AlertSort {
                field: query.word("sort_field", SORT_FIELDS).unwrap_or_default(),
                ascending: query
                    .word("sort_direction", &[("asc", true), ("desc", false)])
                    .unwrap_or(false),
            },
            minimal,
            extended: query.flag("extended") && !minimal,
        };
        query.finish()?;
        Ok(wanted)
    }
}

/// List alerts
///
/// The account's alerts, a page of them. Unknown parameters are ignored.
#[utoipa::path(
    get,
    path = "/alerts",
    tag = "Alerts",
    params(ListAlertsParams),
    responses((status = 200, description = "A page of alerts", body = Envelope<Vec<ListedAlert>>)),
    security(("ApiKeyHeader" = ["alerts:read"]))
)]
pub(super) async fn list_alerts(
    State(app): State<App>,
    who: Allowed<AlertsRead>,
    query: Query,
) -> Result<Reply<Vec<ListedAlert>>, ApiError> {
    let (alerts, pagination) = page(&app, &who.actor, query).await?;
    Ok(Reply::page(alerts, pagination))
}

/// The page that was asked for.
pub(crate) async fn page(app: &App, actor: &Actor, query: Query) -> Result<(Vec<ListedAlert>, Pagination), ApiError> {
    let wanted = Wanted::read(query)?;
    let service = app.service();
    let page = service
        .alerts
        .alerts(actor, &wanted.filter, wanted.sort, wanted.page, wanted.extended)
        .await?;
    let pagination = Pagination::of(wanted.page, page.total);
    let items = page.items.into_iter();
    Ok((
        items.map(|item| ListedAlert::of(item, wanted.minimal)).collect(),
        pagination,
    ))
}
