//! Health checks, metrics and the API description.

use axum::body::Body;
use axum::http::Request;
use tower::ServiceExt;

use crate::http::test_server::TestServer;

#[tokio::test]
async fn health_is_public_and_metrics_are_local() {
    let server = TestServer::new().await;
    for (path, kind, text) in [
        ("/healthz", "application/json", r#"{"status":"ok"}"#),
        ("/readyz", "application/json", r#"{"status":"ready"}"#),
        (
            "/metrics",
            "text/plain; version=0.0.4; charset=utf-8",
            "# TYPE up gauge\nup 1\n",
        ),
    ] {
        let here = if path == "/metrics" { "127.0.0.1" } else { "192.0.2.1" };
        let response = server.anonymous("GET", path).at_address(here).send().await;
        assert_eq!(
            (response.status, response.header("content-type"), response.text.as_str()),
            (200, kind, text)
        );
    }
}

#[tokio::test]
async fn metrics_on_the_main_listener_require_loopback_or_an_operator_key() {
    let server = TestServer::new().await;
    let ask = |peer: &str| server.anonymous("GET", "/metrics").at_address(peer);
    for peer in ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"] {
        assert_eq!(ask(peer).send().await.status, 200, "{peer}");
    }
    for peer in ["192.0.2.1", "10.0.0.7", "2001:db8::1"] {
        let refused = ask(peer).send().await.refused(401, "UNAUTHORIZED");
        assert!(
            refused.body["error"]["message"]
                .as_str()
                .unwrap()
                .contains("server.ops_listen")
        );
    }
    // A local proxy forwards requests of remote clients.
    for (name, value) in [
        ("x-forwarded-for", "192.0.2.1"),
        ("x-forwarded-host", "alerts.example.com"),
        ("forwarded", "for=192.0.2.1"),
        ("x-real-ip", "192.0.2.1"),
        ("via", "1.1 proxy"),
    ] {
        let _ = ask("127.0.0.1")
            .header(name, value)
            .send()
            .await
            .refused(401, "UNAUTHORIZED");
    }
    let operator = server.request("GET", "/metrics").send().await;
    assert_eq!(
        (operator.status, operator.text.as_str()),
        (200, "# TYPE up gauge\nup 1\n")
    );
    let key = server
        .account(
            "ann@example.com",
            alerts::Plan::Premium,
            false,
            foundation::Scope::PUBLIC,
        )
        .await;
    let _ = ask("192.0.2.1")
        .header("x-api-key", &key)
        .send()
        .await
        .refused(403, "FORBIDDEN");
    let _ = ask("192.0.2.1")
        .header("x-api-key", "sk_none")
        .send()
        .await
        .refused(401, "UNAUTHORIZED");
}

#[tokio::test]
async fn stopped_service_is_not_ready() {
    let server = TestServer::new().await;
    server.service.stop().await;
    let response = server.anonymous("GET", "/readyz").send().await;
    assert_eq!(
        (response.status, &response.body["status"]),
        (503, &serde_json::json!("not ready")),
        "{response:?}"
    );
}

#[tokio::test]
async fn operator_routes_are_only_on_their_separate_listener() {
    let server = TestServer::new().await;
    let ask = async |router: axum::Router, path: &str| {
        let request = Request::get(path).body(Body::empty()).unwrap();
        router.oneshot(request).await.unwrap().status().as_u16()
    };
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(ask(server::router(&server.app, false), path).await, 404);
        assert_eq!(ask(server::ops_router(&server.app), path).await, 200);
    }
    assert_eq!(ask(server::ops_router(&server.app), "/v1/alerts").await, 404);
}

#[tokio::test]
async fn description_is_served_as_json_yaml_and_html() {
    let server = TestServer::new().await;
    let json = server.anonymous("GET", "/openapi.json").send().await;
    assert_eq!(json.body["info"]["version"], "1.2.1");
    let yaml = server.anonymous("GET", "/openapi.yaml").send().await;
    assert!(yaml.header("content-type").contains("yaml"));
    for path in json.body["paths"].as_object().unwrap().keys() {
        assert!(yaml.text.contains(path), "{path}");
    }
    let page = server.anonymous("GET", "/docs").send().await;
    assert!(page.header("content-type").starts_with("text/html"));
    assert!(page.header("content-security-policy").contains("default-src 'none'"));
    for file in ["/docs/docs.css", "/docs/docs.js"] {
        assert!(page.text.contains(file));
        assert_eq!(server.anonymous("GET", file).send().await.status, 200);
    }
}
