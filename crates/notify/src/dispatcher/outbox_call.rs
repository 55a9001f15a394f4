//! Calls of the outbox.

use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use tracing::{error, warn};

/// A call to the outbox has failed. The error has been logged.
pub(super) struct OutboxFailed;

/// Calls the outbox, and logs an error or a panic.
pub(super) async fn call_outbox<A, E: std::fmt::Display>(
    operation: &'static str,
    call: impl Future<Output = Result<A, E>>,
) -> Result<A, OutboxFailed> {
    match AssertUnwindSafe(call).catch_unwind().await {
        Ok(Ok(reply)) => Ok(reply),
        Ok(Err(error)) => {
            warn!(%error, operation, "the outbox has failed; the call is repeated");
            Err(OutboxFailed)
        }
        Err(_) => {
            error!(operation, "the outbox panicked; the call is repeated");
            Err(OutboxFailed)
        }
    }
}
