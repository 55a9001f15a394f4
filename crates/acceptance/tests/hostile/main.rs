//! What nobody means well by: broken, huge, endless, slow. Every answer is a clear refusal and never a fault of the
//! program; whoever behaves is served meanwhile; nothing grows.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod bodies;
mod paths;
mod slow;
mod texts;
mod wire;

use acceptance::World;
use reqwest::Method;

/// How much the program's memory may grow under any of these attacks, in KiB.
const GROWTH_KIB: u64 = 96 * 1024;

/// The world is as it was: somebody who behaves is served, nothing panicked, memory did not grow beyond bounds.
async fn unharmed(world: &World, before_kib: u64) {
    let alive = world.server.anybody().request_to(Method::GET, "/healthz").send().await;
    assert_eq!(alive.status, 200, "{alive}");
    let _ = world.me.get("/alerts").await.ok(200);
    let log = world.server.log();
    assert!(!log.contains("panicked"), "{log}");
    let after_kib = world.server.memory_kib();
    assert!(
        after_kib < before_kib + GROWTH_KIB,
        "memory grew from {before_kib} to {after_kib} KiB"
    );
}
