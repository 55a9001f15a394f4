//! Templates of notification channels and alerts over HTTP.

use foundation::Scope;
use serde_json::{Value, json};
use testkit::stub_server::{ReceivedRequest, StubResponse, StubServer};

use crate::http::dashboard::Browser;
use crate::http::notification_channels::{patch, start_server};
use crate::http::test_server::{TestResponse, TestServer};

const CHANNELS: &str = "/v1/notification-channels";
const PREVIEW: &str = "/v1/templates/preview";
const UNKNOWN_ID: &str = "0d9f5a5e-31e0-4cc7-8f36-5d4a8b7a1f0e";
/// Divides by zero at a threshold of 190, but not at that of the example.
const FAILS_AT_190: &str = "{{ symbol }} {{ 1 / (level - 190) }}";

/// Returns the errors of a field.
fn errors<'a>(refused: &'a TestResponse, field: &str) -> &'a str {
    let errors = &refused.body["error"]["details"]["fields"][field];
    errors[0].as_str().unwrap_or_else(|| panic!("{field}: {refused:?}"))
}

async fn accepting_server() -> StubServer {
    StubServer::start(StubResponse::complete("200 OK", "", "ok")).await
}

/// Creates a Slack channel that all alerts go to, and returns its path.
async fn routed_slack_channel(server: &TestServer, slack: &StubServer, templates: Value) -> String {
    let url = format!("{}/services/a", slack.origin());
    let body = json!({"type": "slack", "name": "Room", "config": {"url": url}, "templates": templates});
    let channel = server.post(CHANNELS, body).await.ok(201).body["data"]["id"].clone();
    let route = json!({"channels": [channel]});
    let _ = server
        .request("PUT", "/v1/notification-route")
        .json(&route)
        .send()
        .await
        .ok(200);
    format!("{CHANNELS}/{}", channel.as_str().unwrap())
}

fn alert_path(id: &str) -> String {
    format!("/v1/alerts/{id}")
}

/// Fires an alert at a threshold.
async fn fire(server: &TestServer, threshold: i32) -> String {
    fire_with(server, threshold, Value::Null).await
}

/// Fires an alert at a threshold with templates.
async fn fire_with(server: &TestServer, threshold: i32, templates: Value) -> String {
    server.set_price("AAPL", f64::from(threshold) - 0.8).await;
    let id = server.create_alert(threshold.into()).await;
    if !templates.is_null() {
        let _ = patch(server, &alert_path(&id), json!({"templates": templates}))
            .await
            .ok(200);
    }
    server.set_price("AAPL", f64::from(threshold) + 1.0).await;
    id
}

fn body_of(request: &ReceivedRequest) -> Value {
    serde_json::from_str(&request.body).unwrap_or_else(|error| panic!("{error}: {request:?}"))
}

