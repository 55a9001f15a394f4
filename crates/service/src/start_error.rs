//! Errors of the start.

use store::StoreError;

use delivery::messages::MessageTransportError;
use foundation::ServiceError;
use watchlist::analyst::AnalystError;

/// Reason why the service does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Invalid root certificates.
    #[error(transparent)]
    Tls(#[from] notify::client::TlsSetupError),
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
