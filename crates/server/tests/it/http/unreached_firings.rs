//! Firings over HTTP that no channel of their route could get.

use serde_json::{Value, json};
use testkit::eventually_some;
use testkit::stub_server::StubResponse;

use crate::http::notification_routes::Chats;

/// Returns the mail about the firing that was kept in place of sending it.
async fn mail(chats: &Chats) -> Value {
    eventually_some("the mail is sent", async || {
        let outbox = chats.server.data("/v1/outbox?to=operator@example.com").await;
        let mut mails = outbox.as_array().unwrap().iter();
        mails
            .find(|mail| {
                mail["subject"]
                    .as_str()
                    .is_some_and(|subject| subject.starts_with("AAPL"))
            })
            .cloned()
    })
    .await
}

testkit::on_both_databases! {
    async fn firing_is_mailed_to_its_owner_if_all_channels_have_failed(database) {
        let chats = Chats::start(database).await;
        chats.slack.set_response(StubResponse::complete("404 Not Found", "", "no_service"));
        chats.discord.set_response(StubResponse::complete("404 Not Found", "", r#"{"code": 10015}"#));
        let _ = chats.fire(&json!({"channels": chats.ids})).await;
        let firing = chats.firing_with(&[("email", "accepted"), ("slack", "failed"), ("discord", "failed")]).await;
        assert_eq!(firing["messages"][0]["channel_id"], Value::Null);
        let text = mail(&chats).await["text"].as_str().unwrap().to_owned();
        assert!(text.contains("None of the notification channels of this alert could be reached"), "{text}");
        assert!(text.contains("/acknowledge?t="), "{text}");
    }

    async fn firing_is_mailed_to_its_owner_if_the_last_channel_of_an_escalation_has_failed(database) {
        let chats = Chats::start(database).await;
        chats.slack.set_response(StubResponse::complete("404 Not Found", "", "no_service"));
        chats.discord.set_response(StubResponse::complete("404 Not Found", "", r#"{"code": 10015}"#));
        let _ = chats.fire(&json!({"channels": chats.ids, "policy": "failover"})).await;
        let _ = chats.firing_with(&[("email", "accepted"), ("slack", "failed"), ("discord", "failed")]).await;
        let _ = mail(&chats).await;
    }

    async fn firing_that_one_channel_has_accepted_is_not_mailed(database) {
        let chats = Chats::start(database).await;
        chats.slack.set_response(StubResponse::complete("404 Not Found", "", "no_service"));
        let _ = chats.fire(&json!({"channels": chats.ids})).await;
        let firing = chats.firing_with(&[("slack", "failed"), ("discord", "accepted")]).await;
        assert_eq!(firing["messages"].as_array().unwrap().len(), 2);
    }
}
