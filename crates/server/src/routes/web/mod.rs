//! The dashboard: pages for people, rendered by the crate `web`.
//!
//! Each handler calls the same use case as the API endpoint, with the same body. A signed-in page begins with the extractor
//! [`Visitor`](visitor::Visitor), which also refuses writes of other sites. With `HX-Request` a handler answers with the part of the
//! page that changes.

pub mod alerts;
pub(in crate::routes) mod appearance;
mod approvals;
mod assets;
mod credentials;
mod deliveries;
mod demo;
mod events;
mod fired;
mod first_account;
mod form_value;
mod moment;
mod notice;
mod offline;
mod operator;
mod quick_add;
mod register;
pub(in crate::routes) mod response;
mod route_input;
mod settings;
mod sign_in;
mod sign_out;
mod stock;
mod today;
pub(in crate::routes) mod visitor;
mod watchlist;

use axum::Router;

use crate::routes::erased_handler::{get, post};
use crate::state::App;

/// Returns the routes. They are for browsers, so the API's document does not list them.
pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/", get(today::show_today))
        .route("/alerts", get(alerts::list::list_alerts))
        .route("/alerts.csv", get(alerts::export::export_alerts))
        .route("/alerts/actions", post(alerts::actions::change_alerts))
        .route(
            "/alerts/new",
            get(alerts::builder::create::show_builder).merge(post(alerts::builder::create::create_alert)),
        )
        .route("/alerts/undo", post(alerts::undo::undo_change))
        .route("/alerts/{id}", get(alerts::show::show_alert))
        .route(
            "/alerts/{id}/edit",
            get(alerts::builder::edit::show_editor).merge(post(alerts::builder::edit::change_alert)),
        )
        .route("/app/events", get(events::stream_events))
        .route("/appearance", post(appearance::set_appearance))
        .route(
            "/approvals",
            get(approvals::show_approvals).merge(post(approvals::decide)),
        )
        .route("/assets/{digest}/{*path}", get(assets::get_asset))
        .route("/deliveries", get(deliveries::list::list_deliveries))
        .route("/deliveries/recover", post(deliveries::recover::recover))
        .route(
            "/deliveries/messages/resend",
            post(deliveries::resend_message::resend_message),
        )
        .route("/deliveries/resend", post(deliveries::resend::resend))
        .route("/deliveries/{webhook}/{delivery}", get(deliveries::show::show_delivery))
        .route("/demo", get(demo::start_demo))
        .route("/fired", get(fired::list::show_fired))
        .route("/fired/acknowledge", post(fired::acknowledge::acknowledge))
        .route("/fired/rearm", post(fired::rearm::rearm))
        .route("/fired/seen", post(fired::seen::mark_seen))
        .route(
            "/first-account",
            get(first_account::show_first_account).merge(post(first_account::create_first_account)),
        )
        .route("/go", get(quick_add::go))
        .route("/offline", get(offline::show_offline))
        .route("/sw.js", get(offline::get_worker))
        .route("/operator", get(operator::show::show_operator))
        .route("/operator/jobs", post(operator::jobs::run_job))
        .route(
            "/register",
            get(register::show_register).merge(post(register::register)),
        )
        .route(
            "/settings",
            get(settings::profile::show_profile).merge(post(settings::profile::change_profile)),
        )
        .route(
            "/settings/account",
            get(settings::account::show_account).merge(post(settings::account::change_account)),
        )
        .route(
            "/settings/agents",
            get(settings::agents::show_agents).merge(post(settings::agents::change_agents)),
        )
        .route(
            "/settings/channels",
            get(settings::channels::show_channels).merge(post(settings::channels::change_channels)),
        )
        .route(
            "/settings/channels/new",
            get(settings::channels::create::show_form).merge(post(settings::channels::create::create_channel)),
        )
        .route(
            "/settings/keys",
            get(settings::keys::show_keys).merge(post(settings::keys::change_keys)),
        )
        .route(
            "/settings/sessions",
            get(settings::sessions::show_sessions).merge(post(settings::sessions::end_sessions)),
        )
        .route(
            "/settings/webhooks",
            get(settings::webhooks::show_webhooks).merge(post(settings::webhooks::change_webhooks)),
        )
        .route("/stocks/{symbol}", get(stock::show_stock))
        .route("/sign-in", get(sign_in::show_sign_in).merge(post(sign_in::sign_in)))
        .route("/sign-out", post(sign_out::sign_out))
        .route(
            "/watchlist",
            get(watchlist::show::show_watchlist).merge(post(watchlist::add::add_item)),
        )
        .route("/watchlist/alert", post(watchlist::alert::create_alert))
        .route("/watchlist/proposal", post(watchlist::proposals::accept_proposal))
        .route("/watchlist/change", post(watchlist::change::change_item))
}
