//! Hostile paths, queries and headers: invalid UTF-8, too long, too many.

use acceptance::{ServiceSetup, on_both_databases, raw_http};

use crate::hostile::assert_unharmed;

on_both_databases![
    invalid_text_in_path_or_query_is_rejected,
    oversized_path_or_header_is_rejected,
    path_traversal_is_rejected,
];

fn get(path: &str, key: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {key}\r\nConnection: close\r\n\r\n")
}

async fn invalid_text_in_path_or_query_is_rejected(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let before = env.server.memory_kib();
    for path in [
        "/api/v1/alerts/%FF",
        "/api/v1/alerts/%FF/history",
        "/api/v1/stocks/%C3%28",
        "/api/v1/stocks/%",
        "/api/v1/stocks/%ZZ",
        "/api/v1/stocks/%00",
        "/api/v1/alerts?search=%FF%FE",
        "/api/v1/alerts?page=%FF",
        "/api/v1/alerts?%FF=1",
        "/api/v1/alerts?search=%ZZ",
        "/api/v1/alerts?&&&===&",
        "/api/v1/alerts?search=a&search=b",
        "/api/v1/alerts?page=1&page=2",
        "/api/v1/%FF",
    ] {
        let response = raw_http::exchange(env.server.address(), get(path, env.operator.key()).as_bytes()).await;
        let status = raw_http::status_code(&response);
        assert!((200..500).contains(&status), "{path}: {response}");
        if !path.contains("search=") && !path.contains("page=1") && !path.contains("&&&") && !path.contains("%FF=1") {
            assert!(status >= 400, "{path}: {response}");
            assert!(
                response.contains("\"success\":false"),
                "{path}: no envelope: {response}"
            );
        }
    }
    for bytes in [b"\x80\xff".as_slice(), b"\x01", b"\xc3\xa4", b" x", b"\t"] {
        let mut request = b"GET /api/v1/alerts/".to_vec();
        request.extend_from_slice(bytes);
        request.extend_from_slice(b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let response = raw_http::exchange(env.server.address(), &request).await;
        let status = raw_http::status_code(&response);
        assert!(status == 0 || (400..500).contains(&status), "{bytes:?}: {response}");
    }
    assert_unharmed(&env, before).await;
}

async fn oversized_path_or_header_is_rejected(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let before = env.server.memory_kib();
    let long = "x".repeat(70_000);
    let longer = "x".repeat(5_000_000);
    for path in [
        format!("/api/v1/alerts/{long}"),
        format!("/api/v1/{long}"),
        format!("/api/v1/alerts?search={long}"),
        format!("/api/v1/stocks/{longer}"),
        format!("/api/v1/alerts?{}", "a=b&".repeat(1_000_000)),
    ] {
        let response = raw_http::exchange(env.server.address(), get(&path, env.operator.key()).as_bytes()).await;
        let status = raw_http::status_code(&response);
        assert!(
            status == 0 || (400..500).contains(&status),
            "a path of {}: {response}",
            path.len()
        );
    }
    let with = |headers: &str| format!("GET /api/v1/alerts HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n");
    for headers in [
        format!("X-Long: {longer}\r\n"),
        format!("X-API-Key: sk_{long}{long}{long}{long}{long}{long}{long}\r\n"),
        "X-Many: 1\r\n".repeat(50_000),
        format!("{longer}: 1\r\n"),
        "Cookie: a=b\r\n".repeat(5_000),
    ] {
        let response = raw_http::exchange(env.server.address(), with(&headers).as_bytes()).await;
        let status = raw_http::status_code(&response);
        assert!(
            status == 0 || (400..500).contains(&status),
            "{} of headers: {response}",
            headers.len()
        );
    }
    assert_unharmed(&env, before).await;
}

async fn path_traversal_is_rejected(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    for path in [
        "/../../etc/passwd",
        "/docs/../../../etc/passwd",
        "/docs/%2e%2e/%2e%2e/etc/passwd",
        "/docs/..%5c..%5cetc",
        "//api//v1//alerts",
        "/api/v1/../v1/alerts",
        "/api/v1/alerts/..",
        "/API/V1/ALERTS",
        "/api/v1/alerts;jsessionid=1",
        "/api/v1/alerts%2F",
        "/api/v1/stocks/AAPL%2Fcandles",
        "*",
    ] {
        let response = raw_http::exchange(env.server.address(), get(path, env.operator.key()).as_bytes()).await;
        assert!(
            (300..500).contains(&raw_http::status_code(&response)),
            "{path}: {response}"
        );
        assert!(!response.contains("root:"), "{path}: {response}");
    }
}
