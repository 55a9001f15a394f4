//! Verification of email addresses.

use alerts::Plan;
use delivery::notification_channels::NotificationChannelId;
use foundation::Actor;
use serde_json::json;

use crate::support::{TestApp, kind, on_each_database};

on_each_database! {
    link_in_the_email_verifies_the_address
    link_to_a_former_address_is_invalid
    unverified_channel_gets_another_link
    address_gets_at_most_five_links_a_day
}

const ADDRESS: &str = "desk@example.org";

async fn create(app: &TestApp, actor: &Actor) -> NotificationChannelId {
    let body = json!({"type": "email", "config": {"address": ADDRESS}});
    app.create_channel(actor, body).await.detail.channel.id
}

/// Returns the tokens of the links that an address was sent.
async fn tokens(app: &TestApp, address: &str, count: usize) -> Vec<String> {
    let mails = app.mailed_at_least(address, count).await;
    let links = mails.iter().filter_map(|mail| {
        let (_, rest) = mail
            .text
            .split_once("https://alerts.example.com/confirm-channel?token=")?;
        Some(rest[..43].to_owned())
    });
    links.collect()
}

async fn link_in_the_email_verifies_the_address(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    let id = create(&app, &ann).await;
    let channels = &app.service.notification_channels;
    let tested = channels.test(&ann, id).await.unwrap();
    assert!(!tested.is_accepted && tested.error.unwrap().contains("not verified"));
    let token = tokens(&app, ADDRESS, 1).await.remove(0);
    let wrong = json!({"token": "A".repeat(43)});
    assert_eq!(kind(&channels.confirm_email(&wrong).await.unwrap_err()), "malformed");
    let body = json!({"token": token});
    assert_eq!(channels.confirm_email(&body).await.unwrap(), ADDRESS);
    assert_eq!(kind(&channels.confirm_email(&body).await.unwrap_err()), "malformed");
    assert!(channels.get(&ann, id).await.unwrap().channel.verified_at.is_some());
    assert!(channels.test(&ann, id).await.unwrap().is_accepted);
    let mails = app.mailed_at_least(ADDRESS, 2).await;
    assert!(mails[1].text.contains("This is a test"), "{}", mails[1].text);
    assert_eq!(kind(&channels.test(&ann, id).await.unwrap_err()), "too many");
}

async fn link_to_a_former_address_is_invalid(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    let id = create(&app, &ann).await;
    let token = tokens(&app, ADDRESS, 1).await.remove(0);
    let other = json!({"config": {"address": "other@example.org"}});
    app.update_channel(&ann, id, other).await.unwrap();
    let channels = &app.service.notification_channels;
    assert_eq!(
        kind(&channels.confirm_email(&json!({"token": token})).await.unwrap_err()),
        "malformed"
    );
    let token = tokens(&app, "other@example.org", 1).await.remove(0);
    channels.confirm_email(&json!({"token": token})).await.unwrap();
    // An expired link verifies nothing.
    let id = create(&app, &ann).await;
    let token = tokens(&app, ADDRESS, 2).await.remove(1);
    app.advance(24 * 60);
    assert_eq!(
        kind(&channels.confirm_email(&json!({"token": token})).await.unwrap_err()),
        "malformed"
    );
    assert_eq!(channels.get(&ann, id).await.unwrap().channel.verified_at, None);
}

async fn unverified_channel_gets_another_link(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    let id = create(&app, &ann).await;
    app.update_channel(&ann, id, json!({"name": "Desk"})).await.unwrap();
    let same = json!({"config": {"address": ADDRESS}});
    app.update_channel(&ann, id, same.clone()).await.unwrap();
    let found = tokens(&app, ADDRESS, 2).await;
    assert_eq!(found.len(), 2);
    let body = json!({"token": found[1]});
    app.service.notification_channels.confirm_email(&body).await.unwrap();
    let verified = app.update_channel(&ann, id, same).await.unwrap().detail.channel;
    assert!(verified.verified_at.is_some());
    assert_eq!(app.outbox(ADDRESS).await.len(), 2, "a verified address gets no link");
}

async fn address_gets_at_most_five_links_a_day(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    let mut id = create(&app, &ann).await;
    for _ in 0..4 {
        id = create(&app, &ann).await;
    }
    let body = json!({"type": "email", "config": {"address": ADDRESS}});
    let refused = app.service.notification_channels.create(&ann, &body).await.unwrap_err();
    assert_eq!(kind(&refused), "too many");
    assert_eq!(app.service.notification_channels.list(&ann).await.unwrap().len(), 5);
    app.service.notification_channels.delete(&ann, id).await.unwrap();
}
