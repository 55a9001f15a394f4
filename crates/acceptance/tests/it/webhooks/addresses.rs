//! Address rules: the service calls private addresses only if the operator allows them, regardless of user input and environment.

use acceptance::{Behaviour, CheckedResponse, ScriptedServer, ServiceSetup, TestEnvironment, on_both_databases};
use reqwest::Method;
use serde_json::{Value, json};

use crate::webhooks::support::{create_webhook, fire_alert, outcomes, start_environment, wait_for_delivery};

on_both_databases![
    no_spelling_of_a_private_address_is_saved_or_called,
    allow_list_permits_only_its_ranges,
    removed_range_is_refused_on_connect,
    proxy_environment_variables_are_ignored,
];

/// Response of a private receiver that must never be shown.
const PRIVATE_RESPONSE: &str = "private credentials";

async fn start_private_receiver() -> ScriptedServer {
    ScriptedServer::with_script(vec![Behaviour::Respond(
        200,
        vec![("X-Keys", PRIVATE_RESPONSE.to_owned())],
        PRIVATE_RESPONSE.to_owned(),
    )])
    .await
}

/// Sends the URL to the three routes that accept one: create, update and test.
async fn send_url(env: &TestEnvironment, changed: &str, url: &str) -> [CheckedResponse; 3] {
    let created = json!({"url": url, "events": ["alert.triggered"]});
    let patch = env.operator.request(Method::PATCH, &format!("/webhooks/{changed}"));
    [
        env.operator.post("/webhooks", &created).await,
        patch.json(&json!({"url": url})).send().await,
        env.operator
            .post("/webhooks/test", &json!({"url": url, "secret": "x"}))
            .await,
    ]
}

async fn assert_rejected(env: &TestEnvironment, changed: &str, url: &str) {
    for response in send_url(env, changed, url).await {
        let refused = response.expect_error(400, "VALIDATION_ERROR");
        let errors = &refused.body["error"]["details"]["fields"]["url"];
        assert!(errors.is_array(), "{url}: {refused}");
        assert!(!refused.text.contains(PRIVATE_RESPONSE), "{url}: {refused}");
    }
}

/// Creates a webhook with a host name that does not resolve.
async fn create_unresolvable_webhook(env: &TestEnvironment) -> String {
    let body = json!({"url": "https://unresolvable.example/", "events": ["alert.triggered"]});
    env.operator.post("/webhooks", &body).await.expect_ok(201).id()
}

async fn no_spelling_of_a_private_address_is_saved_or_called(setup: ServiceSetup) {
    let env = setup
        .set("limits.webhook_test_per_minute", "1000")
        .start_environment()
        .await;
    let receiver = start_private_receiver().await;
    let port = receiver.address().port();
    let changed = create_unresolvable_webhook(&env).await;
    for host in [
        "127.0.0.1",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "0",
        "①②⑦.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[::1%25lo]",
        "[fe80::1%25eth0]",
        "localhost",
        "hooks.localhost",
        "127.0.0.1.",
        "localhost.",
        "user@127.0.0.1",
        "example.com@127.0.0.1",
    ] {
        for scheme in ["https", "http"] {
            assert_rejected(&env, &changed, &format!("{scheme}://{host}:{port}/hook")).await;
        }
    }
    assert_eq!(receiver.connections(), 0);
    let read = env.operator.get("/webhooks").await.expect_ok(200);
    assert_eq!(read.items().len(), 1);
    assert_eq!(read.items()[0]["url"], "https://unresolvable.example/");
}

