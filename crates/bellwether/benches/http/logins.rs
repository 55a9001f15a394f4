//! Measures how many concurrent sign-ins slow down other requests.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;

use crate::load::Timings;
use crate::program::Program;

/// The number of concurrent clients that sign in again and again.
const CONCURRENT_LOGINS: usize = 200;

/// Measures `GET /healthz` during password hashing and without load, and failed sign-ins with and without an existing
/// account.
pub(crate) async fn logins(program: &Program) {
    let quiet = health(program, 400).await;
    let (is_over, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    let during = async {
        let during = health(program, 400).await;
        is_over.store(true, Ordering::Relaxed);
        during
    };
    let people = join_all((0..CONCURRENT_LOGINS).map(|person| people(program, person, &is_over, &answered)));
    let (during, _) = tokio::join!(during, people);
    println!(
        "logins: {CONCURRENT_LOGINS} at once ({} answered): /healthz median {:.2} ms, quiet {:.2} ms: {:.1} times; p99 {:.2} ms, quiet \
         {:.2} ms: {:.1} times",
        answered.load(Ordering::Relaxed),
        during.percentile_ms(50),
        quiet.percentile_ms(50),
        during.percentile_ms(50) / quiet.percentile_ms(50),
        during.p99_ms(),
        quiet.p99_ms(),
        during.p99_ms() / quiet.p99_ms(),
    );
    let (mut known, mut unknown) = (Timings::default(), Timings::default());
    for number in 0..100 {
        // The two alternate, so that other load affects both equally.
        known.time(login(program, "bench@example.com", number)).await;
        unknown.time(login(program, "nobody@example.com", number)).await;
    }
    println!(
        "logins: a wrong password takes {:.2} ms without an account, {:.2} ms with one: {:.3} times (medians)",
        unknown.percentile_ms(50),
        known.percentile_ms(50),
        unknown.percentile_ms(50) / known.percentile_ms(50),
    );
}

async fn health(program: &Program, times: usize) -> Timings {
    let mut timings = Timings::default();
    for _ in 0..times {
        timings.time(program.get("/healthz")).await;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    timings
}

async fn people(program: &Program, person: usize, is_over: &AtomicBool, answered: &AtomicUsize) {
    let mut number = person * 1_000_000;
    while !is_over.load(Ordering::Relaxed) {
        // Each has another email, as an account with many wrong passwords answers without a hash.
        login(program, &format!("{number}@example.com"), number).await;
        answered.fetch_add(1, Ordering::Relaxed);
        number += 1;
    }
}

/// Sends a wrong password, each time from another address, so that no rate limit applies.
fn login(program: &Program, email: &str, number: usize) -> impl Future<Output = ()> + use<> {
    let address = std::net::Ipv4Addr::from(0x0b00_0000 + u32::try_from(number % 0x00ff_ffff).unwrap());
    program.login(&json!({"email": email, "password": "wrong horse"}), address)
}
