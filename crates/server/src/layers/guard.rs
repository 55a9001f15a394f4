//! An answer in time, whatever happens inside.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;

use crate::error::{ApiError, Code};
use crate::settings::Timeouts;

/// What finding out who asks may take beside.
const MARGIN: Duration = Duration::from_secs(5);

/// When a request may be repeated that took too long.
const RETRY_AFTER_SECONDS: u64 = 5;

/// Answers 503 when it takes too long, 500 when something panics.
pub async fn layer(State(timeouts): State<Timeouts>, request: Request, next: Next) -> Response {
    let time = match request.uri().path() {
        // Its tools have that time each, and end by themselves, in their own words.
        "/mcp" => timeouts.body + timeouts.request + MARGIN,
        _ => timeouts.request,
    };
    match tokio::time::timeout(time, unpanicked(next.run(request))).await {
        Ok(response) => response,
        Err(_) => {
            tracing::warn!(limit_s = time.as_secs(), "a request took too long");
            let message = format!("this took longer than {} s; try again", time.as_secs());
            ApiError::new(Code::ServiceUnavailable, message)
                .retry_after(RETRY_AFTER_SECONDS)
                .into_response()
        }
    }
}

/// The answer, or 500 if what makes it panics.
pub(super) async fn unpanicked(answer: impl Future<Output = Response>) -> Response {
    // What panicked is dropped with its future; what it shares with others is locked, and the locks say why they may
    // be taken again.
    match AssertUnwindSafe(answer).catch_unwind().await {
        Ok(response) => response,
        Err(panic) => ApiError::internal(format!("panic: {}", text_of(&*panic))).into_response(),
    }
}

/// What a panic says of itself, for the log.
pub(crate) fn text_of(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a text")
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::{Body, to_bytes};
    use axum::middleware::from_fn_with_state;
    use axum::routing::get;
    use tower::ServiceExt;

    use super::*;

    async fn answer(path: &str) -> (u16, String) {
        let router: Router = Router::new()
            .route("/panics", get(|| async { panic!("secret-{}", "state") as String }))
            .route("/hangs", get(std::future::pending::<String>))
            .layer(from_fn_with_state(Timeouts::default(), layer));
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = router.oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let body = to_bytes(response.into_body(), 10_000).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn a_panic_is_an_error_in_the_envelope_that_says_nothing_of_its_cause() {
        let (status, body) = answer("/panics").await;
        assert_eq!(status, 500);
        assert!(body.contains("INTERNAL_ERROR") && !body.contains("secret"), "{body}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_endpoint_that_hangs_is_answered_for() {
        let (status, body) = answer("/hangs").await;
        assert_eq!(status, 503);
        assert!(body.contains("SERVICE_UNAVAILABLE"), "{body}");
    }
}
