//! Hostile input: malformed, oversized, endless and slow requests. The service rejects each with a clear error, never with a
//! server error, continues to serve other clients, and keeps its memory bounded.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

mod bodies;
mod paths;
mod slow;
mod texts;
mod wire;

use acceptance::TestEnvironment;
use reqwest::Method;

/// Maximum growth of the service's memory under any of these attacks, in KiB.
const MAX_GROWTH_KIB: u64 = 96 * 1024;

/// Asserts that the service responds to normal requests, has not panicked, and has not grown beyond the memory limit.
async fn assert_unharmed(env: &TestEnvironment, before_kib: u64) {
    let alive = env
        .server
        .anonymous_client()
        .request_to(Method::GET, "/healthz")
        .send()
        .await;
    assert_eq!(alive.status, 200, "{alive}");
    let _ = env.operator.get("/alerts").await.expect_ok(200);
    let log = env.server.log();
    assert!(!log.contains("panicked"), "{log}");
    let after_kib = env.server.memory_kib();
    assert!(
        after_kib < before_kib + MAX_GROWTH_KIB,
        "memory grew from {before_kib} to {after_kib} KiB"
    );
}
