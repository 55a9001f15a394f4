//! An account with something on each screen: its texts are escaped, and nothing of it is shown to another account.

use serde_json::json;

use super::Browser;
use crate::http::mcp::call_of;
use crate::http::test_server::TestServer;

const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\"'";

/// The addresses of things of the account.
struct FullAccount {
    alert: String,
    delivery: String,
}

/// Fills each screen of the operator with `text`.
async fn fill(server: &TestServer, text: &str) -> FullAccount {
    let batch = json!({"stocks": [{"symbol": "EVIL", "name": text}], "quotes": [{"symbol": "EVIL", "price": 100}]});
    let _ = server.post("/v1/market/ingest", batch).await.ok(200);
    let path: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
    let hook = json!({"url": format!("https://receiver.example/{path}"), "events": ["alert.triggered"]});
    let hook = server.post("/v1/webhooks", hook).await.ok(201);
    let alert =
        json!({"symbol": "EVIL", "condition": "price_above", "threshold": 110, "note": text, "tags": ["<img src=x>"]});
    let alert = server.post("/v1/alerts", alert).await.ok(201);
    let quote = json!({"quotes": [{"symbol": "EVIL", "price": 111}]});
    let _ = server.post("/v1/market/ingest", quote).await.ok(200);
    let watched = json!({"stock_symbol": "EVIL", "intention": "buy", "target_price": 90, "notes": text});
    let _ = server.post("/v1/watchlist", watched).await.ok(201);
    let browser = Browser::operator(server).await;
    let key = [("action", "create"), ("name", text), ("scope", "alerts:read")];
    let _ = browser.post("/settings/keys", &key).await;
    let _ = browser
        .post(
            "/settings",
            &[
                ("full_name", text),
                ("time_zone", "UTC"),
                ("quiet_hours", ""),
                ("quiet_until", ""),
            ],
        )
        .await;
    let _ = browser
        .post("/settings/agents", &[("action", "wait"), ("wait", "on")])
        .await;
    let channel = json!({"type": "sms", "name": text});
    let channel = server.post("/v1/notification-channels", channel).await.ok(201);
    let route = json!({"channels": [channel.body["data"]["id"]]});
    let _ = server
        .request("PUT", "/v1/notification-route")
        .json(&route)
        .send()
        .await
        .ok(200);
    let change = json!({"symbol": "EVIL", "condition": "price_above", "threshold": 300, "note": text});
    let _ = server.rpc(&call_of("create_alert", change)).await;
    let id = |value: &serde_json::Value| value["data"]["id"].as_str().unwrap().to_owned();
    let deliveries = server
        .get(&format!("/v1/webhooks/{}/deliveries", id(&hook.body)))
        .await
        .ok(200);
    let delivery = deliveries.body["data"][0]["id"].as_str().unwrap();
    FullAccount {
        alert: format!("/alerts/{}", id(&alert.body)),
        delivery: format!("/deliveries/{}/{delivery}", id(&hook.body)),
    }
}

const SCREENS: [&str; 15] = [
    "/",
    "/alerts",
    "/alerts.csv",
    "/alerts/new?symbol=EVIL",
    "/approvals",
    "/deliveries",
    "/fired",
    "/settings",
    "/settings/account",
    "/settings/agents",
    "/settings/channels",
    "/settings/keys",
    "/settings/webhooks",
    "/stocks/EVIL",
    "/watchlist",
];

#[tokio::test]
async fn texts_of_users_and_sources_are_escaped_on_each_screen() {
    let server = TestServer::new().await;
    let account = fill(&server, HOSTILE).await;
    let browser = Browser::operator(&server).await;
    let hostile: String = url::form_urlencoded::byte_serialize(HOSTILE.as_bytes()).collect();
    let paths = [
        "/operator".to_owned(),
        account.alert.clone(),
        format!("{}/edit", account.alert),
        format!("{}?at={hostile}", account.alert),
        account.delivery,
        format!("/alerts?search={hostile}"),
        format!("/alerts/new?text={hostile}&note={hostile}&tags={hostile}"),
    ];
    // A file for spreadsheets is no page.
    let screens = SCREENS.iter().filter(|path| **path != "/alerts.csv");
    let mut with_text = 0;
    for path in screens.copied().chain(paths.iter().map(String::as_str)) {
        let page = browser.get(path).await.is(200);
        assert!(!page.text.contains("<img src"), "{path}: {}", page.text);
        assert!(!page.text.contains("</script><img"), "{path}: {}", page.text);
        with_text += usize::from(page.text.contains("onerror=alert(1)"));
    }
    assert!(with_text >= 12, "the text is on {with_text} pages only");
}

#[tokio::test]
async fn pages_of_one_account_show_nothing_of_another() {
    let server = TestServer::new().await;
    let account = fill(&server, "mine-alone").await;
    let owner = Browser::operator(&server).await;
    let with_text = async |browser: &Browser<'_>| {
        let mut found = Vec::new();
        for path in SCREENS {
            let page = browser.get(path).await.is(200);
            // The name of the stock is that of the market.
            let text = page.text.replace("<bdi>mine-alone</bdi>", "");
            if text.contains("mine-alone")
                || page.text.contains("receiver.example")
                || page.text.contains(&account.alert)
            {
                found.push(path);
            }
        }
        found
    };
    let own = with_text(&owner).await;
    assert!(own.len() >= 8, "{own:?}");
    let ann = Browser::of_another_account(&server).await;
    assert_eq!(with_text(&ann).await, [""; 0]);
    for path in [&account.alert, &format!("{}/edit", account.alert), &account.delivery] {
        let _ = ann.get(path).await.is(404);
    }
    let id = account.alert.trim_start_matches("/alerts/");
    let form = [("action", "delete"), ("alert", id), ("next", "/alerts")];
    let refused = ann.post("/alerts/actions", &form).await;
    let page = ann.follow(&refused).await;
    assert!(page.text.contains("there is no such alert"), "{}", page.text);
    assert_eq!(
        server.get(&format!("/v1{}", account.alert)).await.ok(200).body["data"]["status"],
        "triggered"
    );
}
