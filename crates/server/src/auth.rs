//! Who asks, as the headers say, and what that allows.
//!
//! A key comes as `X-API-Key: K`, `Authorization: ApiKey K` or `Authorization: Bearer K`, an access token as
//! `Authorization: Bearer T` ([`credentials`]), a session in a browser as a cookie ([`cookie`]). Keys and cookies are
//! looked up by their hashes, so how long an answer takes says nothing about how near a guess was. The layer [`crate::layers::identify`] finds out
//! who it is, once for a request; a handler asks for what it needs with an extractor: [`Allowed`], [`WithSession`].

pub mod cookie;
pub mod credentials;
pub mod own_page;
pub mod same_origin;

use std::marker::PhantomData;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;
use http::{HeaderMap, Method};
use service::{Actor, Scope, ServiceError, Via};

pub use cookie::SessionCookie;
pub use credentials::{Credential, Credentials};

use crate::app::App;
use crate::error::ApiError;

/// What is known about who asks.
#[derive(Clone, Debug)]
pub enum Identity {
    /// Nothing was shown.
    Nobody,
    /// An account.
    Known(Arc<Actor>),
    /// Whoever drives schedules from outside. Only their own routes know them.
    Scheduler,
    /// Something was shown that is not known.
    Refused(ApiError),
    /// It could not be found out.
    Failed(ApiError),
}

/// Finds out who asks.
///
/// What a header shows counts before a cookie, which browsers send by themselves; a cookie of a session that is over then
/// says nothing, and one of somebody else's session contradicts it. Who shows nothing but a cookie may write only from our
/// own pages.
pub async fn identify(app: &App, method: &Method, headers: &HeaderMap, shown: Credentials<'_>) -> Identity {
    let service = app.service();
    let by_header = match shown.header {
        Some(Credential::Key(key)) => Some(service.authenticator.authenticate_key(key).await),
        Some(Credential::Token(token)) => Some(service.authenticator.authenticate_token(token).await),
        None => None,
    };
    let by_cookie = match (&by_header, shown.cookie) {
        (Some(Err(_)), _) | (_, None) => None,
        (_, Some(cookie)) => Some(service.authenticator.authenticate_cookie(cookie).await),
    };
    match (by_header, by_cookie) {
        (None, None) => Identity::Nobody,
        (Some(actor), None | Some(Err(ServiceError::Unauthenticated(_)))) => Identity::of(actor),
        (None, Some(Ok(_)))
            if !same_origin::only_reads(method) && !same_origin::is_same_origin(headers, app.own_origins()) =>
        {
            Identity::Refused(ApiError::forbidden(
                "cross_origin",
                Some("same_origin"),
                "with a session's cookie this can be done from this service's own pages only (Origin or \
                 Sec-Fetch-Site must say so, under the name in server.public_url or mcp.allowed_hosts); other programs \
                 show an access token or an API key",
            ))
        }
        (None, Some(actor)) => Identity::of(actor),
        (Some(Ok(one)), Some(Ok(other))) if one.account != other.account => Identity::Refused(ApiError::unauthorized(
            "the session's cookie and what the headers show are of different accounts; send only one of them",
        )),
        (Some(actor), Some(Ok(_))) => Identity::of(actor),
        (Some(_), Some(Err(failure))) => Identity::Failed(failure.into()),
    }
}

impl Identity {
    fn of(actor: Result<Actor, ServiceError>) -> Self {
        match actor {
            Ok(actor) => Self::Known(Arc::new(actor)),
            Err(error @ ServiceError::Unauthenticated(_)) => Self::Refused(error.into()),
            Err(error) => Self::Failed(error.into()),
        }
    }
}

/// Who asks; 401 for nobody.
fn actor(parts: &Parts) -> Result<Arc<Actor>, ApiError> {
    match parts.extensions.get::<Identity>() {
        Some(Identity::Known(actor)) => Ok(Arc::clone(actor)),
        Some(Identity::Refused(error) | Identity::Failed(error)) => Err(error.clone()),
        Some(Identity::Nobody | Identity::Scheduler) | None => Err(ApiError::unauthorized(
            "this needs an API key or an access token; send an API key as X-API-Key, or either as Authorization: Bearer",
        )),
    }
}

/// A scope as a type, so that a handler's signature says what it takes.
pub trait Needs: Send + Sync + 'static {
    /// The scope.
    const SCOPE: Scope;
}

macro_rules! needs {
    ($($name:ident),*) => {$(
        #[doc = concat!("Needs [`Scope::", stringify!($name), "`].")]
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl Needs for $name {
            const SCOPE: Scope = Scope::$name;
        }
    )*};
}

needs!(
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

/// Somebody who may use the scope `S`.
#[derive(Clone, Debug)]
pub struct Allowed<S> {
    /// Who it is.
    pub actor: Arc<Actor>,
    scope: PhantomData<S>,
}

impl<S: Needs> FromRequestParts<App> for Allowed<S> {
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

/// Somebody who may use the scope `S`, or somebody who shows nothing at all.
#[derive(Clone, Debug)]
pub struct AllowedOrGuest<S> {
    /// Who it is, unless they show nothing.
    pub actor: Option<Arc<Actor>>,
    scope: PhantomData<S>,
}

impl<S: Needs> FromRequestParts<App> for AllowedOrGuest<S> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let actor = match parts.extensions.get::<Identity>() {
            Some(Identity::Nobody) => None,
            _ => Some(Allowed::<S>::from_request_parts(parts, app).await?.actor),
        };
        Ok(Self {
            actor,
            scope: PhantomData,
        })
    }
}

/// Somebody who is known, by an API key of any scopes or by having signed in.
#[derive(Clone, Debug)]
pub struct Known {
    /// Who it is.
    pub actor: Arc<Actor>,
}

impl FromRequestParts<App> for Known {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _app: &App) -> Result<Self, ApiError> {
        Ok(Self { actor: actor(parts)? })
    }
}

/// Whoever drives schedules from outside, with the operator's secret.
#[derive(Clone, Copy, Debug)]
pub struct Scheduler;

impl FromRequestParts<App> for Scheduler {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        if matches!(parts.extensions.get::<Identity>(), Some(Identity::Scheduler)) {
            return Ok(Self);
        }
        Err(ApiError::unauthorized(if app.settings().cron_secret.is_some() {
            "jobs are started with the operator's secret; send operator.cron_secret as Authorization: Bearer"
        } else {
            "jobs cannot be started from outside; the operator can allow it by setting operator.cron_secret"
        }))
    }
}

/// Somebody who has signed in: no API key will do.
#[derive(Clone, Debug)]
pub struct WithSession {
    /// Who it is.
    pub actor: Arc<Actor>,
}

impl FromRequestParts<App> for WithSession {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _app: &App) -> Result<Self, ApiError> {
        let actor = actor(parts)?;
        match actor.via {
            Via::Session { .. } => Ok(Self { actor }),
            Via::Key { .. } | Via::Grant { .. } => Err(ApiError::forbidden(
                "session_required",
                Some("session"),
                "API keys cannot do this; sign in and use the session or its token",
            )),
        }
    }
}
