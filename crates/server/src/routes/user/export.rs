//! `GET /user/account/export`

use std::io;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, State};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use http::{HeaderValue, header};
use serde::Serialize;
use serde_json::{Map, Value};
use service::identity::account::Export;
use utoipa::ToSchema;

use crate::answer::{Envelope, Meta, RateLimit};
use crate::app::App;
use crate::auth::WithSession;
use crate::error::ApiError;

/// All that is kept of an account.
#[derive(Debug, Serialize, ToSchema)]
pub struct AccountExport {
    /// When it was asked for.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub exported_at: String,
    /// What its owner has said about themselves.
    #[schema(value_type = Object)]
    pub account: Map<String, Value>,
    /// Where they have signed in.
    #[schema(value_type = Vec<Object>)]
    pub sessions: Vec<Value>,
    /// Their API keys, without the keys.
    #[schema(value_type = Vec<Object>)]
    pub api_keys: Vec<Value>,
    /// What they have allowed apps.
    #[schema(value_type = Vec<Object>)]
    pub app_grants: Vec<Value>,
    /// What agents wanted to change, and what they said to it.
    #[schema(value_type = Vec<Object>)]
    pub approvals: Vec<Value>,
    /// The feedback that they have given.
    #[schema(value_type = Vec<Object>)]
    pub feedback: Vec<Value>,
    /// The ids of the feedback that they like.
    pub liked_feedback: Vec<uuid::Uuid>,
    /// Whether the address wants no mail about alerts.
    pub is_unsubscribed: bool,
    /// Webhooks without their secrets, each with its `deliveries`.
    #[schema(value_type = Vec<Object>)]
    pub webhooks: Vec<Value>,
    /// What was sent to them: when, how, where to, and what became of it.
    #[schema(value_type = Vec<Object>)]
    pub messages: Vec<Value>,
    /// The watchlist.
    #[schema(value_type = Vec<Object>)]
    pub watchlist: Vec<Value>,
    /// Its paper trades, closed ones included.
    #[schema(value_type = Vec<Object>)]
    pub paper_trades: Vec<Value>,
    /// Alerts, deleted ones included, each with its `history`.
    #[schema(value_type = Vec<Object>)]
    pub alerts: Vec<Value>,
}

/// Export the account
///
/// All that is kept of it, without secrets. However much that is, it comes as it is read: an answer that breaks off is not whole.
#[utoipa::path(
    get,
    path = "/user/account/export",
    tag = "User",
    responses((status = 200, description = "All that is kept of the account", body = Envelope<AccountExport>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn export_account(
    State(app): State<App>,
    who: WithSession,
    Extension(rate_limit): Extension<RateLimit>,
) -> Result<Response, ApiError> {
    let mut export = app.service().account_settings.export_account(&who.actor).await?;
    // What fails at once is answered as it should be.
    let first = export.next().await.transpose()?;
    let meta = Meta {
        rate_limit,
        pagination: None,
        notification_quota: None,
    };
    let meta = alerts::json::to_vec(&meta).map_err(ApiError::internal)?;
    let mut beginning = br#"{"success":true,"data":"#.to_vec();
    beginning.extend(first.unwrap_or_default());
    let mut end = br#","meta":"#.to_vec();
    end.extend(meta);
    end.push(b'}');
    let body = Body::from_stream(pieces(beginning, export, end));
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

/// Where a body is.
enum At {
    Beginning(Vec<u8>, Export, Vec<u8>),
    Middle(Export, Vec<u8>),
    End,
}

/// The pieces of the body, each read when it is asked for. A failure breaks the body off.
fn pieces(beginning: Vec<u8>, export: Export, end: Vec<u8>) -> impl stream::Stream<Item = Result<Bytes, io::Error>> {
    stream::unfold(At::Beginning(beginning, export, end), async |at| match at {
        At::Beginning(beginning, export, end) => Some((Ok(beginning.into()), At::Middle(export, end))),
        At::Middle(mut export, end) => Some(match export.next().await {
            Some(Ok(piece)) => (Ok(piece.into()), At::Middle(export, end)),
            Some(Err(error)) => {
                tracing::error!(%error, "an export broke off");
                (Err(io::Error::other("the export broke off")), At::End)
            }
            None => (Ok(end.into()), At::End),
        }),
        At::End => None,
    })
}
