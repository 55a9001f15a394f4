//! Path parameters: ids, symbols and names of jobs.

use accounts::oauth::GrantId;
use alerts::AlertId;
use axum::extract::{FromRequestParts, Path};
use delivery::notification_channels::NotificationChannelId;
use delivery::webhooks::{DeliveryId, WebhookId};
use foundation::ServiceError;
use http::request::Parts;
use market::Symbol;
use service::cron::Job;
use service::firings::EventId;
use service::{ApiKeyId, HistoryPosition};
use uuid::Uuid;
use watchlist::WatchlistItemId;

use super::{Query, SYMBOL_ERROR};
use crate::error::ApiError;
use crate::state::App;

pub(super) const UUID_ERROR: &str = "must be a UUID such as 0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11";

/// Declares extractors of the parameter in the path, with the error for a text that is not valid.
macro_rules! path_parameters {
    ($($(#[doc = $doc:literal])* $name:ident($kind:ty) = $parse:expr, $error:expr;)*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $name(pub $kind);

        impl FromRequestParts<App> for $name {
            type Rejection = ApiError;

            async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
                let text = Path::<String>::from_request_parts(parts, app).await;
                let value: Option<$kind> = text.ok().and_then(|Path(text)| $parse(&text));
                value.map(Self).ok_or_else(|| $error)
            }
        }
    )*};
}

path_parameters! {
    /// Extractor: the alert id in the path. A malformed id is 422.
    AlertPath(AlertId) = |text: &str| uuid(text).map(AlertId),
        ApiError::field("id", UUID_ERROR);
    /// Extractor: the webhook id in the path. A malformed id is 404.
    WebhookPath(WebhookId) = |text: &str| uuid(text).map(WebhookId), not_found("webhook");
    /// Extractor: the notification channel id in the path. A malformed id is 404.
    NotificationChannelPath(NotificationChannelId) = |text: &str| uuid(text).map(NotificationChannelId),
        not_found("notification channel");
    /// Extractor: the watchlist item id in the path. A malformed id is 404.
    WatchlistItemPath(WatchlistItemId) = |text: &str| uuid(text).map(WatchlistItemId), not_found("watchlist item");
    /// Extractor: the firing id in the path. A malformed id is 404.
    FiringPath(EventId) = |text: &str| uuid(text).map(EventId), not_found("firing");
    /// Extractor: the API key id in the path. A malformed id is 404.
    ApiKeyPath(ApiKeyId) = |text: &str| uuid(text).map(ApiKeyId), not_found("API key");
    /// Extractor: the OAuth grant id in the path. A malformed id is 404.
    GrantPath(GrantId) = |text: &str| uuid(text).map(GrantId), not_found("grant");
    /// Extractor: the symbol in the path. An invalid symbol is 422.
    SymbolPath(Symbol) = |text: &str| text.parse().ok(), ApiError::field("symbol", SYMBOL_ERROR);
    /// Extractor: the job in the path. An unknown job is 404.
    JobPath(Job) = Job::from_name, not_found("job");
}

fn not_found(what: &'static str) -> ApiError {
    ServiceError::NotFound(what).into()
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
            .ok_or_else(|| not_found("delivery"))
    }
}

impl Query {
    /// Reads the id of an alert.
    pub(crate) fn alert_id(&mut self, name: &str) -> Option<AlertId> {
        let id = uuid(self.value(name)?).map(AlertId);
        if id.is_none() {
            self.reject(name, UUID_ERROR);
        }
        id
    }
}

pub(super) const HISTORY_POSITION_ERROR: &str = "must be the position of a history entry, such as 4711";
/// Positions of history entries.
pub(super) const HISTORY_POSITION_PATTERN: &str = "^[1-9][0-9]{0,18}$";

/// Parses the position of a history entry in the form of responses.
pub(super) fn history_position(text: &str) -> Option<HistoryPosition> {
    let position: i64 = text.parse().ok().filter(|position| *position > 0)?;
    (position.to_string() == text).then_some(HistoryPosition(position))
}

/// Parses a UUID in hyphenated form, in upper or lower case.
pub(crate) fn uuid(text: &str) -> Option<Uuid> {
    const HYPHENATED_LENGTH: usize = 36;
    (text.len() == HYPHENATED_LENGTH).then(|| Uuid::try_parse(text).ok())?
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
