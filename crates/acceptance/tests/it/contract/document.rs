//! The OpenAPI document.

use acceptance::{ServiceSetup, on_both_databases};
use reqwest::Method;
use serde_json::Value;

on_both_databases![
    document_is_served_as_json_and_yaml,
    document_lists_every_route,
    document_describes_security_and_errors,
    docs_page_is_html,
];

async fn document(setup: ServiceSetup) -> Value {
    let server = setup.start().await;
    let response = server
        .anonymous_client()
        .request_to(Method::GET, "/openapi.json")
        .send()
        .await;
    assert_eq!(response.status, 200);
    assert!(response.header("content-type").unwrap().contains("json"));
    response.body
}

async fn document_is_served_as_json_and_yaml(setup: ServiceSetup) {
    let server = setup.start().await;
    let anonymous = server.anonymous_client();
    let json = anonymous.request_to(Method::GET, "/openapi.json").send().await;
    assert_eq!(json.body["info"]["version"], "1.2.1");
    let version = json.body["openapi"].as_str().unwrap();
    assert!(version.starts_with("3.1"), "{version}");
    let yaml = anonymous.request_to(Method::GET, "/openapi.yaml").send().await;
    assert_eq!(yaml.status, 200);
    assert!(yaml.header("content-type").unwrap().contains("yaml"));
    assert!(
        yaml.text.contains("openapi: 3.1") && yaml.text.contains("1.2.1"),
        "{yaml}"
    );
    for path in json.body["paths"].as_object().unwrap().keys() {
        assert!(yaml.text.contains(path), "{path} is not in the YAML form");
    }
}

async fn document_lists_every_route(setup: ServiceSetup) {
    let document = document(setup).await;
    for (method, path) in [
        ("get", "/alerts"),
        ("post", "/alerts"),
        ("get", "/alerts/{id}"),
        ("put", "/alerts/{id}"),
        ("delete", "/alerts/{id}"),
        ("post", "/alerts/{id}/pause"),
        ("post", "/alerts/{id}/activate"),
        ("get", "/alerts/{id}/history"),
        ("get", "/stocks/{symbol}"),
        ("get", "/stocks"),
        ("get", "/stocks/{symbol}/candles"),
        ("get", "/quotes"),
        ("get", "/market/status"),
        ("get", "/stocks/{symbol}/analysis"),
        ("get", "/market/indices"),
        ("get", "/market/top-movers"),
        ("get", "/market/sentiment"),
        ("get", "/market/dividend-dates"),
        ("get", "/market/earnings"),
        ("get", "/market/performance"),
        ("get", "/alerts/{id}/outcome"),
        ("get", "/watchlist"),
        ("post", "/watchlist"),
        ("patch", "/watchlist/{id}"),
        ("delete", "/watchlist/{id}"),
        ("put", "/watchlist/order"),
        ("get", "/watchlist/paper-trades"),
        ("get", "/watchlist/performance"),
        ("post", "/market/ingest"),
        ("get", "/api-keys"),
        ("post", "/api-keys"),
        ("delete", "/api-keys/{id}"),
        ("get", "/user/subscription"),
        ("get", "/user/session"),
        ("patch", "/user/session"),
        ("get", "/user/preferences"),
        ("put", "/user/preferences"),
        ("put", "/user/account/email"),
        ("post", "/user/account/phone"),
        ("post", "/user/account/phone/verify"),
        ("post", "/user/account/password"),
        ("post", "/user/account/deactivate"),
        ("post", "/user/account/reactivate"),
        ("delete", "/user/account"),
        ("get", "/user/account/export"),
        ("get", "/feedback"),
        ("post", "/feedback"),
        ("post", "/feedback/like"),
        ("get", "/redirect"),
        ("post", "/cron/{job}"),
    ] {
        let found = ["/api/v1", "/v1", ""]
            .iter()
            .any(|prefix| document["paths"][format!("{prefix}{path}")][method].is_object());
        assert!(found, "{method} {path} is not in the document");
    }
}

async fn document_describes_security_and_errors(setup: ServiceSetup) {
    let document = document(setup).await;
    assert!(document["components"]["securitySchemes"].is_object());
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let Some(responses) = operation["responses"].as_object() else {
                continue;
            };
            let names: Vec<_> = responses.keys().collect();
            assert!(
                responses.keys().any(|status| status.starts_with(['2', '3'])),
                "{method} {path}: {names:?}"
            );
            assert!(
                operation["operationId"].is_string(),
                "{method} {path} has no operationId"
            );
            if operation["security"]
                .as_array()
                .is_some_and(|schemes| !schemes.is_empty())
            {
                assert!(responses.contains_key("401"), "{method} {path} shows no 401: {names:?}");
            }
        }
    }
}

async fn docs_page_is_html(setup: ServiceSetup) {
    let server = setup.start().await;
    let page = server.anonymous_client().request_to(Method::GET, "/docs").send().await;
    assert_eq!(page.status, 200, "{page}");
    assert!(page.header("content-type").unwrap().starts_with("text/html"), "{page}");
}
