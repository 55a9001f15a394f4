//! Ids in paths.

use alerts::AlertId;
use axum::extract::{FromRequestParts, Path};
use http::request::Parts;
use market::Symbol;
use service::oauth::GrantId;
use service::watchlist::WatchlistItemId;
use service::webhooks::{DeliveryId, WebhookId};
use service::{ApiKeyId, ServiceError};
use uuid::Uuid;

use super::SYMBOL_FAULT;
use crate::app::App;
use crate::error::ApiError;

/// The id of an alert in the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AlertPath(pub AlertId);

impl FromRequestParts<App> for AlertPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let text = Path::<String>::from_request_parts(parts, app).await;
        text.ok()
            .and_then(|Path(text)| uuid(&text))
            .map(|id| Self(AlertId(id)))
            .ok_or_else(|| ApiError::field("id", "must be a UUID such as 0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11"))
    }
}

/// The id of a webhook in the path; what cannot be one is not found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WebhookPath(pub WebhookId);

impl FromRequestParts<App> for WebhookPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let text = Path::<String>::from_request_parts(parts, app).await;
        let id = text.ok().and_then(|Path(text)| uuid(&text));
        id.map(|id| Self(WebhookId(id)))
            .ok_or_else(|| ServiceError::NotFound("webhook").into())
    }
}

/// The id of a watchlist item in the path; what cannot be one is not found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WatchlistItemPath(pub WatchlistItemId);

impl FromRequestParts<App> for WatchlistItemPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let text = Path::<String>::from_request_parts(parts, app).await;
        let id = text.ok().and_then(|Path(text)| uuid(&text));
        id.map(|id| Self(WatchlistItemId(id)))
            .ok_or_else(|| ServiceError::NotFound("watchlist item").into())
    }
}

/// The id of an API key in the path; what cannot be one is not found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ApiKeyPath(pub ApiKeyId);

impl FromRequestParts<App> for ApiKeyPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let text = Path::<String>::from_request_parts(parts, app).await;
        let id = text.ok().and_then(|Path(text)| uuid(&text));
        id.map(|id| Self(ApiKeyId(id)))
            .ok_or_else(|| ServiceError::NotFound("API key").into())
    }
}

/// The id of a grant in the path; what cannot be one is not found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GrantPath(pub GrantId);

impl FromRequestParts<App> for GrantPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let text = Path::<String>::from_request_parts(parts, app).await;
        let id = text.ok().and_then(|Path(text)| uuid(&text));
        id.map(|id| Self(GrantId(id)))
            .ok_or_else(|| ServiceError::NotFound("grant").into())
    }
}

/// The ids of a webhook and of a delivery of it in the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeliveryPath(pub WebhookId, pub DeliveryId);

impl FromRequestParts<App> for DeliveryPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let texts = Path::<(String, String)>::from_request_parts(parts, app).await;
        let ids = texts
            .ok()
            .and_then(|Path((webhook, delivery))| Some((uuid(&webhook)?, uuid(&delivery)?)));
        ids.map(|(webhook, delivery)| Self(WebhookId(webhook), DeliveryId(delivery)))
            .ok_or_else(|| ServiceError::NotFound("delivery").into())
    }
}

/// A UUID in its usual form, in any case.
pub(crate) fn uuid(text: &str) -> Option<Uuid> {
    const LEN: usize = 36;
    (text.len() == LEN).then(|| Uuid::try_parse(text).ok())?
}

/// A symbol in the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SymbolPath(pub Symbol);

impl FromRequestParts<App> for SymbolPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let text = Path::<String>::from_request_parts(parts, app).await;
        text.ok()
            .and_then(|Path(text)| text.parse().ok())
            .map(Self)
            .ok_or_else(|| ApiError::field("symbol", SYMBOL_FAULT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_uuids_in_their_usual_form() {
        assert!(uuid("0B9C7C2E-8f0e-4d5e-9a52-3f1f6f0c8d11").is_some());
        for text in [
            "",
            "1",
            "0b9c7c2e8f0e4d5e9a523f1f6f0c8d11",
            "{0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d1}",
        ] {
            assert_eq!(uuid(text), None, "{text}");
        }
    }
}
