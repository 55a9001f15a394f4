//! Errors of the start.

use bus::BusError;
use store::StoreError;

use delivery::messages::MessageTransportError;
use delivery::notification_channels::WebPushKeyError;
use foundation::ServiceError;
use watchlist::analyst::AnalystError;

/// Reason why the service does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Invalid root certificates, or an invalid base URL of a service for notification channels.
    #[error(transparent)]
    Channels(#[from] notify::channels::ChannelSetupError),
    /// The key of push messages cannot be read or generated.
    #[error(transparent)]
    WebPushKey(#[from] WebPushKeyError),
    /// The bus to the other nodes refuses a subscription.
    #[error(transparent)]
    Bus(#[from] BusError),
    /// Invalid configuration of messages.
    #[error(transparent)]
    Messages(#[from] MessageTransportError),
    /// Invalid configuration of the language model.
    #[error(transparent)]
    Analyst(#[from] AnalystError),
    /// The key of access tokens is invalid.
    #[error(transparent)]
    AccessTokens(#[from] ServiceError),
}
