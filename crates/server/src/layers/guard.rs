//! A time limit for each request, and a response to panics.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;

use super::chain::Next;
use crate::error::{ApiError, ApiErrorCode};
use crate::state::App;

/// Additional time for authentication on `/mcp`.
const MCP_AUTHENTICATION_MARGIN: Duration = Duration::from_secs(5);

/// `Retry-After` of requests that exceed the time limit, in seconds.
const RETRY_AFTER_SECONDS: u64 = 5;

/// Responds 503 if the request exceeds the time limit, and 500 if the handler panics.
pub(crate) async fn layer(app: App, request: Request, next: Next) -> Response {
    let timeouts = app.settings().timeouts;
    let limit = match request.uri().path() {
        // Each tool call has the request timeout, and responds itself when it exceeds it.
        "/mcp" => timeouts.body + timeouts.request + MCP_AUTHENTICATION_MARGIN,
        _ => timeouts.request,
    };
    within(limit, next.run(request)).await
}

/// Returns the response, 503 if it takes longer than `limit`, or 500 if the future panics.
async fn within(limit: Duration, response: impl Future<Output = Response>) -> Response {
    match tokio::time::timeout(limit, catch_panic(response)).await {
        Ok(response) => response,
        Err(_) => {
            tracing::warn!(limit_s = limit.as_secs(), "a request took too long");
            let message = format!("this took longer than {} s; try again", limit.as_secs());
            ApiError::new(ApiErrorCode::ServiceUnavailable, message)
                .retry_after(RETRY_AFTER_SECONDS)
                .into_response()
        }
    }
}

/// Returns the response, or 500 if the future panics.
pub(super) async fn catch_panic(response: impl Future<Output = Response>) -> Response {
    // The future is dropped after a panic. Shared state is behind locks, whose comments say why poisoning is harmless.
    match AssertUnwindSafe(response).catch_unwind().await {
        Ok(response) => response,
        Err(panic) => ApiError::internal(format!("panic: {}", panic_message(&*panic))).into_response(),
    }
}

/// Returns the message of a panic, for the log.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;

    async fn response_of(handler: impl Future<Output = Response>) -> (u16, String) {
        let response = within(Duration::from_secs(30), handler).await;
        let status = response.status().as_u16();
        let body = to_bytes(response.into_body(), 10_000).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn panic_is_500_without_its_cause() {
        let (status, body) = response_of(async { panic!("secret-{}", "state") }).await;
        assert_eq!(status, 500);
        assert!(body.contains("INTERNAL_ERROR") && !body.contains("secret"), "{body}");
    }

    #[tokio::test(start_paused = true)]
    async fn endpoint_that_hangs_is_503() {
        let (status, body) = response_of(std::future::pending()).await;
        assert_eq!(status, 503);
        assert!(body.contains("SERVICE_UNAVAILABLE"), "{body}");
    }
}
