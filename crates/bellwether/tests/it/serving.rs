//! Tests of `bellwether serve`: the real program with a separate database on a free port.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use crate::support::program;

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use program::{TestSetup, begin, read_response, request};
use serde_json::json;

#[test]
fn pushed_price_fires_an_alert_before_the_response() {
    let setup = TestSetup::new();
    let service = setup.serve();
    // The admin command runs while the service runs.
    let key = setup.operator_key();
    let stock =
        json!({"stocks": [{"symbol": "AAPL", "name": "Apple Inc."}], "quotes": [{"symbol": "AAPL", "price": 188.4}]});
    assert_eq!(
        service.post("/api/v1/market/ingest", &key, &stock).data()["accepted"]["quotes"],
        1
    );
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 190});
    let alert = service.post("/api/v1/alerts", &key, &body).data();
    service
        .post(
            "/api/v1/market/ingest",
            &key,
            &json!({"quotes": [{"symbol": "AAPL", "price": 190.25}]}),
        )
        .data();
    let path = format!("/api/v1/alerts/{}/history", alert["id"].as_str().unwrap());
    let history = service.get(&path, &key).data();
    let entries = history.as_array().unwrap();
    let fired = entries
        .iter()
        .find(|entry| entry["action_type"] == "triggered")
        .unwrap();
    assert_eq!(fired["trigger_price"], json!(190.25));
    assert_eq!(service.stop().code(), Some(0));
}

#[test]
fn alerts_and_prices_survive_a_restart() {
    let setup = TestSetup::new();
    let service = setup.serve();
    let key = setup.operator_key();
    let stock =
        json!({"stocks": [{"symbol": "MSFT", "name": "Microsoft"}], "quotes": [{"symbol": "MSFT", "price": 410}]});
    service.post("/api/v1/market/ingest", &key, &stock).data();
    let body = json!({"symbol": "MSFT", "condition": "price_below", "threshold": 400});
    let alert = service.post("/api/v1/alerts", &key, &body).data();
    assert_eq!(service.stop().code(), Some(0));

    let service = setup.serve();
    service
        .post(
            "/api/v1/market/ingest",
            &key,
            &json!({"quotes": [{"symbol": "MSFT", "price": 399.99}]}),
        )
        .data();
    let again = service
        .get(&format!("/api/v1/alerts/{}", alert["id"].as_str().unwrap()), &key)
        .data();
    assert_eq!(
        (&again["status"], &again["initial_price"]),
        (&json!("triggered"), &json!(410))
    );
}

#[test]
fn sigterm_answers_running_requests_and_exits_with_0() {
    let setup = TestSetup::new();
    let mut service = setup.serve();
    let key = setup.operator_key();
    let body = json!({"quotes": [{"symbol": "AAPL", "price": 1}], "stocks": [{"symbol": "AAPL", "name": "Apple"}]})
        .to_string();
    let mut in_flight = begin(&service.address, "/api/v1/market/ingest", &key, body.len());
    service.signal("TERM");
    service.wait_for_log("stopping");
    write!(in_flight, "{body}").unwrap();
    assert_eq!(read_response(in_flight).data()["accepted"]["quotes"], 1);
    assert_eq!(service.wait().code(), Some(0));
}

#[test]
fn second_signal_exits_at_once() {
    let setup = TestSetup::new()
        .set("SERVER__SHUTDOWN_TIMEOUT", "1h")
        .set("SERVER__BODY_TIMEOUT", "1h");
    let mut service = setup.serve();
    let key = setup.operator_key();
    let _under_way = begin(&service.address, "/api/v1/market/ingest", &key, 100);
    service.signal("INT");
    service.wait_for_log("stopping");
    service.signal("INT");
    assert_eq!(service.wait().code(), Some(1));
}

#[test]
fn used_address_is_named_and_the_database_is_not_touched() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let setup = TestSetup::new().set("SERVER__LISTEN", &address);
    let done = setup.run(&["serve"]);
    assert_eq!(done.code, Some(1));
    let expected = format!("error: {address} is already in use");
    assert!(
        done.stderr.contains(&expected) && done.stderr.contains("server.listen"),
        "{}",
        done.stderr
    );
    assert_eq!(fs::read_dir(setup.path()).unwrap().count(), 0);
}

#[test]
fn unreachable_database_is_named_without_its_password() {
    let setup = TestSetup::new().set("DATABASE__URL", "postgres://bw:hunter2@127.0.0.1:1/bw");
    let done = setup.run(&["serve"]);
    assert_eq!(done.code, Some(1));
    assert!(
        done.stderr
            .contains("cannot open the database postgres://bw:********@127.0.0.1:1/bw"),
        "{}",
        done.stderr
    );
    assert_eq!(done.stderr.matches("refused").count(), 1, "{}", done.stderr);
    assert!(!done.stderr.contains("hunter2") && !done.stdout.contains("listens"));
}

