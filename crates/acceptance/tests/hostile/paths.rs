//! Paths, queries and headers: no text, too long, too many.

use acceptance::{Setup, on_both_databases, raw};

use crate::unharmed;

on_both_databases![
    a_path_or_query_that_is_no_text_is_refused,
    a_path_or_header_too_long_is_refused,
    paths_that_walk_lead_nowhere,
];

fn get(path: &str, key: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {key}\r\nConnection: close\r\n\r\n")
}

async fn a_path_or_query_that_is_no_text_is_refused(setup: Setup) {
    let world = setup.world().await;
    let before = world.server.memory_kib();
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
        let answer = raw::exchange(world.server.address(), get(path, world.me.key()).as_bytes()).await;
        let status = raw::status(&answer);
        assert!((200..500).contains(&status), "{path}: {answer}");
        if !path.contains("search=") && !path.contains("page=1") && !path.contains("&&&") && !path.contains("%FF=1") {
            assert!(status >= 400, "{path}: {answer}");
            assert!(answer.contains("\"success\":false"), "{path}: no envelope: {answer}");
        }
    }
    for bytes in [b"\x80\xff".as_slice(), b"\x01", b"\xc3\xa4", b" x", b"\t"] {
        let mut request = b"GET /api/v1/alerts/".to_vec();
        request.extend_from_slice(bytes);
        request.extend_from_slice(b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let answer = raw::exchange(world.server.address(), &request).await;
        let status = raw::status(&answer);
        assert!(status == 0 || (400..500).contains(&status), "{bytes:?}: {answer}");
    }
    unharmed(&world, before).await;
}

async fn a_path_or_header_too_long_is_refused(setup: Setup) {
    let world = setup.world().await;
    let before = world.server.memory_kib();
    let long = "x".repeat(70_000);
    let longer = "x".repeat(5_000_000);
    for path in [
        format!("/api/v1/alerts/{long}"),
        format!("/api/v1/{long}"),
        format!("/api/v1/alerts?search={long}"),
        format!("/api/v1/stocks/{longer}"),
        format!("/api/v1/alerts?{}", "a=b&".repeat(1_000_000)),
    ] {
        let answer = raw::exchange(world.server.address(), get(&path, world.me.key()).as_bytes()).await;
        let status = raw::status(&answer);
        assert!(
            status == 0 || (400..500).contains(&status),
            "a path of {}: {answer}",
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
        let answer = raw::exchange(world.server.address(), with(&headers).as_bytes()).await;
        let status = raw::status(&answer);
        assert!(
            status == 0 || (400..500).contains(&status),
            "{} of headers: {answer}",
            headers.len()
        );
    }
    unharmed(&world, before).await;
}

async fn paths_that_walk_lead_nowhere(setup: Setup) {
    let world = setup.world().await;
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
        let answer = raw::exchange(world.server.address(), get(path, world.me.key()).as_bytes()).await;
        assert!((300..500).contains(&raw::status(&answer)), "{path}: {answer}");
        assert!(!answer.contains("root:"), "{path}: {answer}");
    }
}
