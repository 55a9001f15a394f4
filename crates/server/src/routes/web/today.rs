//! `GET /`: the alerts nearest to firing, and the last firings.

use foundation::ServiceError;
use jiff::Timestamp;
use market::Decimal;
use service::PageRequest;
use web::layout::Section;
use web::screens::today::{FiredLine, NearLine, TodayPage};

use super::response::rendered;
use super::visitor::Visitor;
use crate::routes::pages::page::error_page;
use crate::routes::prelude::*;

/// The number of alerts nearest to firing.
const MAX_NEAR: usize = 12;
/// The last firings on the page.
const FIRED: PageRequest = PageRequest { page: 1, limit: 12 };
/// The largest distance of a near alert: any.
const ANY_DISTANCE: Decimal = Decimal::from_micros(i64::MAX);

/// Shows the start page.
pub(super) async fn show_today(State(app): State<App>, visitor: Visitor) -> Response {
    match today_page(&app, &visitor).await {
        Ok(page) => visitor.after_notice(rendered(&page)),
        Err(error) => error_page(error),
    }
}

async fn today_page(app: &App, visitor: &Visitor) -> Result<TodayPage, ServiceError> {
    let alerts = &app.service().alerts;
    let near = alerts.near_alerts(&visitor.actor, None, ANY_DISTANCE).await?;
    let fired = alerts.firings(&visitor.actor, Timestamp::MIN, FIRED).await?;
    Ok(TodayPage {
        near: near.iter().take(MAX_NEAR).map(NearLine::of).collect(),
        fired: fired.items.iter().map(FiredLine::of).collect(),
        shell: visitor.shell(app, Some(Section::Today)),
    })
}
