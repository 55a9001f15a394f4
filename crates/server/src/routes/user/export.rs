//! `GET /user/account/export`

use std::io;

use accounts::identity::account::ExportStream;
use axum::body::{Body, Bytes};
use axum::extract::Extension;
use futures_util::{StreamExt, stream};
use serde_json::{Map, Value};

use crate::response::{Meta, RateLimit};
use crate::routes::prelude::*;

/// All stored data of an account.
#[derive(Debug, Serialize, ToSchema)]
pub struct AccountExport {
    /// Time of the export.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub exported_at: String,
    /// Profile of the owner.
    #[schema(value_type = Object)]
    pub account: Map<String, Value>,
    /// Sessions.
    #[schema(value_type = Vec<Object>)]
    pub sessions: Vec<Value>,
    /// API keys, without their secrets.
    #[schema(value_type = Vec<Object>)]
    pub api_keys: Vec<Value>,
    /// Grants of apps.
    #[schema(value_type = Vec<Object>)]
    pub app_grants: Vec<Value>,
    /// Changes requested by agents, with the owner's decisions.
    #[schema(value_type = Vec<Object>)]
    pub approvals: Vec<Value>,
    /// Feedback written by the owner.
    #[schema(value_type = Vec<Object>)]
    pub feedback: Vec<Value>,
    /// Ids of feedback liked by the owner.
    pub liked_feedback: Vec<uuid::Uuid>,
    /// Whether the address is unsubscribed from alert emails.
    pub is_unsubscribed: bool,
    /// Webhooks, without their secrets, each with its `deliveries`.
    #[schema(value_type = Vec<Object>)]
    pub webhooks: Vec<Value>,
    /// Notification channels, without their configurations.
    #[schema(value_type = Vec<Object>)]
    pub notification_channels: Vec<Value>,
    /// Route of the account; null without one.
    #[schema(required, value_type = Option<Object>)]
    pub notification_route: Option<Value>,
    /// Sent messages: time, channel, recipient and result.
    #[schema(value_type = Vec<Object>)]
    pub messages: Vec<Value>,
    /// Watchlist items.
    #[schema(value_type = Vec<Object>)]
    pub watchlist: Vec<Value>,
    /// Paper trades, including closed ones.
    #[schema(value_type = Vec<Object>)]
    pub paper_trades: Vec<Value>,
    /// Alerts, including deleted ones, each with its `history`.
    #[schema(value_type = Vec<Object>)]
    pub alerts: Vec<Value>,
}

/// Export the account
///
/// Returns all stored data of the account, without secrets. The response is streamed; a connection that closes early means that
/// the export is incomplete.
#[utoipa::path(
    get,
    path = "/user/account/export",
    tag = "User",
    responses((status = 200, description = "All stored data of the account", body = Envelope<AccountExport>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn export_account(
    State(app): State<App>,
    caller: AuthenticatedSession,
    Extension(rate_limit): Extension<RateLimit>,
) -> Result<Response, ApiError> {
    let mut export = app.service().account_settings.export_account(&caller.actor).await?;
    // Reads the first chunk before the response starts, so that an early error still gets an error response.
    let first = export.next().await.transpose()?;
    let meta = Meta {
        rate_limit,
        pagination: None,
        notification_quota: None,
    };
    let meta = alerts::json::to_vec(&meta).map_err(ApiError::internal)?;
    let mut prefix = br#"{"success":true,"data":"#.to_vec();
    prefix.extend(first.unwrap_or_default());
    let mut suffix = br#","meta":"#.to_vec();
    suffix.extend(meta);
    suffix.push(b'}');
    // A body that is compressed is asked for its next chunk after the last one, too.
    let body = Body::from_stream(body_chunks(prefix, export, suffix).fuse());
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (
            header::CONTENT_DISPOSITION,
            HeaderValue::from_static("attachment; filename=\"bellwether-account.json\""),
        ),
    ];
    Ok((headers, body).into_response())
}

/// State of the streamed body.
enum BodyState {
    Start(Vec<u8>, ExportStream, Vec<u8>),
    Streaming(ExportStream, Vec<u8>),
    Done,
}

/// Streams the chunks of the body, each read on demand. An error ends the body early.
fn body_chunks(
    prefix: Vec<u8>,
    export: ExportStream,
    suffix: Vec<u8>,
) -> impl stream::Stream<Item = Result<Bytes, io::Error>> {
    stream::unfold(BodyState::Start(prefix, export, suffix), async |state| match state {
        BodyState::Start(prefix, export, suffix) => Some((Ok(prefix.into()), BodyState::Streaming(export, suffix))),
        BodyState::Streaming(mut export, suffix) => Some(match export.next().await {
            Some(Ok(chunk)) => (Ok(chunk.into()), BodyState::Streaming(export, suffix)),
            Some(Err(error)) => {
                tracing::error!(%error, "an account export failed");
                (Err(io::Error::other("the account export failed")), BodyState::Done)
            }
            None => (Ok(suffix.into()), BodyState::Done),
        }),
        BodyState::Done => None,
    })
}