testkit::on_both_databases! {
    async fn templates_are_saved_changed_and_removed(database) {
        let server = start_server(database).await;
        let created = server.post(CHANNELS, json!({"type": "sms", "templates": {"text": "{{ symbol }}"}})).await.ok(201);
        let channel = &created.body["data"];
        assert_eq!(channel["templates"], json!({"title": null, "text": "{{ symbol }}", "payload": null}));
        let path = format!("{CHANNELS}/{}", channel["id"].as_str().unwrap());
        for (body, expected) in [
            (json!({"name": "a"}), json!({"title": null, "text": "{{ symbol }}", "payload": null})),
            (json!({"templates": {"title": "a"}}), json!({"title": "a", "text": "{{ symbol }}", "payload": null})),
            (json!({"templates": {"text": null, "payload": "{}"}}), json!({"title": "a", "text": null, "payload": "{}"})),
            (json!({"templates": {"title": null, "payload": null}}), Value::Null),
            (json!({"templates": {"text": "b"}}), json!({"title": null, "text": "b", "payload": null})),
            (json!({"templates": null}), Value::Null),
        ] {
            let changed = patch(&server, &path, body.clone()).await.ok(200);
            assert_eq!(changed.body["data"]["templates"], expected, "{body}");
            assert_eq!(server.data(&path).await["templates"], expected, "{body}");
            assert_eq!(server.data(CHANNELS).await[0]["templates"], expected, "{body}");
        }
    }

    async fn invalid_templates_are_422_by_field(database) {
        let server = start_server(database).await;
        let path = format!("{CHANNELS}/{}", server.post(CHANNELS, json!({"type": "sms"})).await.ok(201).body["data"]["id"].as_str().unwrap());
        for (templates, field, part) in [
            (json!({"text": "a\n{{ prize }}"}), "templates.text", "line 2: there is no variable `prize`; use symbol"),
            (json!({"title": "{{ symbol"}), "templates.title", "line 1: "),
            (json!({"text": "{% include 'a' %}"}), "templates.text", "templates have no `{% include %}`"),
            (json!({"payload": "{{ symbol }}"}), "templates.payload", "is not valid JSON at line 1"),
            (json!({"text": " "}), "templates.text", "renders to an empty text"),
            (json!({"text": "{{ 'a' * 20000 }}"}), "templates.text", "renders to more than 16384 bytes"),
            (json!({"text": "a".repeat(16 * 1024 + 1)}), "templates.text", "a template has at most 16384 bytes"),
            (json!({"body": "a"}), "templates.body", "must be omitted"),
            (json!({"text": 1}), "templates.text", "must be a text"),
            (json!("a"), "templates", "must be an object"),
        ] {
            let body = json!({"type": "sms", "templates": templates});
            for refused in [server.post(CHANNELS, body.clone()).await, patch(&server, &path, json!({"templates": templates})).await] {
                let refused = refused.refused(422, "VALIDATION_ERROR");
                assert!(errors(&refused, field).contains(part), "{refused:?}");
            }
        }
        let both = json!({"type": "slack", "templates": {"text": "{{"}});
        let refused = server.post(CHANNELS, both).await.refused(422, "VALIDATION_ERROR");
        let _ = (errors(&refused, "config.url"), errors(&refused, "templates.text"));
        let largest = json!({"type": "sms", "templates": {"text": "a".repeat(16 * 1024)}});
        let _ = server.post(CHANNELS, largest).await.ok(201);
    }

    async fn preview_has_the_values_of_an_example_of_the_latest_firing_or_of_now(database) {
        let mut server = start_server(database).await;
        let text = "{{ symbol }} {{ price|money }} ({{ change_percent|percent('de') }}), {{ level }}, {{ reason }}";
        let previewed = server.post(PREVIEW, json!({"template": text, "kind": "text"})).await.ok(200);
        let expected = "AAPL 201.50 (+1,64 %), 200, AAPL is at 201.50, at or above your 200.00";
        assert_eq!(previewed.body["data"], json!({"text": expected}));
        server.set_price("AAPL", 189.2).await;
        let id = server.create_alert(190).await;
        let of_alert = json!({"template": "{{ symbol }} {{ price|money }} {{ level }} {{ link }}", "kind": "title", "alert_id": id});
        let previewed = server.post(PREVIEW, of_alert.clone()).await.ok(200);
        let text = previewed.body["data"]["text"].as_str().unwrap();
        assert!(text.starts_with("AAPL 189.20 190 http") && text.ends_with(&format!("/alerts/{id}")), "{text}");
        server.set_price("AAPL", 191.0).await;
        server.set_price("AAPL", 195.0).await;
        let previewed = server.post(PREVIEW, of_alert.clone()).await.ok(200);
        assert!(previewed.body["data"]["text"].as_str().unwrap().starts_with("AAPL 191.00 190 "), "{previewed:?}");

        for (body, field) in [
            (json!({"template": "{{ prize }}", "kind": "text"}), "template"),
            (json!({"template": FAILS_AT_190, "kind": "text", "alert_id": id}), "template"),
            (json!({"template": "a", "kind": "payload"}), "template"),
            (json!({"template": "{{ 'a' * 1000000000 }}", "kind": "text"}), "template"),
            (json!({"kind": "text"}), "template"),
            (json!({"template": "a"}), "kind"),
            (json!({"template": "a", "kind": "body"}), "kind"),
            (json!({"template": "a", "kind": "text", "alert_id": "7"}), "alert_id"),
        ] {
            let refused = server.post(PREVIEW, body).await.refused(422, "VALIDATION_ERROR");
            errors(&refused, field);
        }
        let unknown = json!({"template": "a", "kind": "text", "alert_id": UNKNOWN_ID});
        let _ = server.post(PREVIEW, unknown).await.refused(404, "NOT_FOUND");
        server.key = server.another_key("operator@example.com", &[Scope::WebhooksWrite]).await;
        let _ = server.post(PREVIEW, of_alert).await.refused(403, "FORBIDDEN");
        let _ = server.anonymous("POST", PREVIEW).json(&json!({})).send().await.refused(401, "UNAUTHORIZED");
    }

    async fn messages_and_payloads_have_the_texts_of_templates(database) {
        let server = start_server(database).await;
        let (slack, receiver) = (accepting_server().await, accepting_server().await);
        let templates = json!({"title": "Title {{ symbol }}", "text": "Rose to {{ price|money }}.\nSecond line"});
        routed_slack_channel(&server, &slack, templates).await;
        let webhook = json!({"url": format!("{}/hook", receiver.origin()), "events": ["alert.triggered"], "secret": "a-secret-of-at-least-16-characters"});
        let webhook = server.post("/v1/webhooks", webhook).await.ok(201).body["data"]["id"].clone();
        let payload = r#"{"stock": {{ symbol|tojson }}, "price": {{ price }}, "note": {{ note|tojson }}, "link": {{ link|tojson }}}"#;
        let channel = json!({"type": "webhook", "config": {"webhook_id": webhook}, "templates": {"payload": payload}});
        let _ = server.post(CHANNELS, channel).await.ok(201);
        let alert = fire(&server, 190).await;
        let sent = slack.next_request().await.body;
        assert!(sent.contains("Title AAPL") && sent.contains(r"Rose to 191.00.\nSecond line"), "{sent}");
        let body = body_of(&receiver.next_request().await);
        assert_eq!((&body["stock"], &body["price"], &body["note"]), (&json!("AAPL"), &json!(191), &Value::Null));
        assert!(body["link"].as_str().unwrap().ends_with(&format!("/alerts/{alert}")), "{body}");
    }

    async fn failing_template_has_the_default_text_and_one_email_until_it_is_changed(database) {
        let server = start_server(database).await;
        let slack = accepting_server().await;
        let templates = json!({"title": "Own {{ symbol }}", "text": FAILS_AT_190});
        let path = routed_slack_channel(&server, &slack, templates).await;
        let notices = async || {
            let outbox = server.data("/v1/outbox?to=operator@example.com").await;
            let subjects = outbox.as_array().unwrap().iter().filter_map(|mail| mail["subject"].as_str());
            subjects.filter(|subject| *subject == "A template of your notification channel has failed").count()
        };
        for _ in 0..2 {
            fire(&server, 190).await;
            let sent = slack.next_request().await.body;
            assert!(sent.contains("Own AAPL") && sent.contains("price 191.00 is at or above 190.00"), "{sent}");
        }
        testkit::eventually("the owner gets an email", async || notices().await > 0).await;
        let outbox = server.data("/v1/outbox?to=operator@example.com").await.to_string();
        assert!(outbox.contains("line 1: unable to calculate 1 / 0") && outbox.contains("Room"), "{outbox}");

        let _ = patch(&server, &path, json!({"templates": {"text": format!("Again {FAILS_AT_190}")}})).await.ok(200);
        fire(&server, 190).await;
        let _ = slack.next_request().await;
        testkit::eventually("the owner gets another email", async || notices().await > 1).await;
        // A template that works sends no email.
        fire(&server, 200).await;
        assert!(slack.next_request().await.body.contains("Again AAPL 0.1"));
        assert_eq!(notices().await, 2);
    }

    async fn templates_of_an_alert_are_saved_changed_and_removed_without_arming_it_again(database) {
        let server = start_server(database).await;
        server.set_price("AAPL", 189.2).await;
        let id = server.create_alert(190).await;
        let path = alert_path(&id);
        assert_eq!(server.data(&path).await.get("templates"), None);
        for (templates, expected) in [
            (json!({"title": "a"}), json!({"title": "a", "text": null, "payload": null})),
            (json!({"text": "b"}), json!({"title": "a", "text": "b", "payload": null})),
            (json!({"title": null}), json!({"title": null, "text": "b", "payload": null})),
            (Value::Null, Value::Null),
        ] {
            let changed = patch(&server, &path, json!({"templates": templates})).await.ok(200);
            assert_eq!(changed.body["data"]["templates"], expected, "{templates}");
            assert_eq!(server.data(&path).await["templates"], expected, "{templates}");
        }
        let history = server.data(&format!("{path}/history")).await;
        assert_eq!(history[0]["new_status"], "active", "{history}");
        for (templates, field, part) in [
            (json!({"text": "a\n{{ prize }}"}), "templates.text", "line 2: there is no variable `prize`; use symbol"),
            (json!({"payload": "{{ symbol }}"}), "templates.payload", "is not valid JSON at line 1"),
            (json!({"body": "a"}), "templates.body", "must be omitted"),
            (json!({"text": 1}), "templates.text", "must be a text"),
            (json!("a"), "templates", "must be an object"),
            (json!({"title": "a", "text": "b".repeat(16 * 1024)}), "templates", "must be at most 16384 bytes in total, not 16385"),
        ] {
            let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 195, "templates": templates});
            for refused in [server.post("/v1/alerts", body.clone()).await, patch(&server, &path, json!({"templates": templates})).await] {
                let refused = refused.refused(422, "VALIDATION_ERROR");
                assert!(errors(&refused, field).contains(part), "{refused:?}");
            }
        }
        let guest = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 195, "email": "guest@example.com", "templates": {"text": "a"}});
        let refused = server.anonymous("POST", "/v1/alerts").json(&guest).send().await.refused(422, "VALIDATION_ERROR");
        assert!(errors(&refused, "templates").contains("needs an account"), "{refused:?}");
    }

    async fn template_of_an_alert_is_used_in_place_of_that_of_the_channel(database) {
        let server = start_server(database).await;
        let (slack, receiver) = (accepting_server().await, accepting_server().await);
        routed_slack_channel(&server, &slack, json!({"title": "Channel title", "text": "Channel text"})).await;
        let webhook = json!({"url": format!("{}/hook", receiver.origin()), "events": ["alert.triggered"], "secret": "a-secret-of-at-least-16-characters"});
        let webhook = server.post("/v1/webhooks", webhook).await.ok(201).body["data"]["id"].as_str().unwrap().to_owned();
        let channel = json!({"type": "webhook", "config": {"webhook_id": webhook}, "templates": {"payload": r#"{"of": "channel"}"#}});
        let _ = server.post(CHANNELS, channel).await.ok(201);
        let alert = fire_with(&server, 190, json!({"text": "Alert {{ level }}", "payload": r#"{"of": {{ level }}}"#})).await;
        let sent = slack.next_request().await.body;
        assert!(sent.contains("Channel title") && sent.contains("Alert 190") && !sent.contains("Channel text"), "{sent}");
        assert_eq!(body_of(&receiver.next_request().await), json!({"of": 190}));
        let deliveries = format!("/v1/webhooks/{webhook}/deliveries");
        let delivery = server.data(&deliveries).await[0]["id"].as_str().unwrap().to_owned();
        let browser = Browser::operator(&server).await;
        let page = browser.get(&format!("/deliveries/{webhook}/{delivery}")).await.is(200);
        assert!(page.text.contains("&#34;of&#34;: 190"), "{}", page.text);
        let page = browser.get(&format!("/alerts/{alert}")).await.is(200);
        assert!(page.text.contains("Alert {{ level }}") && page.text.contains("&#34;of&#34;: {{ level }}"), "{}", page.text);
    }

    async fn payload_template_of_an_alert_does_not_replace_the_message_to_a_slack_url(database) {
        let server = start_server(database).await;
        // Nothing listens on this port of the host, if there is a network at all.
        let webhook = json!({"url": "https://hooks.slack.com:8443/services/T0/B0/x", "events": ["alert.triggered"]});
        let webhook = server.post("/v1/webhooks", webhook).await.ok(201).body["data"]["id"].as_str().unwrap().to_owned();
        fire_with(&server, 190, json!({"payload": r#"{"of": {{ level }}}"#})).await;
        let delivery = server.data(&format!("/v1/webhooks/{webhook}/deliveries")).await[0]["id"].as_str().unwrap().to_owned();
        let page = Browser::operator(&server).await.get(&format!("/deliveries/{webhook}/{delivery}")).await.is(200);
        assert!(page.text.contains("&#34;text&#34;: ") && !page.text.contains("&#34;of&#34;"), "{}", page.text);
    }

    async fn payload_template_of_an_alert_needs_the_scope_of_webhooks(database) {
        let mut server = start_server(database).await;
        server.set_price("AAPL", 189.2).await;
        let path = alert_path(&server.create_alert(190).await);
        server.key = server.another_key("operator@example.com", &[Scope::AlertsRead, Scope::AlertsWrite]).await;
        let payload = json!({"templates": {"text": "a", "payload": "{}"}});
        let refused = patch(&server, &path, payload.clone()).await.refused(403, "FORBIDDEN");
        assert!(refused.text.contains("webhooks:write"), "{refused:?}");
        let _ = patch(&server, &path, json!({"templates": {"text": "a", "payload": null}})).await.ok(200);
        server.key = server.another_key("operator@example.com", &[Scope::AlertsWrite, Scope::WebhooksWrite]).await;
        let _ = patch(&server, &path, payload).await.ok(200);
    }

    async fn template_of_an_alert_applies_to_an_email_to_the_account(database) {
        let server = start_server(database).await;
        fire_with(&server, 190, json!({"title": "Own {{ symbol }} {{ level }}"})).await;
        let subjects = async || server.data("/v1/outbox?to=operator@example.com").await.to_string();
        testkit::eventually("the email has the title", async || subjects().await.contains("Own AAPL 190")).await;
    }

    async fn failing_template_of_an_alert_has_the_default_text_and_one_email(database) {
        let server = start_server(database).await;
        let slack = accepting_server().await;
        routed_slack_channel(&server, &slack, Value::Null).await;
        let id = fire_with(&server, 190, json!({"text": FAILS_AT_190})).await;
        let sent = slack.next_request().await.body;
        assert!(sent.contains("price 191.00 is at or above 190.00"), "{sent}");
        let outbox = async || server.data("/v1/outbox?to=operator@example.com").await.to_string();
        testkit::eventually("the owner gets an email", async || outbox().await.contains("A template of your alert has failed")).await;
        assert!(outbox().await.contains(&format!("/alerts/{id}")), "{}", outbox().await);
    }

    async fn alert_over_many_stocks_has_its_templates_for_each_of_them(database) {
        let server = start_server(database).await;
        let slack = accepting_server().await;
        routed_slack_channel(&server, &slack, Value::Null).await;
        server.set_price("AAPL", 189.2).await;
        let body = json!({"scope": {"symbols": ["AAPL"]}, "condition": "price_above", "threshold": 190, "templates": {"text": "First {{ symbol }}"}});
        let id = server.post("/v1/alerts", body).await.ok(201).body["data"]["id"].as_str().unwrap().to_owned();
        let _ = patch(&server, &alert_path(&id), json!({"templates": {"text": "One of many: {{ symbol }}"}})).await.ok(200);
        server.set_price("AAPL", 191.0).await;
        let sent = slack.next_request().await.body;
        assert!(sent.contains("One of many: AAPL"), "{sent}");
    }
}