#[test]
fn invalid_settings_exit_with_2_and_are_all_named() {
    let setup = TestSetup::new().set("MARKET__SOURCE", "oracle").set("MARKET__SED", "7");
    for args in [
        &["serve"][..],
        &["config"],
        &["admin", "set-plan", "--email", "a@b.c", "--plan", "basic"],
    ] {
        let done = setup.run(args);
        assert_eq!(done.code, Some(2), "{args:?}");
        assert!(done.stderr.contains("BELLWETHER_MARKET__SOURCE"), "{}", done.stderr);
        assert!(done.stderr.contains("BELLWETHER_MARKET__SED"), "{}", done.stderr);
    }
}

#[test]
fn health_and_metrics_can_have_a_separate_address() {
    let setup = TestSetup::new()
        .set("SERVER__OPS_LISTEN", "127.0.0.1:0")
        .set("MARKET__SOURCE", "simulated");
    let mut service = setup.serve();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut service.stdout, &mut line).unwrap();
    let ops = line
        .trim()
        .strip_prefix("health and metrics are on http://")
        .unwrap()
        .to_owned();
    assert_eq!(service.get("/metrics", "").status, 404);
    assert_eq!(request(&ops, "GET", "/readyz", "", "").status, 200);
    let metrics = request(&ops, "GET", "/metrics", "", "");
    assert!(metrics.text.contains("http_requests_total{"), "{}", metrics.text);
    assert_eq!(request(&ops, "GET", "/api/v1/alerts", "", "").status, 404);
}

#[test]
fn remaining_traces_are_sent_at_exit() {
    let collector = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = collector.local_addr().unwrap();
    let endpoint = format!("http://{address}");
    let setup = TestSetup::new()
        .set("TELEMETRY__OTLP_ENDPOINT", endpoint)
        .set("TELEMETRY__SERVICE_NAME", "weathervane");
    let service = setup.serve();
    assert_eq!(service.get("/healthz", "").status, 200);
    let received = std::thread::spawn(move || {
        let (mut stream, _) = collector.accept().unwrap();
        let mut request = Vec::new();
        let mut piece = [0; 4096];
        // The request is small. It is complete when it contains the span's name.
        while !String::from_utf8_lossy(&request).contains("/healthz") {
            let length = stream.read(&mut piece).unwrap();
            assert!(length > 0, "the connection ended");
            request.extend_from_slice(&piece[..length]);
        }
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            .unwrap();
        String::from_utf8_lossy(&request).into_owned()
    });
    // The last traces are sent before the program ends.
    assert_eq!(service.stop().code(), Some(0));
    // This connection unblocks the collector if nothing was sent.
    drop(TcpStream::connect(address));
    let request = received.join().unwrap();
    assert!(request.starts_with("POST /v1/traces HTTP/1.1"), "{request}");
    assert!(request.contains("weathervane"), "{request}");
}

#[test]
fn data_folder_is_read() {
    let setup = TestSetup::new();
    let folder = setup.path().join("data");
    fs::create_dir_all(folder.join("bars")).unwrap();
    let bars = "symbol,date,open,high,low,close,volume\nAAPL,2024-03-07,169.15,170.73,168.49,169.00,71765061\n";
    fs::write(folder.join("bars/aapl.csv"), bars).unwrap();
    fs::write(folder.join("stocks.csv"), "symbol,name\nAAPL,Apple Inc.\n").unwrap();
    let setup = setup
        .set("MARKET__SOURCE", "file")
        .set("MARKET__DATA_DIR", folder.display().to_string());
    // The test polls until the folder has been read.
    let setup = setup.set("LIMITS__PREMIUM_PER_HOUR", "4000000000");
    let service = setup.serve();
    let key = setup.operator_key();
    let stock = loop {
        let stock = service.get("/api/v1/stocks/AAPL", &key);
        if stock.status == 200 && stock.data()["last_price"].is_number() {
            break stock.data();
        }
    };
    assert_eq!(
        (&stock["name"], &stock["last_price"]),
        (&json!("Apple Inc."), &json!(169))
    );
}

#[test]
fn unreadable_data_folder_exits_with_its_name() {
    let setup = TestSetup::new()
        .set("MARKET__SOURCE", "file")
        .set("MARKET__DATA_DIR", "no-such-folder");
    let mut service = setup.serve();
    let mut output = String::new();
    service.stderr.read_to_string(&mut output).unwrap();
    assert!(output.contains("no-such-folder"), "{output}");
    assert_eq!(service.wait().code(), Some(1));
}
