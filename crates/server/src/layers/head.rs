//! Refuses requests whose head could be read in several ways (`crate::connection`).

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::connection::BadHead;
use crate::error::ApiError;

/// Answers 400 to a request whose connection has found its head to be bad.
pub async fn layer(request: Request, next: Next) -> Response {
    match request.extensions().get::<BadHead>() {
        Some(bad) => ApiError::bad_request(bad.to_string()).into_response(),
        None => next.run(request).await,
    }
}
