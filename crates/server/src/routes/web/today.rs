//! `GET /`: what has fired, what is near to firing, and what cannot be evaluated.

use foundation::ServiceError;
use market::Decimal;
use service::{AlertFilter, AlertSort, AlertSortField, PageRequest};
use watchlist::PerformanceRange;
use web::layout::{Section, Shell};
use web::screens::alerts::AlertOrder;
use web::screens::fired::FiredLine;
use web::screens::today::{BlindLine, MarketClock, NearAlerts, NearPart, PaperTotal, Today, TodayPage, TodayPart};

use super::alerts::list::all_alerts;
use super::response::rendered;
use super::visitor::Visitor;
use crate::routes::pages::page::error_page;
use crate::routes::prelude::*;

/// The number of alerts nearest to firing.
const MAX_NEAR: usize = 12;
/// The number of alerts that cannot be evaluated.
const MAX_BLIND: usize = 5;
/// The last firings on the page.
const FIRED: PageRequest = PageRequest { page: 1, limit: 20 };
/// The number of firings since the last visit.
const MAX_UNSEEN: usize = 6;
/// The number of firings that were seen before.
const MAX_EARLIER: usize = 8;
/// The largest distance of a near alert: any.
const ANY_DISTANCE: Decimal = Decimal::from_micros(i64::MAX);

/// Shows the start page.
pub(super) async fn show_today(State(app): State<App>, visitor: Visitor, mut query: Query) -> Response {
    let shell = visitor.shell(&app, Some(Section::Today));
    if visitor.is_part && query.choice("part", &[("near", ())]).is_some() {
        return match near(&app, &visitor).await {
            Ok(near) => rendered(&NearPart { shell, near }),
            Err(error) => error_page(error),
        };
    }
    match today(&app, &visitor, &shell).await {
        Ok(today) if visitor.is_part => rendered(&TodayPart { shell, today }),
        Ok(today) => visitor.after_notice(rendered(&TodayPage { shell, today })),
        Err(error) => error_page(error),
    }
}

async fn near(app: &App, visitor: &Visitor) -> Result<NearAlerts, ServiceError> {
    let alerts = &app.service().alerts;
    let near = alerts.near_alerts(&visitor.actor, None, ANY_DISTANCE).await?;
    let has_alerts = match near.is_empty() {
        true => has_alerts(app, visitor).await?,
        false => true,
    };
    Ok(NearAlerts::of(&near, MAX_NEAR, has_alerts))
}

async fn has_alerts(app: &App, visitor: &Visitor) -> Result<bool, ServiceError> {
    let (alerts, any) = (&app.service().alerts, AlertFilter::default());
    let newest = AlertSort {
        field: AlertSortField::CreatedAt,
        ascending: false,
    };
    let one = PageRequest { page: 1, limit: 1 };
    let found = alerts.alerts(&visitor.actor, &any, newest, one, false).await?;
    Ok(found.total > 0)
}

async fn today(app: &App, visitor: &Visitor, shell: &Shell) -> Result<Today, ServiceError> {
    let (service, actor) = (app.service(), &visitor.actor);
    let active = AlertFilter {
        status: Some(alerts::Status::Active),
        ..AlertFilter::default()
    };
    let active = all_alerts(app, visitor, &active, AlertOrder::Symbol).await?;
    let fired = service.alerts.latest_firings(actor, FIRED).await?;
    let mut unseen: Vec<_> = fired.items.iter().map(FiredLine::of).collect();
    let mut earlier = unseen.split_off(
        unseen
            .len()
            .min(usize::try_from(shell.live.unseen).unwrap_or(usize::MAX)),
    );
    earlier.truncate(MAX_EARLIER);
    unseen.truncate(MAX_UNSEEN);
    let paper = service
        .watchlists
        .paper_performance(actor, PerformanceRange::Max)
        .await?;
    Ok(Today {
        near: near(app, visitor).await?,
        blind: active.iter().filter_map(BlindLine::of).take(MAX_BLIND).collect(),
        clock: MarketClock::of(&service.market.market_status()),
        paper: PaperTotal::of(&paper),
        unseen,
        earlier,
    })
}
