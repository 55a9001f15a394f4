//! Hostile texts: control characters, NUL, right-to-left marks and unusual Unicode.

use acceptance::{ServiceSetup, on_both_databases};
use reqwest::Method;
use serde_json::json;

use crate::hostile::assert_unharmed;

on_both_databases![
    parameters_are_returned_unchanged_or_rejected,
    special_text_in_a_symbol_is_rejected,
    special_text_in_a_name_is_stored_or_rejected,
    special_text_can_be_searched_for,
];

/// Texts that are known to cause errors in software.
const TEXTS: &[&str] = &[
    "\u{0}",
    "a\u{0}b",
    "\u{1}\u{7}\u{8}\u{1b}[31m",
    "\r\nX-Injected: 1",
    "\u{202e}desrever",
    "\u{200f}\u{200e}\u{2066}\u{2069}",
    "\u{feff}",
    "\u{fffd}\u{ffff}",
    "\u{1f469}\u{200d}\u{1f680}",
    "\u{10ffff}",
    "Z\u{0301}\u{0301}\u{0301}",
    "'; DROP TABLE alerts; --",
    "\" OR \"\"=\"",
    "%s%n%x",
    "{{7*7}} ${jndi:ldap://x}",
    "<script>alert(1)</script>",
    "\\",
    "\\u0000",
];

async fn parameters_are_returned_unchanged_or_rejected(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let before = env.server.memory_kib();
    for text in TEXTS {
        for parameters in [
            json!({"note": text}),
            json!({*text: 1}),
            json!({"deep": [{"note": text}]}),
        ] {
            let body =
                json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200, "parameters": parameters});
            let response = env.operator.post("/alerts", &body).await;
            if response.status == 201 {
                let path = format!("/alerts/{}", response.id());
                let read = env.operator.get(&path).await.expect_ok(200);
                assert_eq!(read.data()["parameters"], parameters);
                let _ = env.operator.get("/alerts?limit=100").await.expect_ok(200);
                let _ = env.operator.delete(&path).await.expect_ok(200);
            } else {
                let _ = response.expect_error(422, "VALIDATION_ERROR");
            }
        }
        let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 300,
            "parameters": {"onboarding_id": text}});
        let response = env.operator.post("/alerts", &body).await;
        assert!(matches!(response.status, 200 | 201 | 422), "{response}");
    }
    assert_unharmed(&env, before).await;
}

async fn special_text_in_a_symbol_is_rejected(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    for text in TEXTS {
        let body = json!({"symbol": text, "condition": "new_high"});
        let _ = env.operator.post("/alerts", &body).await.expect_field_error("symbol");
    }
}

async fn special_text_in_a_name_is_stored_or_rejected(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    for text in TEXTS {
        let body = json!({"stocks": [{"symbol": "ODD", "name": text, "sector": text}]});
        let response = env
            .operator
            .post("/market/ingest", &body)
            .await
            .expect_ok_without_limit(200);
        if response.data()["rejected"].as_array().unwrap().is_empty() {
            let stock = env.operator.get("/stocks/ODD").await.expect_ok(200);
            assert!(stock.data()["name"].is_string(), "{stock}");
        }
    }
}

async fn special_text_can_be_searched_for(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    for text in TEXTS {
        let escaped: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
        for query in ["/alerts?search=", "/stocks?search="] {
            let response = env.operator.get(&format!("{query}{escaped}")).await;
            assert!(matches!(response.status, 200 | 422), "{response}");
        }
        for query in [
            "/alerts?status=",
            "/alerts?symbol=",
            "/alerts?sort_field=",
            "/quotes?symbols=",
        ] {
            let response = env
                .operator
                .request(Method::GET, &format!("{query}{escaped}"))
                .send()
                .await;
            assert!(response.status < 500, "{response}");
        }
        let header = env
            .operator
            .request(Method::GET, "/alerts")
            .header("Idempotency-Key", &escaped);
        let _ = header.send().await.expect_ok(200);
    }
}
