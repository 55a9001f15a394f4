//! Somebody who has signed in, as they are shown.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};
use serde::Serialize;
use service::identity::{Account, SignedIn};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::answer::Reply;
use crate::auth::SessionCookie;
use crate::document::names::PlanName;
use crate::values::timestamp;

/// The owner of an account.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct User {
    /// The account.
    pub id: Uuid,
    /// Its address.
    #[schema(format = "email", example = "ann@example.com")]
    pub email: String,
    /// What its owner is called.
    #[schema(required, example = "Ann Example")]
    pub full_name: Option<String>,
    /// The plan.
    #[schema(value_type = PlanName, example = "basic")]
    pub account_type: &'static str,
    /// Whether its owner operates this service.
    pub is_operator: bool,
    /// Whether the address is confirmed.
    pub is_verified: bool,
    /// The IANA name of the zone its owner's clocks show.
    #[schema(example = "America/New_York")]
    pub time_zone: String,
    /// When it was made.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub created_at: String,
}

impl User {
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

/// What shows who somebody is from now on.
#[derive(Serialize, ToSchema)]
pub struct Tokens {
    /// Who it is.
    pub user: User,
    /// To be sent as `Authorization: Bearer`.
    #[schema(example = "eyJ0eXAiOiJhdCtqd3QiLCJhbGciOiJFZERTQSJ9.e30.c2ln")]
    pub access_token: String,
    /// Always `Bearer`.
    #[schema(example = "Bearer")]
    pub token_type: &'static str,
    /// How long the access token is good for, in seconds.
    #[schema(minimum = 1, example = 900)]
    pub expires_in: i64,
    /// What the next tokens are to be had for, once. One that is shown again ends the session.
    #[schema(example = "6n1JmXb0Pj6Cq5vVw3d9qjVZ0m1m4Yh2m8oXl1y7C9A")]
    pub refresh_token: String,
}

impl std::fmt::Debug for Tokens {
    /// Everything but the tokens.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

impl Tokens {
    fn of(signed_in: &SignedIn) -> Self {
        Self {
            user: User::of(&signed_in.account),
            access_token: signed_in.access_token.clone(),
            token_type: "Bearer",
            expires_in: SignedIn::expires_in_s(),
            refresh_token: signed_in.refresh_token.clone(),
        }
    }
}

/// What has happened, for people.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct Told {
    /// A sentence.
    pub message: &'static str,
}

impl Told {
    pub(crate) const fn ok(message: &'static str) -> Reply<Self> {
        Reply::ok(Self { message })
    }
}

/// Tokens, and the cookie of a session that has just begun. Nothing on the way may keep the answer.
#[derive(Debug)]
pub struct TokensReply {
    tokens: Tokens,
    cookie: Option<HeaderValue>,
}

impl TokensReply {
    pub(super) fn of(signed_in: &SignedIn, cookie: SessionCookie) -> Self {
        Self {
            tokens: Tokens::of(signed_in),
            cookie: signed_in.cookie.as_deref().and_then(|value| cookie.set(value)),
        }
    }
}

impl IntoResponse for TokensReply {
    fn into_response(self) -> Response {
        let mut response = Reply::ok(self.tokens).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(cookie) = self.cookie {
            headers.insert(header::SET_COOKIE, cookie);
        }
        response
    }
}
