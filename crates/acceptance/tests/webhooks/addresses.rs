//! Whom the service calls: nobody whom the operator has not opened, whatever a user or the environment says.

use acceptance::{Answer, Behaviour, Receiver, Setup, World, on_both_databases};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{fire, hook, outcomes, settled, world};

on_both_databases![
    no_disguise_of_this_machine_is_saved_or_called_and_nothing_of_it_is_shown,
    the_allow_list_opens_exactly_what_it_names,
    what_is_no_longer_open_is_refused_on_dial,
    a_proxy_of_the_environment_is_not_used,
];

/// What a receiver says that is nobody's business.
const KEYS: &str = "the keys of the house";

async fn talkative() -> Receiver {
    Receiver::that(vec![Behaviour::Answers(
        200,
        vec![("X-Keys", KEYS.to_owned())],
        KEYS.to_owned(),
    )])
    .await
}

/// Asks for a webhook, for a change of one and for a test: the three places that take a URL.
async fn ask(world: &World, changed: &str, url: &str) -> [Answer; 3] {
    let made = json!({"url": url, "events": ["alert.triggered"]});
    let patch = world.me.request(Method::PATCH, &format!("/webhooks/{changed}"));
    [
        world.me.post("/webhooks", &made).await,
        patch.json(&json!({"url": url})).send().await,
        world
            .me
            .post("/webhooks/test", &json!({"url": url, "secret": "x"}))
            .await,
    ]
}

async fn is_refused(world: &World, changed: &str, url: &str) {
    for answer in ask(world, changed, url).await {
        let refused = answer.refused(400, "VALIDATION_ERROR");
        let faults = &refused.body["error"]["details"]["fields"]["url"];
        assert!(faults.is_array(), "{url}: {refused}");
        assert!(!refused.text.contains(KEYS), "{url}: {refused}");
    }
}

/// A webhook that leads to nowhere.
async fn nowhere(world: &World) -> String {
    let body = json!({"url": "https://nobody-has-this-name.example/", "events": ["alert.triggered"]});
    world.me.post("/webhooks", &body).await.ok(201).id()
}

async fn no_disguise_of_this_machine_is_saved_or_called_and_nothing_of_it_is_shown(setup: Setup) {
    let world = setup.set("limits.webhook_test_per_minute", "1000").world().await;
    let receiver = talkative().await;
    let port = receiver.address().port();
    let changed = nowhere(&world).await;
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
            is_refused(&world, &changed, &format!("{scheme}://{host}:{port}/hook")).await;
        }
    }
    assert_eq!(receiver.connections(), 0);
    let read = world.me.get("/webhooks").await.ok(200);
    assert_eq!(read.items().len(), 1);
    assert_eq!(read.items()[0]["url"], "https://nobody-has-this-name.example/");
}

async fn the_allow_list_opens_exactly_what_it_names(setup: Setup) {
    let setup = setup
        .set("webhooks.allow_private_cidrs", "127.0.0.1,10.1.0.0/16,fd00:1::/32")
        .set("limits.webhook_test_per_minute", "1000");
    let world = setup.world().await;
    let changed = nowhere(&world).await;
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
        // Plain HTTP is for what is opened, and not for the public.
        "http://8.8.8.8/",
    ] {
        is_refused(&world, &changed, url).await;
    }
    let receiver = talkative().await;
    let port = receiver.address().port();
    is_refused(&world, &changed, &format!("http://2130706433:{port}/hook")).await;
    let body = json!({"url": format!("http://127.0.0.1:{port}/hook"), "secret": "x"});
    let told = world.me.post("/webhooks/test", &body).await.ok(200);
    assert_eq!((&told.data()["status"], told.text_of("response")), (&json!(200), KEYS));
    assert_eq!(receiver.received().len(), 1);
    for url in [
        "https://127.0.0.1/",
        "http://10.1.255.255/",
        "https://[fd00:1:2::3]:8443/",
    ] {
        let body = json!({"url": url, "events": ["alert.triggered"]});
        let _ = world.me.post("/webhooks", &body).await.ok(201);
    }
}

async fn what_is_no_longer_open_is_refused_on_dial(setup: Setup) {
    let world = world(setup).await;
    let receiver = talkative().await;
    let hook = hook(&world, &receiver, json!({})).await;
    let World { setup, server, me, .. } = world;
    server.kill().await;
    // The webhook is there already when the range is shut.
    let setup = setup.set("webhooks.allow_private_cidrs", "10.0.0.0/8");
    let server = setup.start().await;
    let me = me.at(&server.origin);
    let world = World::of(setup, server, me);
    world.quote("AAPL", 100.0).await;
    fire(&world, 150.0).await;
    let failed = settled(&world, &hook, "failed").await;
    assert_eq!(outcomes(&failed), ["address_refused"; 4]);
    for attempt in failed["attempts"].as_array().unwrap() {
        assert_eq!(
            (&attempt["http_status"], &attempt["response"]),
            (&Value::Null, &Value::Null)
        );
    }
    assert_eq!(receiver.connections(), 0);
}

async fn a_proxy_of_the_environment_is_not_used(setup: Setup) {
    let proxy = talkative().await;
    let url = format!("http://{}", proxy.address());
    let mut setup = setup;
    for name in ["http_proxy", "https_proxy", "all_proxy"] {
        setup = setup
            .with_environment(name, &url)
            .with_environment(&name.to_uppercase(), &url);
    }
    let setup = setup.with_environment("no_proxy", "").with_environment("NO_PROXY", "");
    let world = world(setup).await;
    let receiver = Receiver::start().await;
    let hook = hook(&world, &receiver, json!({})).await;
    fire(&world, 150.0).await;
    assert_eq!(outcomes(&settled(&world, &hook, "delivered").await), ["delivered"]);
    // A client with a proxy would ask it for the way to these.
    let port = receiver.address().port();
    for url in [
        receiver.url(),
        format!("https://127.0.0.1:{port}/"),
        "https://nobody-has-this-name.example/".to_owned(),
    ] {
        let body = json!({"url": url, "secret": "x"});
        let told = world.me.post("/webhooks/test", &body).await.ok(200);
        assert_ne!(told.text_of("response"), KEYS);
    }
    assert_eq!(receiver.received().len(), 2);
    assert_eq!(proxy.connections(), 0);
}
