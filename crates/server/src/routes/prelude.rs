//! The imports that most endpoints share.

pub(super) use super::erased_handler::routes;
pub(super) use axum::extract::State;
pub(super) use axum::response::{IntoResponse, Response};
pub(super) use http::{HeaderMap, HeaderValue, StatusCode, header};
pub(super) use serde::Serialize;
pub(super) use utoipa::{IntoParams, ToSchema};
pub(super) use utoipa_axum::router::OpenApiRouter;
pub(super) use uuid::Uuid;

pub(super) use crate::auth::{AlertsRead, AlertsWrite, AuthenticatedSession, Authorized, MarketWrite, OutboxRead};
pub(super) use crate::auth::{SessionCookie, StocksRead, WatchlistRead, WatchlistWrite, WebhooksRead, WebhooksWrite};
pub(super) use crate::body::form::{DiscardedBody, FormFields};
pub(super) use crate::body::{IgnoredJsonBody, JsonObject};
pub(super) use crate::error::ApiError;
pub(super) use crate::layers::client::ClientAddress;
pub(super) use crate::query::NotificationChannelPath;
pub(super) use crate::query::{AlertPath, ApiKeyPath, DeliveryPath, FiringPath, GrantPath, ListParams};
pub(super) use crate::query::{Query, SymbolPath, WatchlistItemPath, WebhookPath};
pub(super) use crate::response::{ApiResponse, Envelope, ListPage};
pub(super) use crate::state::App;
pub(super) use crate::values::{date, decimal, price, timestamp};
