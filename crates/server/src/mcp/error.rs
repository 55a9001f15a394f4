//! JSON-RPC error responses.

use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde_json::{Value, json};

/// The kinds of errors and their JSON-RPC codes. Codes from -32000 to -32019 are defined by the implementation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum JsonRpcErrorKind {
    /// The body is not JSON.
    Parse,
    /// The body is JSON, but not a request.
    Request,
    /// The parameters are invalid.
    Params,
    /// An internal error.
    Internal,
    /// The protocol revision is not supported.
    Version,
    /// Credentials are missing or invalid.
    Unauthorized,
    /// The caller, host or origin is not permitted.
    Forbidden,
    /// The rate limit is exceeded.
    TooMany,
    /// The media type of the request or of the accepted responses is not supported.
    Form,
}

impl JsonRpcErrorKind {
    pub(super) const fn code(self) -> i32 {
        match self {
            Self::Parse => -32700,
            Self::Request => -32600,
            Self::Params => -32602,
            Self::Internal => -32603,
            Self::Version => -32022,
            Self::Unauthorized => -32001,
            Self::Forbidden => -32003,
            Self::TooMany => -32005,
            Self::Form => -32006,
        }
    }
}

/// A JSON-RPC error before any tool is called.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct JsonRpcError {
    status: StatusCode,
    kind: JsonRpcErrorKind,
    message: String,
    data: Option<Box<Value>>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl JsonRpcError {
    /// Creates an error with a message that says how to fix the request.
    pub(super) fn new(status: StatusCode, kind: JsonRpcErrorKind, message: impl Into<String>) -> Self {
        Self {
            status,
            kind,
            message: message.into(),
            data: None,
            headers: Vec::new(),
        }
    }

    /// Adds data for programs.
    pub(super) fn data(self, data: Value) -> Self {
        Self {
            data: Some(Box::new(data)),
            ..self
        }
    }

    /// Adds a header. An invalid value is ignored.
    pub(super) fn header(mut self, name: HeaderName, value: impl TryInto<HeaderValue>) -> Self {
        if let Ok(value) = value.try_into() {
            self.headers.push((name, value));
        }
        self
    }

    /// Returns the response to the message with this id, or null for a message without a readable id.
    pub(super) fn into_response_for(self, id: &Value) -> Response {
        let mut error = json!({"code": self.kind.code(), "message": self.message});
        if let Some(data) = self.data {
            error["data"] = *data;
        }
        let body = json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string();
        let json = [(header::CONTENT_TYPE, "application/json")];
        let mut response = (self.status, json, body).into_response();
        response.headers_mut().extend(self.headers);
        response
    }
}
