//! `GET /alerts.csv`: the alerts of a filter as a table for spreadsheets.

use web::csv::csv_table;
use web::screens::alerts::AlertLine;

use super::list::{ListRequest, all_alerts};
use crate::routes::pages::page::{api_error_page, error_page};
use crate::routes::prelude::*;
use crate::routes::web::visitor::Visitor;

const HEADING: [&str; 8] = [
    "id",
    "stock",
    "alert",
    "state",
    "price",
    "distance",
    "last_fired",
    "tags",
];

/// Returns the alerts of all pages.
pub(in crate::routes::web) async fn export_alerts(State(app): State<App>, visitor: Visitor, query: Query) -> Response {
    let request = match ListRequest::read(query) {
        Ok(request) => request,
        Err(error) => return api_error_page(&error),
    };
    let found = match all_alerts(&app, &visitor, &request.filter, request.query.sort).await {
        Ok(found) => found,
        Err(error) => return error_page(error),
    };
    let now = app.now();
    let rows = found.iter().map(|item| {
        let alert = AlertLine::of(item, now);
        [
            alert.id,
            alert.stocks,
            alert.sentence,
            alert.state.name().to_owned(),
            alert.price.unwrap_or_default(),
            alert.distance.unwrap_or_default(),
            alert.triggered_at.map(timestamp).unwrap_or_default(),
            alert.tags.join(" "),
        ]
    });
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"alerts.csv\""),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, csv_table(&HEADING, rows)).into_response()
}
