//! `POST /api-keys`

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use utoipa::ToSchema;

use super::view::ApiKeyFacts;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::WithSession;
use crate::body::JsonObject;
use crate::document::names::ScopeName;
use crate::error::ApiError;

/// The key that is wanted.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct CreateApiKey {
    /// What it is called, on one line.
    #[schema(
        min_length = 1,
        max_length = 100,
        pattern = r"^[^\u0000-\u001f\u007f-\u009f]*$",
        example = "my script"
    )]
    name: String,
    /// What it may be used for; left out, all that is open to everybody.
    #[schema(value_type = Option<Vec<ScopeName>>, min_items = 1, example = json!(["alerts:read", "alerts:write"]))]
    scopes: Option<Vec<String>>,
}

/// A new API key, with the key itself: the only time that is shown.
#[derive(Serialize, ToSchema)]
pub struct NewApiKey {
    /// What is known of it.
    #[serde(flatten)]
    pub facts: ApiKeyFacts,
    /// The key. Keep it.
    #[schema(
        pattern = "^sk_[0-9a-f]{64}$",
        example = "sk_4f9a1c0b5d7e2f3a4b5c6d7e8f9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a"
    )]
    pub api_key: String,
}

impl std::fmt::Debug for NewApiKey {
    /// Everything but the key itself.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewApiKey")
            .field("facts", &self.facts)
            .finish_non_exhaustive()
    }
}

/// Create an API key
///
/// The key is shown this once and kept as a hash. The basic plan has one key: one more is 403. API keys are refused here.
#[utoipa::path(
    post,
    path = "/api-keys",
    tag = "API Keys",
    request_body(content = CreateApiKey, description = "The key that is wanted"),
    responses(
        (status = 201, description = "A new key, with the key itself", body = Envelope<NewApiKey>),
        (status = 400, description = "The body is no JSON object, or something is wrong with its content"),
    ),
    security(("SessionCookie" = []))
)]
pub(super) async fn create_api_key(
    State(app): State<App>,
    who: WithSession,
    JsonObject(body): JsonObject,
) -> Result<Response, ApiError> {
    let created = app.service().accounts.create_api_key_of(&who.actor, &body).await;
    let created = created.map_err(ApiError::without_422)?;
    let new = NewApiKey {
        facts: ApiKeyFacts::of(&created.key, created.tier),
        api_key: created.secret,
    };
    let mut response = Reply::with(StatusCode::CREATED, new).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
