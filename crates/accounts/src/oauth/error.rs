//! OAuth errors.

use store::{Abort, StoreError};

use foundation::ServiceError;

/// OAuth error codes (RFC 6749, 7591, 8707).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OAuthErrorCode {
    /// A parameter is missing, duplicate or invalid.
    InvalidRequest,
    /// The client does not exist.
    InvalidClient,
    /// A code or refresh token is invalid, or belongs to another client.
    InvalidGrant,
    /// Unsupported `grant_type`.
    UnsupportedGrantType,
    /// Unsupported `response_type`.
    UnsupportedResponseType,
    /// The scope is unknown, or exceeds the grant.
    InvalidScope,
    /// Unknown `resource`.
    InvalidTarget,
    /// The user denied the request.
    AccessDenied,
    /// Invalid redirect URI in a registration.
    InvalidRedirectUri,
    /// Other invalid metadata in a registration.
    InvalidClientMetadata,
    /// Temporarily unavailable.
    TemporarilyUnavailable,
    /// Internal error.
    ServerError,
}

impl OAuthErrorCode {
    /// Returns the code as in responses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::InvalidClient => "invalid_client",
            Self::InvalidGrant => "invalid_grant",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::UnsupportedResponseType => "unsupported_response_type",
            Self::InvalidScope => "invalid_scope",
            Self::InvalidTarget => "invalid_target",
            Self::AccessDenied => "access_denied",
            Self::InvalidRedirectUri => "invalid_redirect_uri",
            Self::InvalidClientMetadata => "invalid_client_metadata",
            Self::TemporarilyUnavailable => "temporarily_unavailable",
            Self::ServerError => "server_error",
        }
    }
}

/// Reason why an OAuth request fails.
#[derive(Debug, thiserror::Error)]
pub enum OAuthError {
    /// The request is invalid.
    #[error("{description}")]
    Refused {
        /// Error code.
        code: OAuthErrorCode,
        /// Description for developers. It contains nothing of the request.
        description: String,
    },
    /// Internal failure.
    #[error(transparent)]
    Failed(#[from] ServiceError),
}

impl OAuthError {
    /// Creates a refusal. The description must not contain quotation marks or backslashes (RFC 6749, 5.2).
    pub(super) fn new(code: OAuthErrorCode, description: impl Into<String>) -> Self {
        Self::Refused {
            code,
            description: description.into(),
        }
    }

    pub(super) fn request(description: impl Into<String>) -> Self {
        Self::new(OAuthErrorCode::InvalidRequest, description)
    }
}

impl From<StoreError> for OAuthError {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<Abort<ServiceError>> for OAuthError {
    fn from(abort: Abort<ServiceError>) -> Self {
        Self::Failed(abort.into())
    }
}
