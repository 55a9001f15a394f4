//! Why a program is refused, in OAuth's words.

use store::{Abort, StoreError};

use crate::ServiceError;

/// What is wrong, for programs (RFC 6749, 7591, 8707).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ErrorCode {
    /// Something is missing, comes twice, or cannot be what it says it is.
    InvalidRequest,
    /// There is no such client.
    InvalidClient,
    /// A code or a refresh token is not good, or not for this.
    InvalidGrant,
    /// There is no such way to get tokens.
    UnsupportedGrantType,
    /// There is no such way to be answered.
    UnsupportedResponseType,
    /// Nothing of what is wanted is there to be had, or it is more than was allowed.
    InvalidScope,
    /// Tokens for something that is not here.
    InvalidTarget,
    /// The person does not want it.
    AccessDenied,
    /// A redirect URI of a client that wants to register.
    InvalidRedirectUri,
    /// Something else about a client that wants to register.
    InvalidClientMetadata,
    /// Not now.
    TemporarilyUnavailable,
    /// A fault of this program.
    ServerError,
}

impl ErrorCode {
    /// Its name.
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

/// Why a program is refused.
#[derive(Debug, thiserror::Error)]
pub enum OAuthError {
    /// For what it sent.
    #[error("{description}")]
    Refused {
        /// For programs.
        code: ErrorCode,
        /// For those who write them. It repeats nothing of what was sent.
        description: String,
    },
    /// For a reason that is not the program's.
    #[error(transparent)]
    Failed(#[from] ServiceError),
}

impl OAuthError {
    /// A refusal. The description may have neither quotation marks nor backslashes (RFC 6749, 5.2).
    pub(super) fn new(code: ErrorCode, description: impl Into<String>) -> Self {
        Self::Refused {
            code,
            description: description.into(),
        }
    }

    pub(super) fn request(description: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidRequest, description)
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
