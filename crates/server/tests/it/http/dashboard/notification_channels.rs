//! Notification channels in the settings: the forms of each type, tests with their results, and the route of the account.

use testkit::stub_server::{StubResponse, StubServer};

use super::{Browser, hidden, notice_of};
use crate::http::notification_channels::{P256DH, start_server};
use crate::http::test_server::{TestResponse, TestServer};

const PAGE: &str = "/settings/channels";
const NEW: &str = "/settings/channels/new";
const HOSTILE: &str = "\"><script>alert(1)</script>";

/// Creates a channel over the API, and returns its id.
async fn create_channel(server: &TestServer, body: serde_json::Value) -> String {
    let created = server.post("/v1/notification-channels", body).await.ok(201);
    created.body["data"]["id"].as_str().unwrap().to_owned()
}

async fn submit(browser: &Browser<'_>, action: &str, id: &str) -> TestResponse {
    browser.post(PAGE, &[("action", action), ("id", id)]).await
}

testkit::on_both_databases! {
    async fn slack_channel_is_added_tested_renamed_disabled_and_deleted(database) {
        let server = start_server(database).await;
        let browser = Browser::operator(&server).await;
        let empty = browser.get(PAGE).await.is(200);
        assert!(empty.text.contains("You have no notification channel yet."), "{}", empty.text);
        assert!(!empty.text.contains("Default route"), "{}", empty.text);
        let slack = StubServer::start(StubResponse::complete("200 OK", "", "ok")).await;
        let url = format!("{}/services/very-secret", slack.origin());
        let page = browser.get(&format!("{NEW}?type=slack")).await.is(200);
        assert!(page.text.contains("name=\"config.url\" type=\"url\""), "{}", page.text);
        let form = [("type", "slack"), ("name", HOSTILE), ("config.url", &url)];
        let page = browser.follow(&browser.post(NEW, &form).await).await.is(200);
        assert!(notice_of(&page.text).contains("is added. Send a test"), "{}", page.text);
        assert!(page.text.contains("Not tested yet") && page.text.contains("Secret URL"), "{}", page.text);
        assert!(!page.text.contains("<script>alert") && !page.text.contains("very-secret"), "{}", page.text);
        let id = hidden(&page, "id");

        let tested = submit(&browser, "test-channel", &id).await.is(200);
        assert!(tested.text.contains("</span> Accepted</span>") && tested.text.contains("HTTP 200"), "{}", tested.text);
        assert!(tested.text.contains("</span> Verified</span>"), "{}", tested.text);
        slack.set_response(StubResponse::complete("404 Not Found", "", "no_service"));
        let failed = submit(&browser, "test-channel", &id).await.is(200);
        for part in ["Not accepted", "HTTP 404", "no_service", "Create another one there", "Last message failed"] {
            assert!(failed.text.contains(part), "{part}: {}", failed.text);
        }

        let renamed = browser.post(PAGE, &[("action", "rename"), ("id", &id), ("name", "Trading room")]).await;
        let page = browser.follow(&renamed).await.is(200);
        assert!(page.text.contains("<bdi>Trading room</bdi>"), "{}", page.text);
        let refused = browser.post(PAGE, &[("action", "rename"), ("id", &id), ("name", " ")]).await;
        let page = browser.follow(&refused).await.is(200);
        assert!(page.text.contains("role=\"alert\"") && page.text.contains("Trading room"), "{}", page.text);
        let page = browser.follow(&submit(&browser, "disable", &id).await).await.is(200);
        assert!(page.text.contains("</span> Disabled</span>"), "{}", page.text);
        let page = browser.follow(&submit(&browser, "enable", &id).await).await.is(200);
        assert!(!page.text.contains("</span> Disabled</span>"), "{}", page.text);
        let page = browser.follow(&submit(&browser, "delete", &id).await).await.is(200);
        assert!(page.text.contains("The channel is deleted.") && !page.text.contains("Trading room"), "{}", page.text);
        let page = browser.follow(&submit(&browser, "delete", &id).await).await.is(200);
        assert!(notice_of(&page.text).contains("There is no such notification channel"), "{}", page.text);
    }

    async fn limits_of_a_channel_are_set_and_removed(database) {
        let server = start_server(database).await;
        let browser = Browser::operator(&server).await;
        let id = create_channel(&server, serde_json::json!({"type": "sms"})).await;
        let form = [
            ("action", "limit"), ("id", id.as_str()), ("digest", "daily"), ("digest_time", "07:30"), ("burst_limit", "5"),
            ("daily_budget", ""),
        ];
        let page = browser.follow(&browser.post(PAGE, &form).await).await.is(200);
        for part in ["<option value=\"daily\" selected>", "value=\"07:30\"", "max=\"1000\" step=\"1\" value=\"5\""] {
            assert!(page.text.contains(part), "{part}: {}", page.text);
        }
        let stored = server.get("/v1/notification-channels").await.ok(200).body["data"][0].clone();
        let limits = (&stored["burst_limit"], &stored["digest"], &stored["daily_budget"]);
        assert_eq!(limits, (&serde_json::json!(5), &serde_json::json!("daily at 07:30"), &serde_json::Value::Null));
        let refused = [("action", "limit"), ("id", id.as_str()), ("digest", ""), ("burst_limit", "0")];
        let page = browser.follow(&browser.post(PAGE, &refused).await).await.is(200);
        assert!(page.text.contains("role=\"alert\"") && page.text.contains("07:30"), "{}", page.text);
        let removed = [("action", "limit"), ("id", id.as_str()), ("digest", ""), ("digest_time", "07:30"), ("burst_limit", "")];
        let page = browser.follow(&browser.post(PAGE, &removed).await).await.is(200);
        assert!(!page.text.contains("<option value=\"daily\" selected>"), "{}", page.text);
    }

    async fn browser_is_added_by_the_form_that_its_script_fills_in(database) {
        let server = start_server(database).await;
        let browser = Browser::operator(&server).await;
        let page = browser.get(PAGE).await.is(200);
        let key = server.get("/v1/notification-channels/web-push-key").await.ok(200).body["data"]["public_key"].clone();
        assert!(page.text.contains(&format!("data-web-push=\"{}\">", key.as_str().unwrap())), "{}", page.text);
        assert!(!page.text.contains("<option value=\"web_push\""), "{}", page.text);
        let push = StubServer::start(StubResponse::complete("201 Created", "", "")).await;
        let (former, endpoint) = (format!("{}/very-secret", push.origin()), format!("{}/replacement", push.origin()));
        let form = [
            ("type", "web_push"), ("config.endpoint", former.as_str()), ("config.p256dh", P256DH), ("config.auth", "BTBZMqHH6r4Tts7J_aSIgg"),
        ];
        let page = browser.follow(&browser.post(NEW, &form).await).await.is(200);
        assert!(notice_of(&page.text).contains("is added. Send a test"), "{}", page.text);
        assert!(page.text.contains("<bdi>A browser</bdi>") && !page.text.contains("very-secret"), "{}", page.text);
        let id = hidden(&page, "id");
        let again = browser.follow(&browser.post(NEW, &form).await).await.is(200);
        assert!(notice_of(&again.text).contains("The channel is changed."), "{}", again.text);
        let mut replacing = form.to_vec();
        replacing[1].1 = &endpoint;
        replacing.push(("former_endpoint", &former));
        let page = browser.follow(&browser.post(NEW, &replacing).await).await.is(200);
        assert_eq!(hidden(&page, "id"), id);
        let tested = submit(&browser, "test-channel", &id).await.is(200);
        assert!(tested.text.contains("HTTP 201") && tested.text.contains("Last success"), "{}", tested.text);
        assert!(push.next_request().await.line.contains("/replacement"));
        push.set_response(StubResponse::complete("410 Gone", "", ""));
        let gone = submit(&browser, "test-channel", &id).await.is(200);
        assert!(gone.text.contains("select “Notify this browser” again"), "{}", gone.text);
        assert!(gone.text.contains("You have no notification channel yet."), "{}", gone.text);

        let page = browser.post(NEW, &[("type", "web_push"), ("config.endpoint", &endpoint), ("config.p256dh", "A")]).await.is(422);
        assert!(page.text.contains("id=\"config.auth-error\"") && !page.text.contains("/replacement"), "{}", page.text);
    }

    async fn refused_form_has_its_errors_at_the_inputs_and_no_secret(database) {
        let server = start_server(database).await;
        let browser = Browser::operator(&server).await;
        let form = [("type", "slack"), ("name", "Desk"), ("config.url", "http://93.184.216.34/very-secret")];
        let page = browser.post(NEW, &form).await.is(422);
        assert!(page.text.contains("id=\"config.url-error\""), "{}", page.text);
        assert!(page.text.contains("aria-describedby=\"config.url-error\" aria-invalid=\"true\""), "{}", page.text);
        assert!(page.text.contains("value=\"Desk\"") && !page.text.contains("very-secret"), "{}", page.text);
        // The server of ntfy and its topic are no secrets.
        let form = [("type", "ntfy"), ("config.url", "https://ntfy.example"), ("config.topic", "a/b"), ("config.token", "tk_secret")];
        let page = browser.post(NEW, &form).await.is(422);
        assert!(page.text.contains("value=\"a/b\"") && page.text.contains("value=\"https://ntfy.example\""), "{}", page.text);
        assert!(page.text.contains("id=\"config.topic-error\"") && !page.text.contains("tk_secret"), "{}", page.text);
        let page = browser.post(NEW, &[("type", "fax")]).await.is(422);
        assert!(page.text.contains("This type of channel does not exist."), "{}", page.text);
        let kept = server.get("/v1/notification-channels").await.ok(200);
        assert_eq!(kept.body["data"], serde_json::json!([]));
    }

    async fn telegram_code_is_shown_once_and_replaced_on_request(database) {
        let server = start_server(database).await;
        let browser = Browser::operator(&server).await;
        let form = [("type", "telegram"), ("name", "Phone"), ("config.bot_token", "123456:ABC-DEF1234ghIkl")];
        let page = browser.post(NEW, &form).await.is(200);
        let code_of = |page: &TestResponse| page.text.split("/start ").nth(1).map(|rest| rest[..16].to_owned());
        let code = code_of(&page).unwrap();
        assert!(page.text.contains("datetime=\"2024-03-08T15:15:00.000Z\""), "{}", page.text);
        assert!(!page.text.contains("ABC-DEF1234ghIkl"), "{}", page.text);
        let list = browser.get(PAGE).await.is(200);
        assert!(list.text.contains("Waits for verification") && list.text.contains("Your own bot"), "{}", list.text);
        assert!(!list.text.contains(&code), "{}", list.text);
        let id = hidden(&list, "id");
        let tested = submit(&browser, "test-channel", &id).await.is(200);
        assert!(tested.text.contains("The chat is not linked"), "{}", tested.text);
        let again = submit(&browser, "request-link", &id).await.is(200);
        assert_ne!(code_of(&again).unwrap(), code);
    }

    async fn address_gets_another_link_on_request(database) {
        let server = start_server(database).await;
        let browser = Browser::operator(&server).await;
        let form = [("type", "email"), ("name", ""), ("config.address", "desk@example.org")];
        let page = browser.follow(&browser.post(NEW, &form).await).await.is(200);
        assert!(notice_of(&page.text).contains("Open the link in the email"), "{}", page.text);
        assert!(page.text.contains("<bdi>desk@example.org</bdi>"), "{}", page.text);
        let id = hidden(&page, "id");
        let page = browser.follow(&submit(&browser, "request-link", &id).await).await.is(200);
        assert!(notice_of(&page.text).contains("We sent a link to the address."), "{}", page.text);
        testkit::eventually_some("both links are sent", async || {
            let outbox = server.get("/v1/outbox?to=desk@example.org").await.ok(200);
            (outbox.body["data"].as_array()?.len() == 2).then_some(())
        })
        .await;
    }

    async fn route_is_saved_in_the_order_of_its_positions_and_removed(database) {
        let server = start_server(database).await;
        let browser = Browser::operator(&server).await;
        let mut ids = Vec::new();
        for name in ["First", "Second"] {
            ids.push(create_channel(&server, serde_json::json!({"type": "sms", "name": name})).await);
        }
        let position = |id: &str| format!("position-{id}");
        let (first, second) = (position(&ids[0]), position(&ids[1]));
        let saved = [
            ("action", "save-route"), ("channels", ids[0].as_str()), ("channels", &ids[1]), (&first, "2"), (&second, "1"),
            ("policy", "failover"), ("ack_timeout", "15m"),
        ];
        let page = browser.follow(&browser.post(PAGE, &saved).await).await.is(200);
        assert!(page.text.contains("The route is saved."), "{}", page.text);
        let route = server.get("/v1/notification-route").await.ok(200);
        let expected = serde_json::json!({"channels": [ids[1], ids[0]], "policy": "failover", "ack_timeout": "15m"});
        assert_eq!(route.body["data"], expected);
        assert!(page.text.contains("value=\"15m\"") && page.text.contains("Remove the route"), "{}", page.text);

        let refused = [("action", "save-route"), ("channels", ids[0].as_str()), (&first, "1"), ("policy", "failover"), ("ack_timeout", "25h")];
        let page = browser.post(PAGE, &refused).await.is(422);
        assert!(page.text.contains("id=\"ack_timeout-error\"") && page.text.contains("value=\"25h\""), "{}", page.text);
        let page = browser.post(PAGE, &[("action", "save-route"), ("policy", "all"), ("ack_timeout", "")]).await.is(422);
        assert!(page.text.contains("Select at least one channel"), "{}", page.text);
        // The time belongs to failover alone.
        let all = [("action", "save-route"), ("channels", ids[1].as_str()), ("policy", "all"), ("ack_timeout", "15m")];
        let _ = browser.follow(&browser.post(PAGE, &all).await).await.is(200);
        let route = server.get("/v1/notification-route").await.ok(200);
        assert_eq!(route.body["data"], serde_json::json!({"channels": [ids[1]], "policy": "all", "ack_timeout": null}));

        let page = browser.follow(&browser.post(PAGE, &[("action", "remove-route")]).await).await.is(200);
        assert!(page.text.contains("The route is removed.") && !page.text.contains("Remove the route"), "{}", page.text);
        let route = server.get("/v1/notification-route").await.ok(200);
        assert_eq!(route.body["data"]["channels"], serde_json::json!([]));
    }
}

