//! Notification channels of a running program, with services that respond as documented.

use acceptance::clock::wait_for;
use acceptance::{Behaviour, ScriptedServer, ServiceSetup, on_both_databases};
use serde_json::{Value, json};

on_both_databases![
    slack_channel_is_created_tested_and_deleted,
    telegram_chat_is_linked_by_its_code,
    pushover_channel_uses_the_application_of_the_operator,
];

const BOT_TOKEN: &str = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";
const APPLICATION_TOKEN: &str = "azGDORePK8gMaC0QOYAMyEEuzJnyUi";

fn respond(status: u16, body: &Value) -> Behaviour {
    Behaviour::Respond(status, Vec::new(), body.to_string())
}

async fn slack_channel_is_created_tested_and_deleted(setup: ServiceSetup) {
    let setup = setup.set("webhooks.allow_private_cidrs", "127.0.0.0/8");
    let env = setup.start_environment().await;
    let slack = ScriptedServer::start().await;
    let body = json!({"type": "slack", "name": "Desk", "config": {"url": slack.url()}});
    let created = env.operator.post("/notification-channels", &body).await.expect_ok(201);
    assert_eq!(created.data()["config"], json!({"url": "***"}));
    let path = format!("/notification-channels/{}", created.id());
    let tested = env
        .operator
        .post(&format!("{path}/test"), &json!({}))
        .await
        .expect_ok(200);
    assert_eq!(
        tested.data(),
        &json!({"accepted": true, "http_status": 200, "error": null})
    );
    assert!(slack.received()[0].json()["text"].as_str().unwrap().contains("Desk"));
    slack.set_behaviour(Behaviour::Respond(404, Vec::new(), "no_service".to_owned()));
    let tested = env
        .operator
        .post(&format!("{path}/test"), &json!({}))
        .await
        .expect_ok(200);
    assert_eq!(
        (&tested.data()["accepted"], &tested.data()["http_status"]),
        (&json!(false), &json!(404))
    );
    assert!(tested.text_of("error").contains("no_service"), "{tested}");
    let read = env.operator.get(&path).await.expect_ok(200);
    assert!(
        read.data()["verified_at"].is_string() && read.data()["last_error"] == tested.data()["error"],
        "{read}"
    );
    let deleted = env.operator.delete(&path).await.expect_ok(200);
    assert_eq!(deleted.data(), &json!({"id": created.id(), "deleted": true}));
    let _ = env.operator.get(&path).await.expect_error(404, "NOT_FOUND");
}

async fn telegram_chat_is_linked_by_its_code(setup: ServiceSetup) {
    let telegram = ScriptedServer::start().await;
    telegram.set_behaviour(respond(200, &json!({"ok": true, "result": []})));
    let setup = setup.set("telegram.base_url", telegram.url().trim_end_matches('/'));
    let env = setup.set("telegram.bot_token", BOT_TOKEN).start_environment().await;
    let created = env
        .operator
        .post("/notification-channels", &json!({"type": "telegram"}))
        .await
        .expect_ok(201);
    let path = format!("/notification-channels/{}", created.id());
    let text = format!("/start {}", created.data()["link"]["code"].as_str().unwrap());
    let message = json!({"message_id": 1, "chat": {"id": 7, "type": "private"}, "date": 1, "text": text});
    telegram.set_behaviour(respond(
        200,
        &json!({"ok": true, "result": [{"update_id": 100, "message": message}]}),
    ));
    wait_for("the chat is linked", || async {
        let read = env.operator.get(&path).await.expect_ok(200);
        read.data()["verified_at"].is_string().then_some(())
    })
    .await;
    telegram.set_behaviour(respond(200, &json!({"ok": true, "result": []})));
    let tested = env
        .operator
        .post(&format!("{path}/test"), &json!({}))
        .await
        .expect_ok(200);
    assert_eq!(
        tested.data(),
        &json!({"accepted": true, "http_status": 200, "error": null})
    );
    let received = telegram.received();
    assert!(
        received
            .iter()
            .any(|request| request.json()["text"].to_string().contains("This chat is linked"))
    );
    let sent = received
        .iter()
        .rev()
        .find(|request| request.json()["chat_id"] == 7)
        .unwrap();
    assert!(
        sent.json()["text"].to_string().contains("Messages about your alerts"),
        "{sent:?}"
    );
}

async fn pushover_channel_uses_the_application_of_the_operator(setup: ServiceSetup) {
    let pushover = ScriptedServer::start().await;
    pushover.set_behaviour(respond(
        200,
        &json!({"status": 1, "request": "647d2300-702c-4b38-8b2f-d56326ae460b"}),
    ));
    let setup = setup.set("pushover.base_url", pushover.url().trim_end_matches('/'));
    let env = setup.set("pushover.token", APPLICATION_TOKEN).start_environment().await;
    let body = json!({"type": "pushover", "config": {"user": "uQiRzpo4DXghDmr9QzzfQu27cmVRsG"}});
    let created = env.operator.post("/notification-channels", &body).await.expect_ok(201);
    assert_eq!(created.data()["config"], json!({"user": "***"}));
    let path = format!("/notification-channels/{}/test", created.id());
    let tested = env.operator.post(&path, &json!({})).await.expect_ok(200);
    assert_eq!(tested.data()["accepted"], true, "{tested}");
    let form = pushover.received().remove(0).body;
    assert!(
        form.contains(APPLICATION_TOKEN) && form.contains("uQiRzpo4DXghDmr9QzzfQu27cmVRsG"),
        "{form}"
    );
    let used_up =
        json!({"user": "invalid", "errors": ["user identifier is not a valid user"], "status": 0, "request": "1"});
    pushover.set_behaviour(respond(400, &used_up));
    let tested = env.operator.post(&path, &json!({})).await.expect_ok(200);
    assert!(tested.text_of("error").contains("not a valid user"), "{tested}");
}
