//! Errors of requests.

use serde::Deserialize;
use serde_json::{Map, Value};

/// An error of a request.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The address of the server is not valid.
    #[error("{0} is not the address of a server; give one such as https://alerts.example.com")]
    InvalidUrl(String),
    /// The server cannot be reached, or does not respond in time.
    #[error("cannot reach {url}: {cause}; check the address, and whether the service runs")]
    Unreachable {
        /// The address of the server.
        url: String,
        /// The error of the connection.
        cause: String,
    },
    /// The server refused the request.
    #[error("{0}")]
    Refused(Box<RequestRefusal>),
    /// The response is not one of this API.
    #[error(
        "{url} responded to {operation} with something else than Bellwether would: {cause}; check the address, and whether the service \
         is at least as new as this program"
    )]
    UnexpectedResponse {
        /// The address of the server.
        url: String,
        /// The method and the path.
        operation: String,
        /// The unexpected part.
        cause: String,
    },
}

/// An error response.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct RequestRefusal {
    /// The HTTP status.
    pub status: u16,
    /// The error code, such as `VALIDATION_ERROR`.
    pub code: String,
    /// The message: the problem and how to fix it.
    pub message: String,
    /// The details.
    pub details: Map<String, Value>,
    /// The seconds after which the request can be repeated.
    pub retry_after_s: Option<u64>,
}

/// A refused change of a batch.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct RemoteRefusedChange {
    /// Its list: `create`, `update` or `delete`.
    pub list: String,
    /// Its place in the list, from 0.
    pub index: usize,
    /// The HTTP status of the single request.
    pub status: u16,
    /// The error code of the single request.
    pub code: String,
    /// The message of the single request.
    pub message: String,
    /// The details of the single request.
    #[serde(default)]
    pub details: Map<String, Value>,
}

impl RequestRefusal {
    /// Returns the refused changes of a batch.
    #[must_use]
    pub fn refused_changes(&self) -> Vec<RemoteRefusedChange> {
        let refused = self.details.get("refused").cloned().unwrap_or_default();
        serde_json::from_value(refused).unwrap_or_default()
    }
}

impl ClientError {
    /// Returns the error response, if the server sent one.
    #[must_use]
    pub fn refusal(&self) -> Option<&RequestRefusal> {
        match self {
            Self::Refused(error) => Some(error),
            _ => None,
        }
    }

    /// Whether the request conflicts with the present state.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        self.refusal().is_some_and(|error| error.status == 409)
    }
}
