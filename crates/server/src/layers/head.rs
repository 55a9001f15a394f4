//! Refuses requests with an ambiguous head (`crate::connection`).

use axum::extract::Request;
use axum::response::{IntoResponse, Response};

use super::chain::Next;
use crate::connection::head::AmbiguousHead;
use crate::error::ApiError;
use crate::state::App;

/// Responds 400 if the connection has marked the request's head as ambiguous.
pub(crate) async fn layer(_app: App, request: Request, next: Next) -> Response {
    match request.extensions().get::<AmbiguousHead>() {
        Some(error) => ApiError::bad_request(error.to_string()).into_response(),
        None => next.run(request).await,
    }
}
