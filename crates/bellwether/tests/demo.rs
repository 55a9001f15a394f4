//! The demo: the service with nothing to prepare, and firings that one need not wait for.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

#[allow(dead_code, reason = "each test file uses its own part of it")]
#[path = "support/program.rs"]
mod program;

use program::Setup;
use serde_json::Value;

#[test]
fn alerts_fire_and_say_why() {
    let done = Setup::new().run(&[
        "demo",
        "--json",
        "--listen",
        "127.0.0.1:0",
        "--for",
        "60",
        "--firings",
        "5",
    ]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let firings: Vec<Value> = done
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(firings.len(), 5);
    for firing in &firings {
        let keys: Vec<_> = firing.as_object().unwrap().keys().cloned().collect();
        assert_eq!(
            keys,
            [
                "time",
                "alert_id",
                "symbol",
                "condition",
                "threshold",
                "price",
                "metric",
                "reason"
            ]
        );
        assert!(!firing["reason"].as_str().unwrap().is_empty(), "{firing}");
    }
    assert!(
        done.stderr.contains("API key    sk_") && done.stderr.contains("curl -s http://127.0.0.1:"),
        "{}",
        done.stderr
    );
}

#[test]
fn too_few_firings_in_time_are_a_failure() {
    let done = Setup::new().run(&[
        "demo",
        "--json",
        "--listen",
        "127.0.0.1:0",
        "--for",
        "1",
        "--firings",
        "100000",
    ]);
    assert_eq!(done.code, Some(1));
    assert!(done.stderr.contains("fired in time, not 100000"), "{}", done.stderr);
}

#[test]
fn a_kept_demo_goes_on_from_its_database() {
    let setup = Setup::new();
    let run = || {
        setup.run(&[
            "demo",
            "--dir",
            "kept",
            "--listen",
            "127.0.0.1:0",
            "--for",
            "60",
            "--firings",
            "1",
        ])
    };
    let first = run();
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    let second = run();
    assert_eq!(second.code, Some(0), "{}", second.stderr);
    assert!(
        second.stderr.contains("password (as in the first run)"),
        "{}",
        second.stderr
    );
    assert!(setup.path().join("kept/demo.db").exists());
}
