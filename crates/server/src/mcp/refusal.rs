//! Refusals as JSON-RPC writes them, whatever their status.

use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde_json::{Value, json};

/// The kinds of refusals, as JSON-RPC numbers them. Those from -32000 to -32019 are an implementation's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// The body is no JSON.
    Parse,
    /// It is JSON, but no request.
    Request,
    /// The arguments are not such as the tool takes.
    Params,
    /// A fault of this program.
    Internal,
    /// The protocol's revision is none of ours.
    Version,
    /// It is not known who asks.
    Unauthorized,
    /// Who asks, or where they ask from, may not.
    Forbidden,
    /// Too much was asked.
    TooMany,
    /// What comes back would not be understood, or what came is not in a form that is.
    Form,
}

impl Kind {
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

/// A refusal before any tool was called.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    kind: Kind,
    message: String,
    data: Option<Box<Value>>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Refusal {
    /// A refusal with a text that names the mend.
    pub(super) fn new(status: StatusCode, kind: Kind, message: impl Into<String>) -> Self {
        Self {
            status,
            kind,
            message: message.into(),
            data: None,
            headers: Vec::new(),
        }
    }

    /// The same, with more for programs.
    pub(super) fn data(self, data: Value) -> Self {
        Self {
            data: Some(Box::new(data)),
            ..self
        }
    }

    /// The same, with a header. What cannot be one is left out.
    pub(super) fn header(mut self, name: HeaderName, value: impl TryInto<HeaderValue>) -> Self {
        if let Ok(value) = value.try_into() {
            self.headers.push((name, value));
        }
        self
    }

    /// The answer to the message with this id; null if it had none that could be read.
    pub(super) fn answer(self, id: &Value) -> Response {
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
