//! For operators and readers: health, metrics, the description.

use axum::body::Body;
use axum::http::Request;
use tower::ServiceExt;

use crate::world::World;

#[tokio::test]
async fn health_readiness_and_metrics_are_told_to_anybody() {
    let world = World::new().await;
    for (path, kind, text) in [
        ("/healthz", "application/json", r#"{"status":"ok"}"#),
        ("/readyz", "application/json", r#"{"status":"ready"}"#),
        (
            "/metrics",
            "text/plain; version=0.0.4; charset=utf-8",
            "# TYPE up gauge\nup 1\n",
        ),
    ] {
        let answer = world.stranger("GET", path).send().await;
        assert_eq!(
            (answer.status, answer.header("content-type"), answer.text.as_str()),
            (200, kind, text)
        );
    }
}

#[tokio::test]
async fn a_service_that_has_stopped_is_not_ready() {
    let world = World::new().await;
    world.service.stop().await;
    let answer = world.stranger("GET", "/readyz").send().await;
    assert_eq!(
        (answer.status, &answer.body["status"]),
        (503, &serde_json::json!("not ready")),
        "{answer:?}"
    );
}

#[tokio::test]
async fn with_a_listener_of_their_own_operators_routes_are_only_there() {
    let world = World::new().await;
    let ask = async |router: axum::Router, path: &str| {
        let request = Request::get(path).body(Body::empty()).unwrap();
        router.oneshot(request).await.unwrap().status().as_u16()
    };
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(ask(server::router(&world.app, false), path).await, 404);
        assert_eq!(ask(server::ops_router(&world.app), path).await, 200);
    }
    assert_eq!(ask(server::ops_router(&world.app), "/v1/alerts").await, 404);
}

#[tokio::test]
async fn the_description_is_there_for_programs_and_for_people() {
    let world = World::new().await;
    let json = world.stranger("GET", "/openapi.json").send().await;
    assert_eq!(json.body["info"]["version"], "1.2.1");
    let yaml = world.stranger("GET", "/openapi.yaml").send().await;
    assert!(yaml.header("content-type").contains("yaml"));
    for path in json.body["paths"].as_object().unwrap().keys() {
        assert!(yaml.text.contains(path), "{path}");
    }
    let page = world.stranger("GET", "/docs").send().await;
    assert!(page.header("content-type").starts_with("text/html"));
    assert!(page.header("content-security-policy").contains("default-src 'none'"));
    for file in ["/docs/docs.css", "/docs/docs.js"] {
        assert!(page.text.contains(file));
        assert_eq!(world.stranger("GET", file).send().await.status, 200);
    }
}
