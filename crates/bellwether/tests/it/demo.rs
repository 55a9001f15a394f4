//! Tests of `bellwether demo`.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use crate::support::program;

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStderr};

use program::{TestSetup, request};
use serde_json::Value;

/// A running demo. It is killed when it is dropped.
struct Demo {
    child: Child,
    address: String,
    key: String,
    /// Kept open, because the demo keeps writing to it.
    lines: Lines<BufReader<ChildStderr>>,
}

impl Demo {
    /// Starts the demo and waits for its introduction.
    fn start(setup: &TestSetup) -> Self {
        let mut command = setup.command(&["demo", "--json", "--listen", "127.0.0.1:0", "--for", "300"]);
        let mut child = command.spawn().unwrap();
        let stderr = child.stderr.take().unwrap();
        let mut demo = Self {
            child,
            address: String::new(),
            key: String::new(),
            lines: BufReader::new(stderr).lines(),
        };
        while demo.address.is_empty() || demo.key.is_empty() {
            let line = demo
                .lines
                .next()
                .expect("the demo ends after its introduction")
                .unwrap();
            let mut words = line.split_whitespace();
            match (words.next(), words.next(), words.next()) {
                (Some("API"), Some("key"), Some(key)) => demo.key = key.to_owned(),
                (Some("API"), Some(url), _) => {
                    let path = url.strip_prefix("http://").unwrap();
                    demo.address = path.strip_suffix("/api/v1").unwrap().to_owned();
                }
                _ => {}
            }
        }
        demo
    }

    fn data(&self, path: &str) -> Value {
        request(&self.address, "GET", path, &self.key, "").data()
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn demo_has_a_watchlist_with_trades_and_performance() {
    let setup = TestSetup::new();
    let demo = Demo::start(&setup);
    let items = demo.data("/api/v1/watchlist");
    assert_eq!(items.as_array().unwrap().len(), 6, "{items}");
    for item in items.as_array().unwrap() {
        assert!(
            item["initial_price"].is_number() && item["analysis"].is_object(),
            "{item}"
        );
    }
    let trades = demo.data("/api/v1/watchlist/paper-trades?limit=50");
    let closed = trades
        .as_array()
        .unwrap()
        .iter()
        .filter(|trade| trade["status"] == "closed");
    assert_eq!((trades.as_array().unwrap().len(), closed.count()), (7, 1), "{trades}");
    let performance = demo.data("/api/v1/watchlist/performance?range=max");
    let series = &performance["series"];
    let days = series["watchlist"].as_array().unwrap().len();
    assert!(days > 100, "{days}");
    assert_eq!(series["sp_500"].as_array().unwrap().len(), days);
    assert!(performance["summary"]["alpha_pct"].is_number(), "{performance}");
    assert!(demo.data("/api/v1/market/indices").as_array().unwrap().len() >= 4);
    assert_eq!(demo.data("/api/v1/market/sentiment")["coverage"]["of"], 20);
}

#[test]
fn alerts_fire_with_reasons() {
    let done = TestSetup::new().run(&[
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
fn too_few_firings_exit_with_1() {
    let done = TestSetup::new().run(&[
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
fn kept_demo_continues_from_its_database() {
    let setup = TestSetup::new();
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
