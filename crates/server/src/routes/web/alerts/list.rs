//! `GET /alerts`: the list of alerts. The filters are in the address.

use foundation::ServiceError;
use market::Decimal;
use service::alerts::AlertItem;
use service::{AlertFilter, AlertSort, AlertSortField, Page, PageRequest};
use web::layout::Section;
use web::screens::alerts::{AlertLine, AlertList, AlertListQuery, AlertOrder, AlertsPage, AlertsPart};

use crate::routes::alerts::list::{condition_choices, status_choices};
use crate::routes::pages::page::{api_error_page, error_page};
use crate::routes::prelude::*;
use crate::routes::web::response::rendered;
use crate::routes::web::visitor::Visitor;

/// The number of alerts on a page.
const PAGE_SIZE: u32 = 50;
/// The number of alerts that are read at once.
const BATCH_SIZE: u32 = 500;
/// Maximum length of a search, in characters.
const MAX_SEARCH_CHARS: usize = 100;
/// The distance by which alerts without one are sorted.
const WITHOUT_DISTANCE: Decimal = Decimal::from_micros(i64::MAX);

/// The filters of a request.
pub(super) struct ListRequest {
    pub(super) query: AlertListQuery,
    pub(super) filter: AlertFilter,
    page: u32,
}

impl ListRequest {
    /// Reads the query of an address.
    pub(super) fn read(query: Query) -> Result<Self, ApiError> {
        let mut query = query.without_empty();
        let orders = AlertOrder::ALL.map(|order| (order.name(), order));
        let filter = AlertFilter {
            status: query.choice("status", &status_choices()),
            condition: query.choice("condition", &condition_choices()),
            symbol: query.symbol("symbol"),
            search: query.text("search", MAX_SEARCH_CHARS),
            tags: query.tags("tag"),
            source: None,
        };
        let sort = query.choice("sort", &orders).unwrap_or_default();
        let PageRequest { page, .. } = query.page(PAGE_SIZE, PAGE_SIZE);
        query.finish()?;
        Ok(Self {
            query: AlertListQuery {
                status: filter.status,
                condition: filter.condition,
                symbol: filter.symbol.map(|symbol| symbol.to_string()).unwrap_or_default(),
                tag: filter.tags.as_slice().join(","),
                search: filter.search.clone().unwrap_or_default(),
                sort,
            },
            filter,
            page,
        })
    }
}

/// Shows a page of the list.
pub(in crate::routes::web) async fn list_alerts(State(app): State<App>, visitor: Visitor, query: Query) -> Response {
    let request = match ListRequest::read(query) {
        Ok(request) => request,
        Err(error) => return api_error_page(&error),
    };
    let Page { items, total } = match page(&app, &visitor, &request).await {
        Ok(page) => page,
        Err(error) => return error_page(error),
    };
    let now = app.now();
    let list = AlertList {
        alerts: items.iter().map(|item| AlertLine::of(item, now)).collect(),
        query: request.query,
        total,
        page: request.page,
        page_size: PAGE_SIZE,
    };
    let shell = visitor.shell(&app, Some(Section::Alerts));
    let page = match visitor.is_part {
        true => rendered(&AlertsPart { list, shell }),
        false => rendered(&AlertsPage { list, shell }),
    };
    visitor.after_notice(page)
}

async fn page(app: &App, visitor: &Visitor, request: &ListRequest) -> Result<Page<AlertItem>, ServiceError> {
    let wanted = PageRequest {
        page: request.page,
        limit: PAGE_SIZE,
    };
    if request.query.sort != AlertOrder::Distance {
        let sort = sort_of(request.query.sort);
        let alerts = &app.service().alerts;
        return alerts.alerts(&visitor.actor, &request.filter, sort, wanted, true).await;
    }
    let mut all = all_alerts(app, visitor, &request.filter, request.query.sort).await?;
    let total = all.len() as u64;
    let first = usize::try_from(wanted.offset()).unwrap_or(usize::MAX).min(all.len());
    let items = all.drain(first..).take(PAGE_SIZE as usize).collect();
    Ok(Page { items, total })
}

/// Returns all alerts of a filter in an order.
pub(in crate::routes::web) async fn all_alerts(
    app: &App,
    visitor: &Visitor,
    filter: &AlertFilter,
    order: AlertOrder,
) -> Result<Vec<AlertItem>, ServiceError> {
    let mut all = Vec::new();
    for page in 1.. {
        let request = PageRequest {
            page,
            limit: BATCH_SIZE,
        };
        let alerts = &app.service().alerts;
        let found = alerts
            .alerts(&visitor.actor, filter, sort_of(order), request, true)
            .await?;
        let is_last = found.items.len() < BATCH_SIZE as usize;
        all.extend(found.items);
        if is_last {
            break;
        }
    }
    if order == AlertOrder::Distance {
        all.sort_by_key(|item| distance(item).unwrap_or(WITHOUT_DISTANCE));
    }
    Ok(all)
}

/// Returns the distance of an active alert.
fn distance(item: &AlertItem) -> Option<Decimal> {
    let is_active = item.stored.alert.status == alerts::Status::Active;
    let distance = item.extended.as_ref()?.distance_pct?;
    is_active.then(|| Decimal::from_micros(distance.micros().saturating_abs()))
}

fn sort_of(order: AlertOrder) -> AlertSort {
    let (field, ascending) = match order {
        AlertOrder::Created | AlertOrder::Distance => (AlertSortField::CreatedAt, false),
        AlertOrder::Symbol => (AlertSortField::Symbol, true),
        AlertOrder::Fired => (AlertSortField::TriggeredAt, false),
    };
    AlertSort { field, ascending }
}
