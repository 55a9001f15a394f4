//! `GET /fired`: the feed of firings.

use jiff::Timestamp;
use service::PageRequest;
use web::layout::Section;
use web::screens::fired::FiredPage;
use web::screens::today::FiredLine;

use super::response::rendered;
use super::visitor::Visitor;
use crate::routes::pages::page::error_page;
use crate::routes::prelude::*;

/// The number of firings on a page.
const PAGE_SIZE: u32 = 30;

/// Shows a page of the feed, the newest firings first.
pub(super) async fn show_fired(State(app): State<App>, visitor: Visitor, query: Query) -> Response {
    let PageRequest { page, .. } = PageParams::<PAGE_SIZE, PAGE_SIZE>::read(&mut query.without_empty());
    let request = PageRequest { page, limit: PAGE_SIZE };
    match app
        .service()
        .alerts
        .firings(&visitor.actor, Timestamp::MIN, request)
        .await
    {
        Ok(found) => {
            let page = FiredPage {
                fired: found.items.iter().map(FiredLine::of).collect(),
                page,
                has_older: u64::from(page) * u64::from(PAGE_SIZE) < found.total,
                shell: visitor.shell(&app, Some(Section::Fired)),
            };
            visitor.after_notice(rendered(&page))
        }
        Err(error) => error_page(error),
    }
}
