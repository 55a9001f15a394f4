//! Path parameters: ids and symbols.

use accounts::oauth::GrantId;
use alerts::AlertId;
use axum::extract::{FromRequestParts, Path};
use delivery::webhooks::{DeliveryId, WebhookId};
use foundation::ServiceError;
use http::request::Parts;
use market::Symbol;
use service::ApiKeyId;
use uuid::Uuid;
use watchlist::WatchlistItemId;

use super::SYMBOL_ERROR;
use crate::error::ApiError;
use crate::state::App;

/// Extractor: the alert id in the path. A malformed id is 422.
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

/// Extractor: the webhook id in the path. A malformed id is 404.
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

/// Extractor: the watchlist item id in the path. A malformed id is 404.
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

/// Extractor: the API key id in the path. A malformed id is 404.
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

/// Extractor: the OAuth grant id in the path. A malformed id is 404.
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

/// Extractor: the webhook id and the delivery id in the path. A malformed id is 404.
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

/// Parses a UUID in hyphenated form, in upper or lower case.
pub(crate) fn uuid(text: &str) -> Option<Uuid> {
    const HYPHENATED_LENGTH: usize = 36;
    (text.len() == HYPHENATED_LENGTH).then(|| Uuid::try_parse(text).ok())?
}

/// Extractor: the symbol in the path. An invalid symbol is 422.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SymbolPath(pub Symbol);

impl FromRequestParts<App> for SymbolPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let text = Path::<String>::from_request_parts(parts, app).await;
        text.ok()
            .and_then(|Path(text)| text.parse().ok())
            .map(Self)
            .ok_or_else(|| ApiError::field("symbol", SYMBOL_ERROR))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hyphenated_uuids_are_accepted() {
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
