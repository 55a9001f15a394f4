//! A node of a cluster without the role `api`: it serves health and metrics alone.

use axum::Router;
use axum::body::Body;
use axum::http::{Request, header};
use server::HttpConfig;
use testkit::Database;
use tower::ServiceExt;

use crate::http::identity::{on_each_database, unlimited};
use crate::http::test_server::TestServer;

on_each_database! {
    health_and_metrics_are_served
    api_pages_and_event_streams_are_404
    metrics_are_only_on_the_separate_listener
    stopped_node_is_alive_and_not_ready
}

async fn start_server(database: Database) -> TestServer {
    let settings = HttpConfig {
        serves_api: false,
        ..unlimited()
    };
    TestServer::with_database(database, settings, |_| ()).await
}

/// Sends a request with an operator's key as a browser or as a program, and returns the status. The document does not describe such a node.
async fn status(server: &TestServer, router: &Router, (method, path): (&str, &str), accept: &str) -> u16 {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("x-api-key", &server.key)
        .header(header::ACCEPT, accept);
    let request = request.body(Body::empty()).unwrap();
    router.clone().oneshot(request).await.unwrap().status().as_u16()
}

async fn health_and_metrics_are_served(server: TestServer) {
    for (path, text) in [
        ("/healthz", r#"{"status":"ok"}"#),
        ("/readyz", r#"{"status":"ready"}"#),
        ("/metrics", "# TYPE up gauge\nup 1\n"),
    ] {
        let response = server.anonymous("GET", path).at_address("127.0.0.1").send().await;
        assert_eq!((response.status, response.text.as_str()), (200, text), "{path}");
    }
    let remote = server.anonymous("GET", "/metrics").send().await;
    let _ = remote.refused(401, "UNAUTHORIZED");
}

async fn api_pages_and_event_streams_are_404(server: TestServer) {
    let with_api = TestServer::with_database(Database::sqlite(), unlimited(), |_| ()).await;
    for route in [
        ("GET", "/api/v1/alerts"),
        ("POST", "/api/v1/alerts"),
        ("GET", "/v1/alerts"),
        ("POST", "/api/v1/market/ingest"),
        ("POST", "/api/v1/auth/login"),
        ("GET", "/api/v1/firings/stream"),
        ("GET", "/openapi.yaml"),
        ("GET", "/docs"),
        ("POST", "/mcp"),
        ("GET", "/.well-known/oauth-authorization-server"),
        ("GET", "/"),
        ("GET", "/sign-in"),
        ("POST", "/sign-in"),
        ("GET", "/alerts"),
        ("GET", "/app/events"),
        ("GET", "/sw.js"),
    ] {
        for accept in ["application/json", "text/html"] {
            let status = status(&server, &server.router, route, accept).await;
            assert_eq!(status, 404, "{route:?} as {accept}");
            let elsewhere = self::status(&with_api, &with_api.router, route, accept).await;
            assert_ne!(elsewhere, 404, "{route:?} as {accept} exists on a node with the role");
        }
    }
}

async fn metrics_are_only_on_the_separate_listener(server: TestServer) {
    let main = server::router(&server.app, false);
    let operators = server::ops_router(&server.app);
    let any = "*/*";
    for path in ["/healthz", "/readyz"] {
        assert_eq!(status(&server, &main, ("GET", path), any).await, 200, "{path}");
        assert_eq!(status(&server, &operators, ("GET", path), any).await, 200, "{path}");
    }
    assert_eq!(status(&server, &main, ("GET", "/metrics"), any).await, 404);
    assert_eq!(status(&server, &operators, ("GET", "/metrics"), any).await, 200);
    assert_eq!(status(&server, &operators, ("GET", "/api/v1/alerts"), any).await, 404);
}

async fn stopped_node_is_alive_and_not_ready(server: TestServer) {
    server.service.stop().await;
    let alive = server.anonymous("GET", "/healthz").send().await;
    assert_eq!(alive.status, 200);
    let ready = server.anonymous("GET", "/readyz").send().await;
    assert_eq!(
        (ready.status, &ready.body["status"]),
        (503, &"not ready".into()),
        "{ready:?}"
    );
}