async fn allow_list_permits_only_its_ranges(setup: ServiceSetup) {
    let setup = setup
        .set("webhooks.allow_private_cidrs", "127.0.0.1,10.1.0.0/16,fd00:1::/32")
        .set("limits.webhook_test_per_minute", "1000");
    let env = setup.start_environment().await;
    let changed = create_unresolvable_webhook(&env).await;
    for url in [
        "https://127.0.0.2/",
        "http://127.0.0.2/",
        "http://126.255.255.255/",
        "https://10.0.255.255/",
        "https://10.2.0.0/",
        "https://[fd00:2::1]/",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[64:ff9b::7f00:1]/",
        "https://169.254.169.254/latest/meta-data/",
        "https://192.168.0.1/",
        "https://0/",
        // Plain HTTP is permitted only for allowed private addresses.
        "http://8.8.8.8/",
    ] {
        assert_rejected(&env, &changed, url).await;
    }
    let receiver = start_private_receiver().await;
    let port = receiver.address().port();
    assert_rejected(&env, &changed, &format!("http://2130706433:{port}/hook")).await;
    let body = json!({"url": format!("http://127.0.0.1:{port}/hook"), "secret": "x"});
    let tested = env.operator.post("/webhooks/test", &body).await.expect_ok(200);
    assert_eq!(
        (&tested.data()["status"], tested.text_of("response")),
        (&json!(200), PRIVATE_RESPONSE)
    );
    assert_eq!(receiver.received().len(), 1);
    for url in [
        "https://127.0.0.1/",
        "http://10.1.255.255/",
        "https://[fd00:1:2::3]:8443/",
    ] {
        let body = json!({"url": url, "events": ["alert.triggered"]});
        let _ = env.operator.post("/webhooks", &body).await.expect_ok(201);
    }
}

async fn removed_range_is_refused_on_connect(setup: ServiceSetup) {
    let env = start_environment(setup).await;
    let receiver = start_private_receiver().await;
    let webhook = create_webhook(&env, &receiver, json!({})).await;
    let TestEnvironment {
        setup,
        server,
        operator,
        ..
    } = env;
    server.kill().await;
    // The webhook exists already when the operator removes the range.
    let setup = setup.set("webhooks.allow_private_cidrs", "10.0.0.0/8");
    let server = setup.start().await;
    let operator = operator.with_origin(&server.origin);
    let env = TestEnvironment::from_running(setup, server, operator);
    env.quote("AAPL", 100.0).await;
    fire_alert(&env, 150.0).await;
    let failed = wait_for_delivery(&env, &webhook, "failed").await;
    assert_eq!(outcomes(&failed), ["address_refused"; 4]);
    for attempt in failed["attempts"].as_array().unwrap() {
        assert_eq!(
            (&attempt["http_status"], &attempt["response"]),
            (&Value::Null, &Value::Null)
        );
    }
    assert_eq!(receiver.connections(), 0);
}

async fn proxy_environment_variables_are_ignored(setup: ServiceSetup) {
    let proxy = start_private_receiver().await;
    let url = format!("http://{}", proxy.address());
    let mut setup = setup;
    for name in ["http_proxy", "https_proxy", "all_proxy"] {
        setup = setup
            .with_environment(name, &url)
            .with_environment(&name.to_uppercase(), &url);
    }
    let setup = setup.with_environment("no_proxy", "").with_environment("NO_PROXY", "");
    let env = start_environment(setup).await;
    let receiver = ScriptedServer::start().await;
    let webhook = create_webhook(&env, &receiver, json!({})).await;
    fire_alert(&env, 150.0).await;
    assert_eq!(
        outcomes(&wait_for_delivery(&env, &webhook, "delivered").await),
        ["delivered"]
    );
    // A client with a proxy would send these requests to the proxy.
    let port = receiver.address().port();
    for url in [
        receiver.url(),
        format!("https://127.0.0.1:{port}/"),
        "https://unresolvable.example/".to_owned(),
    ] {
        let body = json!({"url": url, "secret": "x"});
        let tested = env.operator.post("/webhooks/test", &body).await.expect_ok(200);
        assert_ne!(tested.text_of("response"), PRIVATE_RESPONSE);
    }
    assert_eq!(receiver.received().len(), 2);
    assert_eq!(proxy.connections(), 0);
}
