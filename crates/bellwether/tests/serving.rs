//! The service as an operator runs it: the real program, a database of its own, any free port.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

#[allow(dead_code, reason = "each test file uses its own part of it")]
#[path = "support/program.rs"]
mod program;

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use program::{Setup, answer, ask, begin};
use serde_json::json;

#[test]
fn a_price_that_is_pushed_fires_an_alert_before_it_is_answered() {
    let setup = Setup::new();
    let service = setup.serve();
    // While it runs.
    let key = setup.operator_key();
    let stock =
        json!({"stocks": [{"symbol": "AAPL", "name": "Apple Inc."}], "quotes": [{"symbol": "AAPL", "price": 188.4}]});
    assert_eq!(
        service.post("/api/v1/market/ingest", &key, &stock).data()["accepted"]["quotes"],
        1
    );
    let wanted = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 190});
    let alert = service.post("/api/v1/alerts", &key, &wanted).data();
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
fn what_was_there_is_there_after_a_restart() {
    let setup = Setup::new();
    let service = setup.serve();
    let key = setup.operator_key();
    let stock =
        json!({"stocks": [{"symbol": "MSFT", "name": "Microsoft"}], "quotes": [{"symbol": "MSFT", "price": 410}]});
    service.post("/api/v1/market/ingest", &key, &stock).data();
    let wanted = json!({"symbol": "MSFT", "condition": "price_below", "threshold": 400});
    let alert = service.post("/api/v1/alerts", &key, &wanted).data();
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
fn told_to_stop_it_answers_what_is_under_way_and_ends_with_0() {
    let setup = Setup::new();
    let mut service = setup.serve();
    let key = setup.operator_key();
    let body = json!({"quotes": [{"symbol": "AAPL", "price": 1}], "stocks": [{"symbol": "AAPL", "name": "Apple"}]})
        .to_string();
    let mut under_way = begin(&service.address, "/api/v1/market/ingest", &key, body.len());
    service.signal("TERM");
    service.log_with("stopping");
    write!(under_way, "{body}").unwrap();
    assert_eq!(answer(under_way).data()["accepted"]["quotes"], 1);
    assert_eq!(service.ended().code(), Some(0));
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let setup = Setup::new()
        .set("SERVER__SHUTDOWN_TIMEOUT", "1h")
        .set("SERVER__BODY_TIMEOUT", "1h");
    let mut service = setup.serve();
    let key = setup.operator_key();
    let _under_way = begin(&service.address, "/api/v1/market/ingest", &key, 100);
    service.signal("INT");
    service.log_with("stopping");
    service.signal("INT");
    assert_eq!(service.ended().code(), Some(1));
}

#[test]
fn a_taken_address_is_named_and_the_database_is_not_touched() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let setup = Setup::new().set("SERVER__LISTEN", &address);
    let done = setup.run(&["serve"]);
    assert_eq!(done.code, Some(1));
    let expected = format!("error: {address} is taken by another program");
    assert!(
        done.stderr.contains(&expected) && done.stderr.contains("server.listen"),
        "{}",
        done.stderr
    );
    assert_eq!(fs::read_dir(setup.path()).unwrap().count(), 0);
}

#[test]
fn a_database_that_cannot_be_opened_is_named_without_its_password() {
    let setup = Setup::new().set("DATABASE__URL", "postgres://bw:hunter2@127.0.0.1:1/bw");
    let done = setup.run(&["serve"]);
    assert_eq!(done.code, Some(1));
    assert!(
        done.stderr
            .contains("cannot open the database postgres://bw:********@127.0.0.1:1/bw"),
        "{}",
        done.stderr
    );
    assert!(!done.stderr.contains("hunter2") && !done.stdout.contains("listens"));
}

#[test]
fn wrong_settings_end_with_2_and_are_all_named() {
    let setup = Setup::new().set("MARKET__SOURCE", "oracle").set("MARKET__SED", "7");
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
fn health_and_metrics_move_to_their_own_address() {
    let setup = Setup::new()
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
    assert_eq!(ask(&ops, "GET", "/readyz", "", "").status, 200);
    let metrics = ask(&ops, "GET", "/metrics", "", "");
    assert!(metrics.text.contains("http_requests_total{"), "{}", metrics.text);
    assert_eq!(ask(&ops, "GET", "/api/v1/alerts", "", "").status, 404);
}

#[test]
fn traces_are_sent_to_the_collector_by_the_end() {
    let collector = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = collector.local_addr().unwrap();
    let endpoint = format!("http://{address}");
    let setup = Setup::new()
        .set("TELEMETRY__OTLP_ENDPOINT", endpoint)
        .set("TELEMETRY__SERVICE_NAME", "weathervane");
    let service = setup.serve();
    assert_eq!(service.get("/healthz", "").status, 200);
    let received = std::thread::spawn(move || {
        let (mut stream, _) = collector.accept().unwrap();
        let mut request = Vec::new();
        let mut piece = [0; 4096];
        // The request is small; it is there when the name of the span is.
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
    // What was traced last is sent before it ends.
    assert_eq!(service.stop().code(), Some(0));
    // Should nothing have come, this lets the collector go.
    drop(TcpStream::connect(address));
    let request = received.join().unwrap();
    assert!(request.starts_with("POST /v1/traces HTTP/1.1"), "{request}");
    assert!(request.contains("weathervane"), "{request}");
}

#[test]
fn a_data_folder_is_followed() {
    let setup = Setup::new();
    let folder = setup.path().join("data");
    fs::create_dir_all(folder.join("bars")).unwrap();
    let bars = "symbol,date,open,high,low,close,volume\nAAPL,2024-03-07,169.15,170.73,168.49,169.00,71765061\n";
    fs::write(folder.join("bars/aapl.csv"), bars).unwrap();
    fs::write(folder.join("stocks.csv"), "symbol,name\nAAPL,Apple Inc.\n").unwrap();
    let setup = setup
        .set("MARKET__SOURCE", "file")
        .set("MARKET__DATA_DIR", folder.display().to_string());
    // It is asked until the folder has been read.
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
fn a_data_folder_that_cannot_be_read_ends_it_with_its_name() {
    let setup = Setup::new()
        .set("MARKET__SOURCE", "file")
        .set("MARKET__DATA_DIR", "no-such-folder");
    let mut service = setup.serve();
    let mut said = String::new();
    service.stderr.read_to_string(&mut said).unwrap();
    assert!(said.contains("no-such-folder"), "{said}");
    assert_eq!(service.ended().code(), Some(1));
}
