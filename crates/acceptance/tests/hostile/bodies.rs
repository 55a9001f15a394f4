//! Bodies: deep, huge, doubled, compressed, no text.

use std::io::Write;

use acceptance::{Setup, on_both_databases};
use reqwest::Method;
use serde_json::{Value, json};

use crate::unharmed;

on_both_databases![
    a_deep_body_is_refused,
    a_huge_number_is_refused,
    a_doubled_field_is_refused_or_counts_once,
    a_body_that_is_no_text_is_refused,
    a_compressed_body_is_refused,
    a_body_of_the_largest_size_is_read,
    any_type_in_any_field_is_refused_by_name,
];

async fn a_deep_body_is_refused(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let before = world.server.memory_kib();
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
            let answer = world.me.request(Method::POST, path).raw(body.clone()).send().await;
            assert!((400..500).contains(&answer.status), "{answer}");
            answer.check_refusal();
        }
    }
    unharmed(&world, before).await;
}

async fn a_huge_number_is_refused(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let before = world.server.memory_kib();
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
        let answer = world.me.request(Method::POST, "/alerts").raw(alert).send().await;
        assert!(matches!(answer.status, 400 | 422), "{answer}");
        answer.check_refusal();
        let quote = format!(r#"{{"quotes": [{{"symbol": "AAPL", "price": {number}}}]}}"#);
        let answer = world.me.request(Method::POST, "/market/ingest").raw(quote).send().await;
        if answer.status == 200 {
            assert_eq!(answer.data()["accepted"]["quotes"].as_u64().unwrap_or(0), 0, "{answer}");
        } else {
            answer.check_refusal();
            assert!(answer.status < 500, "{answer}");
        }
    }
    // What a client may keep in its own parameters need not make sense, but must not break anything.
    for number in ["1e400", "123456789012345678901234567890", "1e-400", "-0.0"] {
        let alert = format!(
            r#"{{"symbol": "AAPL", "condition": "price_above", "threshold": 300, "parameters": {{"n": {number}}}}}"#
        );
        let answer = world.me.request(Method::POST, "/alerts").raw(alert).send().await;
        assert!(answer.status < 500, "{answer}");
        if answer.status < 300 {
            let _ = world.me.get(&format!("/alerts/{}", answer.id())).await.ok(200);
        }
    }
    unharmed(&world, before).await;
}

async fn a_doubled_field_is_refused_or_counts_once(setup: Setup) {
    let world = setup.world().await;
    world.stocks(&["AAPL", "MSFT"]).await;
    let body = r#"{"symbol": "AAPL", "symbol": "MSFT", "condition": "price_above", "threshold": 1, "threshold": 2}"#;
    let answer = world.me.request(Method::POST, "/alerts").raw(body).send().await;
    if answer.status == 201 {
        // Then all readers of JSON agree on the last.
        assert_eq!(
            (&answer.data()["symbol"], &answer.data()["threshold"]),
            (&json!("MSFT"), &json!(2))
        );
    } else {
        assert!(matches!(answer.status, 400 | 422), "{answer}");
        answer.check_refusal();
    }
}

async fn a_body_that_is_no_text_is_refused(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
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
            let answer = world.me.request(Method::POST, path).raw(body.clone()).send().await;
            if path == "/alerts" {
                assert!(matches!(answer.status, 400 | 422), "{body:?}: {answer}");
                answer.check_refusal();
            }
            assert!(answer.status < 500, "{body:?}: {answer}");
        }
    }
}

async fn a_compressed_body_is_refused(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let before = world.server.memory_kib();
    let pack = |bytes: &[u8]| {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packer.write_all(bytes).unwrap();
        packer.finish().unwrap()
    };
    let small = pack(br#"{"symbol": "AAPL", "condition": "new_high"}"#);
    let bomb = pack(&vec![b' '; 200 << 20]);
    for body in [small, bomb] {
        for encoding in ["gzip", "deflate", "br", "nonsense"] {
            let request = world
                .me
                .request(Method::POST, "/alerts")
                .header("Content-Encoding", encoding);
            let answer = request.raw(body.clone()).send().await;
            assert!(matches!(answer.status, 400 | 413 | 415), "{encoding}: {answer}");
            answer.check_refusal();
        }
    }
    unharmed(&world, before).await;
}

async fn a_body_of_the_largest_size_is_read(setup: Setup) {
    const LARGEST: usize = 4096;
    let world = setup.set("server.max_body_bytes", "4096").world().await;
    let of_size = |size: usize| {
        let empty = r#"{"symbol": "NOSUCH", "condition": "new_high", "x": ""}"#;
        empty.replace(r#""x": """#, &format!(r#""x": "{}""#, "x".repeat(size - empty.len())))
    };
    let send = async |size: usize| {
        world
            .me
            .request(Method::POST, "/alerts")
            .raw(of_size(size))
            .send()
            .await
    };
    let _ = send(LARGEST).await.refused(404, "NOT_FOUND");
    let _ = send(LARGEST + 1).await.refused(413, "PAYLOAD_TOO_LARGE");
}

async fn any_type_in_any_field_is_refused_by_name(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
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
            let answer = world.me.post("/alerts", &body).await;
            assert!(matches!(answer.status, 200 | 201 | 422), "{answer}");
            if answer.status == 422 {
                let _ = answer.wrong_field(field);
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
                let answer = world.me.post("/market/ingest", &body).await;
                assert!(answer.status < 500, "{answer}");
            }
        }
    }
}
