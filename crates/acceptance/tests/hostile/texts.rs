//! Texts: control characters, NUL, right-to-left marks, every plane of Unicode.

use acceptance::{Setup, on_both_databases};
use reqwest::Method;
use serde_json::json;

use crate::unharmed;

on_both_databases![
    any_text_in_parameters_comes_back_as_it_was_or_is_refused,
    any_text_in_a_symbol_is_refused,
    any_text_in_a_name_is_kept_or_rejected,
    any_text_can_be_searched_for,
];

/// Texts that something has tripped over before.
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

async fn any_text_in_parameters_comes_back_as_it_was_or_is_refused(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let before = world.server.memory_kib();
    for text in TEXTS {
        for parameters in [
            json!({"note": text}),
            json!({*text: 1}),
            json!({"deep": [{"note": text}]}),
        ] {
            let body =
                json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200, "parameters": parameters});
            let answer = world.me.post("/alerts", &body).await;
            if answer.status == 201 {
                let path = format!("/alerts/{}", answer.id());
                let read = world.me.get(&path).await.ok(200);
                assert_eq!(read.data()["parameters"], parameters);
                let _ = world.me.get("/alerts?limit=100").await.ok(200);
                let _ = world.me.delete(&path).await.ok(200);
            } else {
                let _ = answer.refused(422, "VALIDATION_ERROR");
            }
        }
        let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 300,
            "parameters": {"onboarding_id": text}});
        let answer = world.me.post("/alerts", &body).await;
        assert!(matches!(answer.status, 200 | 201 | 422), "{answer}");
    }
    unharmed(&world, before).await;
}

async fn any_text_in_a_symbol_is_refused(setup: Setup) {
    let world = setup.world().await;
    for text in TEXTS {
        let body = json!({"symbol": text, "condition": "new_high"});
        let _ = world.me.post("/alerts", &body).await.wrong_field("symbol");
    }
}

async fn any_text_in_a_name_is_kept_or_rejected(setup: Setup) {
    let world = setup.world().await;
    for text in TEXTS {
        let body = json!({"stocks": [{"symbol": "ODD", "name": text, "sector": text}]});
        let answer = world.me.post("/market/ingest", &body).await.ok_unlimited(200);
        if answer.data()["rejected"].as_array().unwrap().is_empty() {
            let stock = world.me.get("/stocks/ODD").await.ok(200);
            assert!(stock.data()["name"].is_string(), "{stock}");
        }
    }
}

async fn any_text_can_be_searched_for(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    for text in TEXTS {
        let escaped: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
        for query in ["/alerts?search=", "/stocks?search="] {
            let answer = world.me.get(&format!("{query}{escaped}")).await;
            assert!(matches!(answer.status, 200 | 422), "{answer}");
        }
        for query in [
            "/alerts?status=",
            "/alerts?symbol=",
            "/alerts?sort_field=",
            "/quotes?symbols=",
        ] {
            let answer = world.me.request(Method::GET, &format!("{query}{escaped}")).send().await;
            assert!(answer.status < 500, "{answer}");
        }
        let header = world
            .me
            .request(Method::GET, "/alerts")
            .header("Idempotency-Key", &escaped);
        let _ = header.send().await.ok(200);
    }
}
