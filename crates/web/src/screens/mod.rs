//! The screens, one module each.

pub mod alert;
pub mod alerts;
pub mod approvals;
pub mod builder;
pub mod credentials;
pub mod deliveries;
pub mod fired;
pub mod oauth;
pub mod operator;
mod passed_level;
pub mod price_chart;
mod route_form;
pub mod settings;
pub mod stock;
pub mod today;
pub mod watchlist;

pub use passed_level::PassedLevel;
pub use route_form::{RouteChoice, RouteForm};
