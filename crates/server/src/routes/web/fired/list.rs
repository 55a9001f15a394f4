//! `GET /fired`: the feed of firings.

use foundation::ServiceError;
use service::{AlertFilter, AlertSort, AlertSortField, PageRequest};
use url::form_urlencoded;
use web::layout::{Notice, Section, Shell};
use web::screens::fired::{FiredFeed, FiredLine, FiredPage, FiredPart, RearmRefusal};

use crate::routes::pages::page::error_page;
use crate::routes::prelude::*;
use crate::routes::web::response::rendered;
use crate::routes::web::visitor::Visitor;

/// The number of firings on a page.
const PAGE_SIZE: u32 = 30;
/// The number of fired alerts that can be armed again on the page.
const ENDED: PageRequest = PageRequest { page: 1, limit: 500 };

const LAST_FIRED_FIRST: AlertSort = AlertSort {
    field: AlertSortField::TriggeredAt,
    ascending: false,
};

/// Shows a page of the feed, the newest firings first.
pub(in crate::routes::web) async fn show_fired(State(app): State<App>, visitor: Visitor, query: Query) -> Response {
    let PageRequest { page, .. } = query.without_empty().page(PAGE_SIZE, PAGE_SIZE);
    let shell = visitor.shell(&app, Some(Section::Fired));
    match feed(&app, &visitor, &shell, page).await {
        Ok(feed) if visitor.is_part => rendered(&FiredPart { shell, feed }),
        Ok(feed) => visitor.after_notice(rendered(&FiredPage { shell, feed })),
        Err(error) => error_page(error),
    }
}

/// Shows the page of the feed at an address again, with the reason why an alert was not activated.
pub(super) async fn show_refusal(app: &App, visitor: &Visitor, address: &str, refusal: &RearmRefusal) -> Response {
    let query = address.split_once('?').map_or("", |(_, query)| query);
    let query = Query::from_pairs(form_urlencoded::parse(query.as_bytes()).into_owned());
    let PageRequest { page, .. } = query.without_empty().page(PAGE_SIZE, PAGE_SIZE);
    let mut shell = Shell {
        address: format!("/fired?page={page}"),
        ..visitor.shell(app, Some(Section::Fired))
    };
    match feed(app, visitor, &shell, page).await {
        Ok(mut feed) => {
            if !feed.refuse(refusal) {
                shell.notice = Some(Notice {
                    text: refusal.text.clone(),
                    is_error: true,
                    undo: None,
                });
            }
            let mut response = rendered(&FiredPage { shell, feed });
            *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
            response
        }
        Err(error) => error_page(error),
    }
}

async fn feed(app: &App, visitor: &Visitor, shell: &Shell, page: u32) -> Result<FiredFeed, ServiceError> {
    let (alerts, actor) = (&app.service().alerts, &visitor.actor);
    let request = PageRequest { page, limit: PAGE_SIZE };
    let found = alerts.latest_firings(actor, request).await?;
    let ended = AlertFilter {
        status: Some(alerts::Status::Triggered),
        ..AlertFilter::default()
    };
    let ended = alerts.alerts(actor, &ended, LAST_FIRED_FIRST, ENDED, false).await?;
    // The unseen firings may begin on an earlier page.
    let before = usize::try_from(request.offset()).unwrap_or(usize::MAX);
    let unseen = (shell.live.unseen as usize).saturating_sub(before);
    let figures = app.service().stocks.figures();
    Ok(FiredFeed {
        fired: FiredLine::all_of(&found.items, unseen, &ended.items, |symbol| figures.quote(symbol).price),
        page,
        has_older: u64::from(page) * u64::from(PAGE_SIZE) < found.total,
    })
}
