//! Authentication and authorization of requests.
//!
//! Clients send an API key as `X-API-Key: K`, `Authorization: ApiKey K` or `Authorization: Bearer K`, an access token as
//! `Authorization: Bearer T` ([`credentials`]), and a browser session as a cookie ([`cookie`]). Keys and cookies are looked
//! up by their hashes, so the response time reveals nothing about a guess. The layer [`crate::layers::identify`] determines
//! the [`Identity`] once per request. A handler states its requirement with an extractor: [`Authorized`], [`Authenticated`],
//! [`AuthenticatedSession`], [`Scheduler`].

pub mod cookie;
pub mod credentials;
pub mod csrf;
pub mod identity;
pub mod local_request;
pub mod same_origin;

use std::marker::PhantomData;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use foundation::{Actor, AuthMethod, Scope, ServiceError};
use http::request::Parts;
use http::{HeaderMap, Method};

pub use cookie::SessionCookie;
pub use credentials::{Credential, Credentials};
pub use identity::Identity;

use crate::error::ApiError;
use crate::state::App;

/// Determines the identity of a request's sender.
///
/// A credential in a header takes precedence over the session cookie, which browsers send automatically. The cookie of an
/// ended session is then ignored; the cookie of another account's session is rejected. A request with only a cookie may
/// write only from the service's own pages.
pub async fn identify(app: &App, method: &Method, headers: &HeaderMap, credentials: Credentials<'_>) -> Identity {
    let service = app.service();
    let by_header = match credentials.header {
        Some(Credential::ApiKey(key)) => Some(service.authenticator.authenticate_key(key).await),
        Some(Credential::BearerToken(token)) => Some(service.authenticator.authenticate_token(token).await),
        None => None,
    };
    let by_cookie = match (&by_header, credentials.cookie) {
        (Some(Err(_)), _) | (_, None) => None,
        (_, Some(cookie)) => Some(service.authenticator.authenticate_cookie(cookie, None).await),
    };
    match (by_header, by_cookie) {
        (None, None) => Identity::Anonymous,
        (Some(actor), None | Some(Err(ServiceError::Unauthenticated(_)))) => Identity::of(actor),
        (None, Some(Ok(_)))
            if !same_origin::is_read_only(method) && !same_origin::is_same_origin(headers, app.own_origins()) =>
        {
            Identity::Rejected(ApiError::forbidden(
                "cross_origin",
                Some("same_origin"),
                "a request with a session cookie must come from this service's own pages (Origin or \
                 Sec-Fetch-Site must show it, with a host in server.public_url or mcp.allowed_hosts); other clients must \
                 send an access token or an API key",
            ))
        }
        (None, Some(actor)) => Identity::of(actor),
        (Some(Ok(actor)), Some(Ok(other))) if actor.account != other.account => {
            Identity::Rejected(ApiError::unauthorized(
                "the session cookie and the credentials in the headers belong to different accounts; send only one of them",
            ))
        }
        (Some(actor), Some(Ok(_))) => Identity::of(actor),
        (Some(_), Some(Err(failure))) => Identity::Failed(failure.into()),
    }
}

/// Returns the authenticated account. Returns 401 without valid credentials.
fn actor(parts: &Parts) -> Result<Arc<Actor>, ApiError> {
    match parts.extensions.get::<Identity>() {
        Some(Identity::Authenticated(actor)) => Ok(Arc::clone(actor)),
        Some(Identity::Rejected(error) | Identity::Failed(error)) => Err(error.clone()),
        Some(Identity::Anonymous | Identity::Scheduler) | None => Err(ApiError::unauthorized(
            "authentication is required; send an API key as X-API-Key, or an API key or access token as Authorization: Bearer",
        )),
    }
}

/// A scope as a type, so that a handler's signature states the scope it requires.
pub trait RequiredScope: Send + Sync + 'static {
    /// The required scope.
    const SCOPE: Scope;
}

macro_rules! scope_types {
    ($($name:ident),*) => {$(
        #[doc = concat!("Requires [`Scope::", stringify!($name), "`].")]
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl RequiredScope for $name {
            const SCOPE: Scope = Scope::$name;
        }
    )*};
}

scope_types!(
    AlertsRead,
    AlertsWrite,
    WatchlistRead,
    WatchlistWrite,
    WebhooksRead,
    WebhooksWrite,
    StocksRead,
    MarketWrite,
    OutboxRead
);

/// Extractor: an authenticated account with the scope `S`.
#[derive(Clone, Debug)]
pub struct Authorized<S> {
    /// The authenticated account and how it authenticated.
    pub actor: Arc<Actor>,
    scope: PhantomData<S>,
}

impl<S: RequiredScope> FromRequestParts<App> for Authorized<S> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _app: &App) -> Result<Self, ApiError> {
        let actor = actor(parts)?;
        actor.require(S::SCOPE)?;
        Ok(Self {
            actor,
            scope: PhantomData,
        })
    }
}

/// Extractor: an authenticated account with the scope `S`, or an anonymous request without credentials.
#[derive(Clone, Debug)]
pub struct AuthorizedOrGuest<S> {
    /// The authenticated account; `None` for an anonymous request.
    pub actor: Option<Arc<Actor>>,
    scope: PhantomData<S>,
}

impl<S: RequiredScope> FromRequestParts<App> for AuthorizedOrGuest<S> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let actor = match parts.extensions.get::<Identity>() {
            Some(Identity::Anonymous) => None,
            _ => Some(Authorized::<S>::from_request_parts(parts, app).await?.actor),
        };
        Ok(Self {
            actor,
            scope: PhantomData,
        })
    }
}

/// Extractor: an authenticated account, with any credentials and any scopes.
#[derive(Clone, Debug)]
pub struct Authenticated {
    /// The authenticated account and how it authenticated.
    pub actor: Arc<Actor>,
}

impl FromRequestParts<App> for Authenticated {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _app: &App) -> Result<Self, ApiError> {
        Ok(Self { actor: actor(parts)? })
    }
}

/// Extractor: an external scheduler with the operator's cron secret.
#[derive(Clone, Copy, Debug)]
pub struct Scheduler;

impl FromRequestParts<App> for Scheduler {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        if matches!(parts.extensions.get::<Identity>(), Some(Identity::Scheduler)) {
            return Ok(Self);
        }
        Err(ApiError::unauthorized(if app.settings().cron_secret.is_some() {
            "running a job requires the cron secret; send operator.cron_secret as Authorization: Bearer"
        } else {
            "external schedulers are not enabled; the operator can enable them by setting operator.cron_secret"
        }))
    }
}

/// Extractor: an account that signed in. API keys and OAuth grants are refused.
#[derive(Clone, Debug)]
pub struct AuthenticatedSession {
    /// The authenticated account and how it authenticated.
    pub actor: Arc<Actor>,
}

impl FromRequestParts<App> for AuthenticatedSession {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _app: &App) -> Result<Self, ApiError> {
        let actor = actor(parts)?;
        match actor.auth_method {
            AuthMethod::Session { .. } => Ok(Self { actor }),
            AuthMethod::ApiKey { .. } | AuthMethod::Grant { .. } | AuthMethod::MessageLink { .. } => {
                Err(ApiError::forbidden(
                    "session_required",
                    Some("session"),
                    "this requires a session; sign in and use the session cookie or its access token",
                ))
            }
        }
    }
}
