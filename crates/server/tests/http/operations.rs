//! For operators and readers: health, metrics, the description.

use axum::body::Body;
use axum::http::Request;
use tower::ServiceExt;

use crate::world::World;

#[tokio::test]
async fn health_and_readiness_are_told_to_anybody_and_metrics_to_this_machine() {
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
        let here = if path == "/metrics" { "127.0.0.1" } else { "192.0.2.1" };
        let answer = world.stranger("GET", path).at_address(here).send().await;
        assert_eq!(
            (answer.status, answer.header("content-type"), answer.text.as_str()),
            (200, kind, text)
        );
    }
}

#[tokio::test]
async fn metrics_on_the_main_listener_are_for_local_programs_and_operators_keys() {
    let world = World::new().await;
    let ask = |peer: &str| world.stranger("GET", "/metrics").at_address(peer);
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
    // A proxy of this machine forwards requests of others.
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
    let operator = world.request("GET", "/metrics").send().await;
    assert_eq!(
        (operator.status, operator.text.as_str()),
        (200, "# TYPE up gauge\nup 1\n")
    );
    let key = world
        .account("ann@example.com", alerts::Plan::Premium, false, service::Scope::PUBLIC)
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