#[tokio::test]
async fn channels_of_another_account_do_not_exist() {
    let server = TestServer::new().await;
    let id = create_channel(&server, serde_json::json!({"type": "sms", "name": "mine-alone"})).await;
    let ann = Browser::of_another_account(&server).await;
    assert!(!ann.get(PAGE).await.is(200).text.contains("mine-alone"));
    for action in ["test-channel", "disable", "request-link", "rename", "limit", "delete"] {
        let form = [("action", action), ("id", id.as_str()), ("name", "other")];
        let page = ann.follow(&ann.post(PAGE, &form).await).await.is(200);
        let notice = notice_of(&page.text);
        assert!(
            notice.contains("There is no such notification channel"),
            "{action}: {notice}"
        );
    }
    let kept = server.get("/v1/notification-channels").await.ok(200);
    assert_eq!(kept.body["data"][0]["name"], "mine-alone");
    assert_eq!(kept.body["data"][0]["enabled"], true);
    let form = [("action", "save-route"), ("channels", id.as_str()), ("policy", "all")];
    let page = ann.post(PAGE, &form).await.is(422);
    assert!(
        page.text.contains("Select at least one channel") || !page.text.contains(&id),
        "{}",
        page.text
    );
}

#[tokio::test]
async fn each_type_has_a_form_with_its_inputs() {
    let server = TestServer::new().await;
    let hook = serde_json::json!({"url": "https://receiver.example/hook", "events": ["alert.triggered"]});
    let hook = server.post("/v1/webhooks", hook).await.ok(201);
    let browser = Browser::operator(&server).await;
    for (channel_type, inputs) in [
        ("slack", vec!["config.url"]),
        ("discord", vec!["config.url"]),
        ("teams", vec!["config.url"]),
        ("apprise", vec!["config.url"]),
        ("ntfy", vec!["config.topic", "config.url", "config.token"]),
        ("pushover", vec!["config.user", "config.token"]),
        ("telegram", vec!["config.bot_token"]),
        ("email", vec!["config.address"]),
        ("webhook", vec!["config.webhook_id"]),
        ("sms", vec![]),
    ] {
        let page = browser.get(&format!("{NEW}?type={channel_type}")).await.is(200);
        let found = page.text.matches("name=\"config.").count();
        assert_eq!(found, inputs.len(), "{channel_type}: {}", page.text);
        for input in inputs {
            assert!(
                page.text.contains(&format!("name=\"{input}\"")),
                "{input}: {}",
                page.text
            );
        }
    }
    let webhook = hook.body["data"]["id"].as_str().unwrap();
    let form = [("type", "webhook"), ("name", ""), ("config.webhook_id", webhook)];
    let page = browser.follow(&browser.post(NEW, &form).await).await.is(200);
    assert!(
        page.text.contains("<bdi>https://receiver.example/hook</bdi>"),
        "{}",
        page.text
    );
    for unknown in [NEW.to_owned(), format!("{NEW}?type=fax")] {
        let page = browser.get(&unknown).await.is(200);
        assert!(
            page.text.contains("name=\"type\"") && !page.text.contains("Add channel"),
            "{}",
            page.text
        );
    }
}
