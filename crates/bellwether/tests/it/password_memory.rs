//! A test of the memory use of sign-ins: the real program with the memory limit of a small container.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use crate::support::program;

use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use bellwether::clock::SystemClock;
use clock::Clock;

use program::{RunningService, TestSetup, request};

const LOGINS: usize = 1_000;
/// The number of concurrent sign-ins: more than the hashing threads, fewer than the queue's limit and the limit per
/// address.
const CLIENTS: usize = 40;
/// The memory limit: a container of 256 MB.
const MEMORY_LIMIT_KIB: u64 = 256 * 1024;
/// The maximum resident memory after the sign-ins.
const MAX_RESIDENT_KIB: u64 = 100 * 1024;

/// Returns the anonymous resident memory of a process in KiB. A container's limit counts this part, and the system
/// cannot reclaim it. The pages of the unoptimised program file are not included.
fn resident_kib(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn thousand_logins_fit_into_256_mb_and_leave_less_than_100_mb() {
    let setup = TestSetup::new()
        .set("LIMITS__LOGIN_PER_MINUTE", "100000")
        .set("LIMITS__REGISTER_PER_HOUR", "100000")
        // The pipe of the log is not read during the test.
        .set("LOG__LEVEL", "warn");
    // RLIMIT_DATA counts the private memory that a process may write to, as a container does. An allocation beyond it ends the
    // program.
    let mut command = Command::new("sh");
    // The stacks of threads count, and there is one thread for each processor.
    command.env("TOKIO_WORKER_THREADS", "2");
    let limited = format!("ulimit -d {MEMORY_LIMIT_KIB}; exec \"$0\" serve");
    setup.prepare(command.args(["-c", &limited, program::BINARY]));
    let service = RunningService::start(command);
    let before = resident_kib(service.id());
    let left = AtomicUsize::new(LOGINS);
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (service, left) = (&service, &left);
            scope.spawn(move || {
                // Each client has its own account, because concurrent attempts on one account are slowed down.
                let body = format!(r#"{{"email": "person{client}@example.com", "password": "correct horse"}}"#);
                let post = |path: &str| request(&service.address, "POST", path, "", &body);
                assert_eq!(post("/api/v1/auth/register").status, 201);
                while left
                    .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
                    .is_ok()
                {
                    let response = post("/api/v1/auth/login");
                    assert_eq!(response.status, 200, "{response:?}");
                }
            });
        }
    });
    // The allocator returns freed memory a little later, while it serves other requests.
    let deadline = SystemClock.now() + testkit::HANG_LIMIT;
    loop {
        let after = resident_kib(service.id());
        if after < MAX_RESIDENT_KIB {
            break;
        }
        assert!(
            SystemClock.now() < deadline,
            "{before} KiB before, {after} KiB after {LOGINS} logins"
        );
        assert_eq!(request(&service.address, "GET", "/healthz", "", "").status, 200);
    }
    service.stop();
}
