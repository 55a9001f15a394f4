//! To whom news goes: to the address and the number that are known to be somebody's, as they are when it is sent.

use alerts::Plan;
use serde_json::json;
use service::access::{NewKey, NewUser};
use service::{Scope, Settings};
use testkit::Database;

use crate::post::times;
use crate::support::{PASSWORD, World, on_each_database, settings};

on_each_database! {
    text_messages_go_to_the_verified_number_whatever_an_alert_says
    news_goes_to_the_number_that_is_verified_when_it_is_sent
    letters_call_nobody_by_a_name_that_a_stranger_gave
}

const NUMBER: &str = "+14155550123";
const OTHER: &str = "+14155550199";

async fn text_messages_go_to_the_verified_number_whatever_an_alert_says(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.verify_phone(&ann, NUMBER).await;
    world.quote("AAPL", 100.0).await;
    let body = json!({
        "symbol": "AAPL", "condition": "price_above", "threshold": 101, "notification": "sms",
        "phone": OTHER, "to": OTHER, "parameters": {"phone": OTHER, "to": OTHER},
    });
    let alert = world.create(&ann, body).await.stored.alert.id;
    world.quote("AAPL", 102.0).await;
    assert_eq!(world.outcomes(&ann, &[alert]).await, times(1, "sent"));
    let texts = world.outbox(NUMBER).await;
    assert_eq!(texts.len(), 2);
    assert_eq!(
        texts[1].text,
        "Bellwether: AAPL: price 102.00 is at or above 101.00. Price 102.00 USD."
    );
    assert_eq!((texts[1].subject.as_deref(), texts[1].html.as_deref()), (None, None));
    assert!(world.outbox(OTHER).await.is_empty());
}

async fn news_goes_to_the_number_that_is_verified_when_it_is_sent(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.verify_phone(&ann, NUMBER).await;
    let first = world.fire(&ann, "sms", 1).await;
    assert_eq!(world.outcomes(&ann, &first).await, times(1, "sent"));
    // Asked for and not verified, the other number changes nothing.
    let asked = json!({"phone": OTHER, "sms_consent": true});
    world
        .service
        .account_settings
        .request_phone(&ann, &asked)
        .await
        .unwrap();
    let second = world.fire(&ann, "sms", 1).await;
    assert_eq!(world.outcomes(&ann, &second).await, times(1, "sent"));
    assert_eq!(
        (world.outbox(NUMBER).await.len(), world.mailed(OTHER, 1).await.len()),
        (3, 1)
    );
    world.verify_phone(&ann, OTHER).await;
    let third = world.fire(&ann, "sms", 1).await;
    assert_eq!(world.outcomes(&ann, &third).await, times(1, "sent"));
    assert_eq!(
        (world.outbox(NUMBER).await.len(), world.outbox(OTHER).await.len()),
        (3, 3)
    );
}

async fn letters_call_nobody_by_a_name_that_a_stranger_gave(world: World) {
    let body = json!({
        "email": "victim@example.com", "password": PASSWORD, "full_name": "Call 555-0100 and win",
    });
    world.service.identity.register(&body).await.unwrap();
    let letter = world.mailed("victim@example.com", 1).await.remove(0);
    assert!(!letter.text.contains("555-0100") && !letter.html.unwrap().contains("555-0100"));
}

/// A world in which nobody can use an address before it is confirmed.
async fn strict(database: Database) -> World {
    let mut settings: Settings = settings();
    settings.identity.require_email_confirmation = true;
    World::with(database, settings).await
}

async fn unconfirmed(world: World) {
    let email = "carol@example.com".to_owned();
    let user = NewUser {
        email: email.clone(),
        password: PASSWORD.to_owned(),
        plan: Plan::Basic,
        is_operator: false,
        is_verified: false,
    };
    world.service.accounts.create_user(user).await.unwrap();
    let key = NewKey {
        name: "key".to_owned(),
        scopes: Scope::PUBLIC.to_vec(),
    };
    let key = world.service.accounts.create_key_for(&email, key).await.unwrap();
    let carol = world.service.authenticator.authenticate_key(&key.secret).await.unwrap();
    let alerts = world.fire(&carol, "email", 1).await;
    assert_eq!(world.outcomes(&carol, &alerts).await, times(1, "address_not_confirmed"));
    assert!(world.outbox(&email).await.is_empty());
}

#[test]
fn news_does_not_go_to_an_address_that_still_has_to_be_confirmed() {
    testkit::run(async {
        for database in testkit::fresh_databases().await {
            unconfirmed(strict(database).await).await;
        }
    });
}
