//! Recipients of alert messages: the verified address and number at send time.

use accounts::access::{ApiKeyParams, NewAccount};
use alerts::Plan;
use foundation::Scope;
use serde_json::json;
use service::ServiceConfig;
use testkit::Database;

use crate::messages::helpers::times;
use crate::support::{PASSWORD, TestApp, on_each_database, settings};

on_each_database! {
    text_messages_go_only_to_the_verified_number
    number_verified_at_send_time_is_used
    account_emails_omit_name_of_unverified_account
}

const NUMBER: &str = "+14155550123";
const OTHER: &str = "+14155550199";

async fn text_messages_go_only_to_the_verified_number(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.verify_phone(&ann, NUMBER).await;
    app.quote("AAPL", 100.0).await;
    let body = json!({
        "symbol": "AAPL", "condition": "price_above", "threshold": 101, "notification": "sms",
        "phone": OTHER, "to": OTHER, "parameters": {"phone": OTHER, "to": OTHER},
    });
    let alert = app.create(&ann, body).await.stored.alert.id;
    app.quote("AAPL", 102.0).await;
    assert_eq!(app.outcomes(&ann, &[alert]).await, times(1, "sent"));
    let texts = app.outbox(NUMBER).await;
    assert_eq!(texts.len(), 2);
    let expected = format!(
        "Bellwether: AAPL: price 102.00 is at or above 101.00. Price 102.00 USD. \
         Alert: https://alerts.example.com/alerts/{alert} Seen it: https://alerts.example.com/acknowledge?t="
    );
    assert!(texts[1].text.starts_with(&expected), "{}", texts[1].text);
    assert_eq!((texts[1].subject.as_deref(), texts[1].html.as_deref()), (None, None));
    assert!(app.outbox(OTHER).await.is_empty());
}

async fn number_verified_at_send_time_is_used(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.verify_phone(&ann, NUMBER).await;
    let first = app.fire(&ann, "sms", 1).await;
    assert_eq!(app.outcomes(&ann, &first).await, times(1, "sent"));
    // A requested but unverified number has no effect.
    let asked = json!({"phone": OTHER, "sms_consent": true});
    app.service.account_settings.request_phone(&ann, &asked).await.unwrap();
    let second = app.fire(&ann, "sms", 1).await;
    assert_eq!(app.outcomes(&ann, &second).await, times(1, "sent"));
    assert_eq!(
        (
            app.outbox(NUMBER).await.len(),
            app.mailed_at_least(OTHER, 1).await.len()
        ),
        (3, 1)
    );
    app.verify_phone(&ann, OTHER).await;
    let third = app.fire(&ann, "sms", 1).await;
    assert_eq!(app.outcomes(&ann, &third).await, times(1, "sent"));
    assert_eq!((app.outbox(NUMBER).await.len(), app.outbox(OTHER).await.len()), (3, 3));
}

async fn account_emails_omit_name_of_unverified_account(app: TestApp) {
    let body = json!({
        "email": "victim@example.com", "password": PASSWORD, "full_name": "Call 555-0100 and win",
    });
    app.service.identity.register(&body).await.unwrap();
    let email = app.mailed_at_least("victim@example.com", 1).await.remove(0);
    assert!(!email.text.contains("555-0100") && !email.html.unwrap().contains("555-0100"));
}

/// A service that requires confirmed addresses.
async fn strict(database: Database) -> TestApp {
    let mut settings: ServiceConfig = settings();
    settings.identity.require_email_confirmation = true;
    TestApp::with(database, settings).await
}

async fn unconfirmed(app: TestApp) {
    let email = "carol@example.com".to_owned();
    let user = NewAccount {
        email: email.clone(),
        password: PASSWORD.to_owned(),
        plan: Plan::Basic,
        is_operator: false,
        is_verified: false,
    };
    app.service.accounts.create_account(user).await.unwrap();
    let key = ApiKeyParams {
        name: "key".to_owned(),
        scopes: Scope::PUBLIC.to_vec(),
    };
    let key = app
        .service
        .accounts
        .create_api_key_for_email(&email, key)
        .await
        .unwrap();
    let carol = app.service.authenticator.authenticate_key(&key.secret).await.unwrap();
    let alerts = app.fire(&carol, "email", 1).await;
    assert_eq!(app.outcomes(&carol, &alerts).await, times(1, "address_not_confirmed"));
    assert!(app.outbox(&email).await.is_empty());
}

#[test]
fn alert_emails_require_confirmed_address() {
    testkit::run(async {
        for database in testkit::fresh_databases().await {
            unconfirmed(strict(database).await).await;
        }
    });
}
