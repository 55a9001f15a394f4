//! `POST /oauth/register` (RFC 7591)

use axum::extract::{FromRequest, Request, State};
use axum::response::Response;
use http::StatusCode;
use serde::Serialize;
use serde_json::Value;
use service::oauth::{ErrorCode, SCOPES};
use utoipa::ToSchema;

use super::answer::{self, OAuthRefusal};
use crate::app::App;
use crate::body::JsonObject;
use crate::layers::limit::Group;

/// What a program says of itself. Whatever else it says is ignored.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct RegisterClient {
    /// Where people may be sent back to, 1 to 10: `https`, `http` on `127.0.0.1`, `[::1]` or `localhost` (with any port), or a
    /// scheme of the program's own with a dot in it.
    #[schema(min_items = 1, max_items = 10, example = json!(["http://127.0.0.1/callback"]))]
    redirect_uris: Vec<String>,
    /// What it calls itself, at most 100 characters.
    #[schema(example = "My agent")]
    client_name: Option<String>,
}

/// A program that has registered.
#[derive(Debug, Serialize, ToSchema)]
pub struct RegisteredClient {
    /// What it goes by from now on. It is no secret.
    #[schema(example = "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11")]
    pub client_id: String,
    /// When it registered, in seconds since 1970.
    pub client_id_issued_at: i64,
    /// What it calls itself.
    #[schema(example = "My agent")]
    pub client_name: String,
    /// Where people may be sent back to.
    #[schema(example = json!(["http://127.0.0.1/callback"]))]
    pub redirect_uris: Vec<String>,
    /// What it can exchange for tokens.
    pub grant_types: [&'static str; 2],
    /// How it is answered.
    pub response_types: [&'static str; 1],
    /// It has no secret, whatever it asked for.
    #[schema(example = "none")]
    pub token_endpoint_auth_method: &'static str,
    /// What it may ask for.
    pub scope: String,
}

/// Register a program
///
/// RFC 7591. Anybody can. What nobody has allowed anything is forgotten after a week, and what nobody uses any more, too; the
/// token endpoint answers `invalid_client` then. There are public clients only.
#[utoipa::path(
    post,
    path = "/oauth/register",
    tag = "OAuth",
    request_body = RegisterClient,
    responses(
        (status = 201, description = "The program is registered", body = RegisteredClient),
        (status = 400, description = "`invalid_redirect_uri` or `invalid_client_metadata`", body = OAuthRefusal),
        (status = 429, description = "Too many have registered from this address", body = OAuthRefusal),
        (status = 503, description = "There is no room", body = OAuthRefusal),
    ),
    security(())
)]
pub(super) async fn register_client(State(app): State<App>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    if let Err(refusal) = answer::count(&mut parts, &app, Group::Clients).await {
        return refusal;
    }
    let request = Request::from_parts(parts, body);
    let body: Value = match JsonObject::from_request(request, &app).await {
        Ok(JsonObject(body)) => body,
        Err(error) => return answer::unreadable(&error, ErrorCode::InvalidClientMetadata),
    };
    match app.service().oauth.register_client(&body).await {
        Ok(client) => {
            let scopes: Vec<_> = SCOPES.iter().map(|scope| scope.name()).collect();
            let registered = RegisteredClient {
                client_id: client.id.0.to_string(),
                client_id_issued_at: client.created_at.as_second(),
                client_name: client.name,
                redirect_uris: client.redirect_uris,
                grant_types: ["authorization_code", "refresh_token"],
                response_types: ["code"],
                token_endpoint_auth_method: "none",
                scope: scopes.join(" "),
            };
            answer::answer(StatusCode::CREATED, registered)
        }
        Err(error) => answer::refused(error),
    }
}
