//! Who asks, as the headers say, and what that allows.
//!
//! A key comes as `X-API-Key: K`, `Authorization: ApiKey K` or `Authorization: Bearer K`. It is looked up by its hash,
//! so how long an answer takes says nothing about how near a guess was. The layer [`crate::layers::identify`] finds out
//! who it is, once for a request; a handler asks for what it needs with an extractor: [`Allowed`], [`WithSession`].

use std::marker::PhantomData;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;
use http::{HeaderMap, HeaderName, header};
use service::{Actor, Scope, ServiceError, Via};

use crate::app::App;
use crate::error::ApiError;

/// What is known about who asks.
#[derive(Clone, Debug)]
pub enum Identity {
    /// Nothing was shown.
    Nobody,
    /// An account.
    Known(Arc<Actor>),
    /// Something was shown that is not known.
    Refused(ApiError),
    /// It could not be found out.
    Failed(ApiError),
}

const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// Longer ones are no keys, and not worth a look.
const MAX_KEY_LEN: usize = 512;

/// The API key that the headers show.
///
/// # Errors
/// 401 for headers of which no one can say which is meant, or of a kind that is not taken.
pub fn key_of(headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
    let from_own_header = single(headers, &X_API_KEY)?;
    let authorization = single(headers, &header::AUTHORIZATION)?;
    let from_authorization = authorization.map(key_of_authorization).transpose()?;
    match (from_own_header, from_authorization) {
        (Some(one), Some(other)) if one != other => Err(ApiError::unauthorized(
            "X-API-Key and Authorization contradict each other; send only one of them",
        )),
        (one, other) => Ok(one.or(other)),
    }
}

fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, ApiError> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(ApiError::unauthorized(format!(
            "{name} comes more than once; send it once"
        )));
    }
    match value.to_str().map(str::trim) {
        Ok(text) if !text.is_empty() && text.len() <= MAX_KEY_LEN => Ok(Some(text)),
        _ => Err(ApiError::unauthorized(format!(
            "{name} holds no API key; check what is sent"
        ))),
    }
}

fn key_of_authorization(value: &str) -> Result<&str, ApiError> {
    let (scheme, key) = value.split_once(' ').unwrap_or((value, ""));
    let key = key.trim();
    let is_api_key = scheme.eq_ignore_ascii_case("ApiKey") && !key.is_empty();
    let is_bearer = scheme.eq_ignore_ascii_case("Bearer");
    if is_api_key || (is_bearer && key.starts_with("sk_")) {
        Ok(key)
    } else if is_bearer {
        Err(ApiError::unauthorized(
            "this bearer token is not valid; send an API key that begins with sk_",
        ))
    } else {
        Err(ApiError::unauthorized(
            "Authorization must be ApiKey or Bearer with an API key that begins with sk_",
        ))
    }
}

/// Finds out who asks.
pub async fn identify(app: &App, headers: &HeaderMap) -> Identity {
    let key = match key_of(headers) {
        Ok(Some(key)) => key,
        Ok(None) => return Identity::Nobody,
        Err(refusal) => return Identity::Refused(refusal),
    };
    match app.service().authenticate_key(key).await {
        Ok(actor) => Identity::Known(Arc::new(actor)),
        Err(error @ ServiceError::Unauthenticated(_)) => Identity::Refused(error.into()),
        Err(error) => Identity::Failed(error.into()),
    }
}

/// Who asks; 401 for nobody.
fn actor(parts: &Parts) -> Result<Arc<Actor>, ApiError> {
    match parts.extensions.get::<Identity>() {
        Some(Identity::Known(actor)) => Ok(Arc::clone(actor)),
        Some(Identity::Refused(error) | Identity::Failed(error)) => Err(error.clone()),
        Some(Identity::Nobody) | None => Err(ApiError::unauthorized(
            "this needs an API key; send it as X-API-Key or as Authorization: Bearer",
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
    WebhooksRead,
    WebhooksWrite,
    StocksRead,
    MarketWrite
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
            Via::Key { .. } => Err(ApiError::forbidden(
                "session_required",
                Some("session"),
                "API keys cannot do this; sign in and use the session or its token",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn a_key_is_taken_from_any_of_its_three_places() {
        for pairs in [
            [("x-api-key", "sk_1")],
            [("authorization", "ApiKey sk_1")],
            [("authorization", "Bearer sk_1")],
            [("authorization", "bearer  sk_1 ")],
        ] {
            assert_eq!(key_of(&headers(&pairs)), Ok(Some("sk_1")), "{pairs:?}");
        }
        assert_eq!(key_of(&headers(&[])), Ok(None));
        let twice_the_same = headers(&[("x-api-key", "sk_1"), ("authorization", "Bearer sk_1")]);
        assert_eq!(key_of(&twice_the_same), Ok(Some("sk_1")));
    }

    #[test]
    fn headers_of_which_nobody_can_say_what_they_mean_are_refused() {
        let long = "k".repeat(MAX_KEY_LEN + 1);
        for pairs in [
            &[("x-api-key", "sk_1"), ("x-api-key", "sk_1")][..],
            &[("authorization", "Bearer sk_1"), ("authorization", "Bearer sk_2")],
            &[("x-api-key", "sk_1"), ("authorization", "Bearer sk_2")],
            &[("x-api-key", "sk_1"), ("authorization", "Basic YTpi")],
            &[("authorization", "Bearer eyJhbGciOiJub25lIn0.e30.")],
            &[("authorization", "Basic YTpi")],
            &[("authorization", "Bearer")],
            &[("authorization", "sk_1")],
            &[("x-api-key", "")],
            &[("x-api-key", long.as_str())],
        ] {
            assert!(key_of(&headers(pairs)).is_err(), "{pairs:?}");
        }
    }

    #[test]
    fn a_refusal_does_not_repeat_what_was_sent() {
        let refusal = key_of(&headers(&[("authorization", "Basic c2VjcmV0")])).unwrap_err();
        assert!(!format!("{refusal:?}").contains("c2VjcmV0"));
    }
}
