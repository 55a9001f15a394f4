//! The imports that most endpoints share.

pub(super) use axum::extract::State;
pub(super) use axum::response::{IntoResponse, Response};
pub(super) use serde::Serialize;
pub(super) use utoipa::{IntoParams, ToSchema};
pub(super) use uuid::Uuid;

pub(super) use crate::auth::{AuthenticatedSession, Authorized};
pub(super) use crate::body::JsonObject;
pub(super) use crate::error::ApiError;
pub(super) use crate::layers::client::ClientAddress;
pub(super) use crate::query::Query;
pub(super) use crate::response::{ApiResponse, Envelope, Pagination};
pub(super) use crate::state::App;
pub(super) use crate::values::timestamp;
