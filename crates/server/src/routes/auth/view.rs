//! Account owners and tokens in responses.

use accounts::identity::{Account, SessionTokens};

use crate::document::names::PlanName;
use crate::routes::prelude::*;

/// An account and its owner.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = User)]
pub struct UserView {
    /// Account id.
    pub id: Uuid,
    /// Email address.
    #[schema(format = "email", example = "ann@example.com")]
    pub email: String,
    /// Full name.
    #[schema(required, example = "Ann Example")]
    pub full_name: Option<String>,
    /// Plan.
    #[schema(value_type = PlanName, example = "basic")]
    pub account_type: &'static str,
    /// Whether the owner operates this service.
    pub is_operator: bool,
    /// Whether the email address is confirmed.
    pub is_verified: bool,
    /// IANA time zone.
    #[schema(example = "America/New_York")]
    pub time_zone: String,
    /// Time of creation.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub created_at: String,
}

impl UserView {
    pub(crate) fn of(account: &Account) -> Self {
        Self {
            id: account.id.0,
            email: account.email.clone(),
            full_name: account.full_name.clone(),
            account_type: account.plan.name(),
            is_operator: account.is_operator,
            is_verified: account.is_verified,
            time_zone: account.time_zone.clone(),
            created_at: timestamp(account.created_at),
        }
    }
}

/// Access token and refresh token of a session.
#[derive(Serialize, ToSchema)]
pub struct Tokens {
    /// The signed-in account.
    pub user: UserView,
    /// Access token, sent as `Authorization: Bearer`.
    #[schema(example = "eyJ0eXAiOiJhdCtqd3QiLCJhbGciOiJFZERTQSJ9.e30.c2ln")]
    pub access_token: String,
    /// Always `Bearer`.
    #[schema(example = "Bearer")]
    pub token_type: &'static str,
    /// Lifetime of the access token, in seconds.
    #[schema(minimum = 1, example = 900)]
    pub expires_in: i64,
    /// Refresh token for the next tokens, valid once. Reusing one ends the session.
    #[schema(example = "6n1JmXb0Pj6Cq5vVw3d9qjVZ0m1m4Yh2m8oXl1y7C9A")]
    pub refresh_token: String,
}

impl std::fmt::Debug for Tokens {
    /// Formats the account without the tokens.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

impl Tokens {
    fn of(signed_in: &SessionTokens) -> Self {
        Self {
            user: UserView::of(&signed_in.account),
            access_token: signed_in.access_token.clone(),
            token_type: "Bearer",
            expires_in: SessionTokens::expires_in_s(),
            refresh_token: signed_in.refresh_token.clone(),
        }
    }
}

/// A message about the result, for people.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[schema(as = Told)]
pub struct MessageResponse {
    /// The message.
    pub message: &'static str,
}

impl MessageResponse {
    pub(crate) const fn ok(message: &'static str) -> ApiResponse<Self> {
        ApiResponse::ok(Self { message })
    }
}

/// Returns the response with the tokens and the cookie of a new session.
pub(super) fn tokens_response(signed_in: &SessionTokens, cookie: SessionCookie) -> Response {
    let mut response = ApiResponse::ok(Tokens::of(signed_in)).into_response();
    cookie.set(signed_in, response.headers_mut());
    response
}
