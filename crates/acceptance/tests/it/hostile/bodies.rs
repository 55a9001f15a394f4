//! Hostile bodies: deeply nested, oversized, compressed, with duplicate fields or invalid UTF-8.

use std::io::Write;

use acceptance::{ServiceSetup, on_both_databases};
use reqwest::Method;
use serde_json::{Value, json};

use crate::hostile::assert_unharmed;

on_both_databases![
    deeply_nested_body_is_rejected,
    out_of_range_number_is_rejected,
    duplicate_field_is_rejected_or_last_value_counts,
    body_with_invalid_text_is_rejected,
    compressed_body_is_rejected,
    body_of_maximum_size_is_accepted,
    wrong_type_is_422_with_field_name,
];

async fn deeply_nested_body_is_rejected(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let before = env.server.memory_kib();
    let alert = |parameters: &str| {
        format!(r#"{{"symbol": "AAPL", "condition": "price_above", "threshold": 200, "parameters": {parameters}}}"#)
    };
    let deep = |depth: usize| format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
    for body in [
        "[".repeat(500_000),
        format!("{}{}", "[".repeat(400_000), "]".repeat(400_000)),
        deep(100_000),
        r#"{"a":"#.repeat(150_000),
        alert(&deep(100_000)),
        alert(&deep(127)),
        alert(&deep(500)),
        alert(&format!("{{\"a\": {}{}}}", "[".repeat(300_000), "]".repeat(300_000))),
    ] {
        for path in ["/alerts", "/market/ingest"] {
            let response = env
                .operator
                .request(Method::POST, path)
                .raw_json(body.clone())
                .send()
                .await;
            assert!((400..500).contains(&response.status), "{response}");
            response.check_error_response();
        }
    }
    assert_unharmed(&env, before).await;
}

async fn out_of_range_number_is_rejected(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let before = env.server.memory_kib();
    for number in [
        "1e400".to_owned(),
        "-1e400".to_owned(),
        "1e999999999999999999999".to_owned(),
        "9".repeat(100_000),
        format!("-{}", "9".repeat(1000)),
        format!("1{}", "0".repeat(400)),
        "1e-400".to_owned(),
        format!("0.{}1", "0".repeat(100_000)),
        "9223372036854775808".to_owned(),
        "1e308".to_owned(),
        "NaN".to_owned(),
        "Infinity".to_owned(),
        "0x10".to_owned(),
        "1_000".to_owned(),
        "+1".to_owned(),
        "01".to_owned(),
        "-0".to_owned(),
    ] {
        let alert = format!(r#"{{"symbol": "AAPL", "condition": "price_above", "threshold": {number}}}"#);
        let response = env
            .operator
            .request(Method::POST, "/alerts")
            .raw_json(alert)
            .send()
            .await;
        assert!(matches!(response.status, 400 | 422), "{response}");
        response.check_error_response();
        let quote = format!(r#"{{"quotes": [{{"symbol": "AAPL", "price": {number}}}]}}"#);
        let response = env
            .operator
            .request(Method::POST, "/market/ingest")
            .raw_json(quote)
            .send()
            .await;
        if response.status == 200 {
            assert_eq!(
                response.data()["accepted"]["quotes"].as_u64().unwrap_or(0),
                0,
                "{response}"
            );
        } else {
            response.check_error_response();
            assert!(response.status < 500, "{response}");
        }
    }
    // Clients may store arbitrary numbers in their own parameters; these must not cause errors.
    for number in ["1e400", "123456789012345678901234567890", "1e-400", "-0.0"] {
        let alert = format!(
            r#"{{"symbol": "AAPL", "condition": "price_above", "threshold": 300, "parameters": {{"n": {number}}}}}"#
        );
        let response = env
            .operator
            .request(Method::POST, "/alerts")
            .raw_json(alert)
            .send()
            .await;
        assert!(response.status < 500, "{response}");
        if response.status < 300 {
            let _ = env
                .operator
                .get(&format!("/alerts/{}", response.id()))
                .await
                .expect_ok(200);
        }
    }
    assert_unharmed(&env, before).await;
}

async fn duplicate_field_is_rejected_or_last_value_counts(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stocks(&["AAPL", "MSFT"]).await;
    let body = r#"{"symbol": "AAPL", "symbol": "MSFT", "condition": "price_above", "threshold": 1, "threshold": 2}"#;
    let response = env
        .operator
        .request(Method::POST, "/alerts")
        .raw_json(body)
        .send()
        .await;
    if response.status == 201 {
        // If accepted, the last value counts, as in most JSON parsers.
        assert_eq!(
            (&response.data()["symbol"], &response.data()["threshold"]),
            (&json!("MSFT"), &json!(2))
        );
    } else {
        assert!(matches!(response.status, 400 | 422), "{response}");
        response.check_error_response();
    }
}

async fn body_with_invalid_text_is_rejected(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let mut bodies: Vec<Vec<u8>> = vec![
        vec![0xff, 0xfe, 0xfd],
        b"{\"symbol\": \"A\xffPL\", \"condition\": \"new_high\"}".to_vec(),
        b"{\"symbol\": \"A\xc0\x80\", \"condition\": \"new_high\"}".to_vec(),
        b"\xef\xbb\xbf{}".to_vec(),
        b"\x00".to_vec(),
        b"{\"symbol\": \"AAPL\x00\", \"condition\": \"new_high\"}".to_vec(),
        b"{\"symbol\": \"AA\nPL\", \"condition\": \"new_high\"}".to_vec(),
        br#"{"symbol": "\ud800", "condition": "new_high"}"#.to_vec(),
        br#"{"symbol": "AAPL", "condition": "new_high", "parameters": {"\udfff": "\ud800x"}}"#.to_vec(),
    ];
    let utf16: Vec<u8> = "{\"symbol\": \"AAPL\"}"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    bodies.push(utf16);
    for body in bodies {
        for path in ["/alerts", "/market/ingest"] {
            let response = env
                .operator
                .request(Method::POST, path)
                .raw_json(body.clone())
                .send()
                .await;
            if path == "/alerts" {
                assert!(matches!(response.status, 400 | 422), "{body:?}: {response}");
                response.check_error_response();
            }
            assert!(response.status < 500, "{body:?}: {response}");
        }
    }
}

async fn compressed_body_is_rejected(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let before = env.server.memory_kib();
    let gzip = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let small = gzip(br#"{"symbol": "AAPL", "condition": "new_high"}"#);
    let bomb = gzip(&vec![b' '; 200 << 20]);
    for body in [small, bomb] {
        for encoding in ["gzip", "deflate", "br", "nonsense"] {
            let request = env
                .operator
                .request(Method::POST, "/alerts")
                .header("Content-Encoding", encoding);
            let response = request.raw_json(body.clone()).send().await;
            assert!(matches!(response.status, 400 | 413 | 415), "{encoding}: {response}");
            response.check_error_response();
        }
    }
    assert_unharmed(&env, before).await;
}

async fn body_of_maximum_size_is_accepted(setup: ServiceSetup) {
    const MAX_BODY_BYTES: usize = 4096;
    let env = setup.set("server.max_body_bytes", "4096").start_environment().await;
    let of_size = |size: usize| {
        let empty = r#"{"symbol": "NOSUCH", "condition": "new_high", "x": ""}"#;
        empty.replace(r#""x": """#, &format!(r#""x": "{}""#, "x".repeat(size - empty.len())))
    };
    let send = async |size: usize| {
        env.operator
            .request(Method::POST, "/alerts")
            .raw_json(of_size(size))
            .send()
            .await
    };
    let _ = send(MAX_BODY_BYTES).await.expect_error(404, "NOT_FOUND");
    let _ = send(MAX_BODY_BYTES + 1).await.expect_error(413, "PAYLOAD_TOO_LARGE");
}

async fn wrong_type_is_422_with_field_name(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let odd = [
        Value::Null,
        json!(true),
        json!(-1),
        json!(1.5),
        json!(""),
        json!("\u{202e}"),
        json!([]),
        json!([[]]),
        json!({}),
        json!({"a": {"b": []}}),
    ];
    let fields = [
        "symbol",
        "condition",
        "threshold",
        "notification",
        "parameters",
        "email",
    ];
    for field in fields {
        for value in &odd {
            let mut body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 250});
            body[field] = value.clone();
            let response = env.operator.post("/alerts", &body).await;
            assert!(matches!(response.status, 200 | 201 | 422), "{response}");
            if response.status == 422 {
                let _ = response.expect_field_error(field);
            }
        }
    }
    for kind in [
        "quotes",
        "bars",
        "stocks",
        "fundamentals",
        "earnings",
        "dividends",
        "splits",
        "mentions",
    ] {
        for value in &odd {
            for body in [
                json!({kind: value}),
                json!({kind: [value]}),
                json!({kind: [{"symbol": value}]}),
            ] {
                let response = env.operator.post("/market/ingest", &body).await;
                assert!(response.status < 500, "{response}");
            }
        }
    }
}
