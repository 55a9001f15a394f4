//! `POST /api-keys`

use accounts::access::CreateApiKeyRequest;

use super::view::ApiKeyView;
use crate::routes::prelude::*;

/// A new API key, including the secret. The secret is shown only once.
#[derive(Serialize, ToSchema)]
pub struct NewApiKey {
    /// The API key's metadata.
    #[serde(flatten)]
    pub facts: ApiKeyView,
    /// The secret. Store it safely; it cannot be retrieved again.
    #[schema(
        pattern = "^sk_[0-9a-f]{64}$",
        example = "sk_4f9a1c0b5d7e2f3a4b5c6d7e8f9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a"
    )]
    pub api_key: String,
}

impl std::fmt::Debug for NewApiKey {
    /// Formats the metadata without the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewApiKey")
            .field("facts", &self.facts)
            .finish_non_exhaustive()
    }
}

/// Create an API key
///
/// The secret is shown only once and stored as a hash. The basic plan allows one key; a second one returns 403. Requires a session;
/// API keys are refused.
#[utoipa::path(
    post,
    path = "/api-keys",
    tag = "API Keys",
    request_body(content = CreateApiKeyRequest, description = "The API key to create"),
    responses(
        (status = 201, description = "The new API key, including the secret", body = Envelope<NewApiKey>),
        (status = 400, description = "The body is not a JSON object, or a field is invalid"),
    ),
    security(("SessionCookie" = []))
)]
pub(super) async fn create_api_key(
    State(app): State<App>,
    caller: AuthenticatedSession,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<NewApiKey>, ApiError> {
    let created = app
        .service()
        .accounts
        .create_api_key_from_body(&caller.actor, &body)
        .await;
    let created = created.map_err(ApiError::validation_as_400)?;
    let new = NewApiKey {
        facts: ApiKeyView::of(&created.key, created.tier),
        api_key: created.secret,
    };
    Ok(ApiResponse::with(StatusCode::CREATED, new))
}
