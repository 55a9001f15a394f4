//! Data export of an account.

use std::collections::BTreeSet;

use accounts::access::ApiKeyParams;
use alerts::Plan;
use foundation::{Actor, Scope};
use serde_json::{Value, json};

use super::{ann, sign_in, verify};
use crate::support::{PASSWORD, TestApp, above, kind, on_each_database};

on_each_database! {
    export_contains_all_data_of_the_account_only
    export_contains_no_secrets_or_hashes
    export_does_not_reveal_other_accounts
    large_export_is_complete_without_duplicates
    dropped_export_stops
    deleted_account_has_no_export
}

const PHONE: &str = "+14155550123";

async fn text(app: &TestApp, actor: &Actor) -> String {
    let mut export = app.service.account_settings.export_account(actor).await.unwrap();
    let mut text = Vec::new();
    while let Some(piece) = export.next().await {
        let piece = piece.unwrap();
        assert!(piece.len() < 200_000, "a piece has {} bytes", piece.len());
        text.extend(piece);
    }
    String::from_utf8(text).unwrap()
}

async fn export(app: &TestApp, actor: &Actor) -> Value {
    serde_json::from_str(&text(app, actor).await).unwrap()
}

async fn export_contains_all_data_of_the_account_only(app: TestApp) {
    let (ann, bob) = (ann(&app, Plan::Premium).await, super::bob(&app, Plan::Premium).await);
    let service = &app.service;
    app.quote("AAPL", 100.0).await;
    verify(&app, &ann, PHONE).await;
    let night = json!({"time_zone": "Europe/Berlin", "quiet_hours": {"start": "22:00", "end": "07:00"}});
    service.account_settings.set_preferences(&ann, &night).await.unwrap();
    service
        .account_settings
        .update_profile(&ann, &json!({"full_name": "Ann \"the\" <b>Bold</b>"}))
        .await
        .unwrap();
    for actor in [&ann, &bob] {
        app.create(actor, above("AAPL", 110.0)).await;
        let deleted = app.create(actor, above("AAPL", 500.0)).await.stored.alert.id;
        service.alerts.delete_alert(actor, deleted).await.unwrap();
        let webhook = json!({"url": "https://93.184.215.14/hook", "events": ["alert.triggered"]});
        service.webhooks.create_webhook(actor, &webhook).await.unwrap();
        let body = json!({"title": format!("by {}", actor.email), "body": "more\nlines"});
        service.feedback.create_feedback(actor, &body).await.unwrap();
    }
    app.quote("AAPL", 110.0).await;
    super::mailed(&app, &ann.email).await;
    let whole = export(&app, &ann).await;
    assert_eq!(whole["exported_at"], "2024-03-08T15:00:00.000Z");
    let account = &whole["account"];
    assert_eq!(
        (&account["id"], &account["email"]),
        (&json!(ann.account.0), &json!(ann.email))
    );
    assert_eq!(account["full_name"], "Ann \"the\" <b>Bold</b>");
    assert_eq!(
        account["phone"],
        json!({"number": PHONE, "verified_at": "2024-03-08T15:00:00.000Z"})
    );
    assert_eq!(account["time_zone"], "Europe/Berlin");
    assert_eq!(account["quiet_hours"], json!({"start": "22:00", "end": "07:00"}));
    assert_eq!(whole["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(whole["api_keys"][0]["name"], "key of ann@example.com");
    assert_eq!(whole["feedback"][0]["title"], "by ann@example.com");
    assert_eq!(whole["feedback"].as_array().unwrap().len(), 1);
    assert_eq!(whole["is_unsubscribed"], false);
    let webhook = &whole["webhooks"][0];
    assert_eq!(webhook["url"], "https://93.184.215.14/hook");
    assert_eq!(webhook["deliveries"].as_array().unwrap().len(), 1);
    let kinds: BTreeSet<_> = whole["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|sent| sent["kind"].as_str())
        .collect();
    assert_eq!(kinds, BTreeSet::from([Some("fired"), Some("phone_code")]));
    let alerts = whole["alerts"].as_array().unwrap();
    assert_eq!(alerts.len(), 2);
    assert_eq!(
        (&alerts[0]["threshold"], &alerts[0]["status"]),
        (&json!(110), &json!("triggered"))
    );
    assert_eq!(
        (&alerts[0]["created_by"], &alerts[0]["deleted_at"]),
        (&json!("session"), &Value::Null)
    );
    assert_eq!(alerts[1]["deleted_at"], "2024-03-08T15:00:00.000Z");
    let actions: Vec<_> = alerts[1]["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["action_type"])
        .collect();
    assert_eq!(actions, ["created", "deleted"]);
    assert!(!whole.to_string().contains("bob"), "{whole}");
}

async fn export_contains_no_secrets_or_hashes(app: TestApp) {
    let ann = ann(&app, Plan::Premium).await;
    let service = &app.service;
    let new = ApiKeyParams {
        name: "script".to_owned(),
        scopes: Scope::PUBLIC.to_vec(),
    };
    let key = service.accounts.create_api_key(&ann, new).await.unwrap();
    let webhook =
        json!({"url": "https://93.184.215.14/hook", "events": ["alert.triggered"], "secret": "whsec_hush-hush"});
    service.webhooks.create_webhook(&ann, &webhook).await.unwrap();
    service
        .identity
        .request_reset(&json!({"email": ann.email}))
        .await
        .unwrap();
    let token = super::last_token(&app, &ann.email).await;
    let text = text(&app, &ann).await;
    assert!(text.contains(&key.key.prefix));
    let hash: String = key.key.hash.iter().map(|byte| format!("{byte:02x}")).collect();
    for secret in [
        &key.secret[11..],
        "hush",
        PASSWORD,
        "argon2",
        &token,
        &hash,
        &hash.to_uppercase(),
    ] {
        assert!(!text.contains(secret), "{secret}");
    }
    for word in ["hash\"", "secret\"", "token\"", "cookie\""] {
        assert!(!text.contains(word), "{word} in {text}");
    }
}

async fn export_does_not_reveal_other_accounts(app: TestApp) {
    let (ann, bob) = (ann(&app, Plan::Basic).await, app.bob(Plan::Basic).await);
    let mut exports = Vec::new();
    for email in [bob.email.as_str(), "nobody@example.com"] {
        let body = json!({"email": email});
        app.service
            .account_settings
            .request_address_change(&ann, &body)
            .await
            .unwrap();
        // Waits until the email to the free address is sent.
        super::mailed(&app, email).await;
        exports.push(text(&app, &ann).await);
    }
    assert_eq!(super::mailed(&app, "nobody@example.com").await.len(), 1);
    assert_eq!(exports[0], exports[1]);
}

async fn large_export_is_complete_without_duplicates(app: TestApp) {
    let ann = ann(&app, Plan::Premium).await;
    app.quote("AAPL", 100.0).await;
    let bodies: Vec<Value> = (0..401).map(|n| above("AAPL", 200.0 + f64::from(n))).collect();
    let creating = bodies.iter().map(|body| app.create(&ann, body.clone()));
    let made = futures_util::future::join_all(creating).await;
    let first = made[0].stored.alert.id;
    let note = json!({"alert_id": first.0, "symbol": "AAPL", "action_type": "updated", "new_status": "active"});
    let notes = (0..400).map(|_| app.service.alerts.record_history(&ann, &note));
    for noted in futures_util::future::join_all(notes).await {
        noted.unwrap();
    }
    let whole = export(&app, &ann).await;
    let alerts = whole["alerts"].as_array().unwrap();
    let thresholds: BTreeSet<_> = alerts
        .iter()
        .map(|alert| alert["threshold"].as_i64().unwrap())
        .collect();
    assert_eq!((alerts.len(), thresholds.len()), (401, 401));
    let first = alerts.iter().find(|alert| alert["id"] == json!(first.0)).unwrap();
    assert_eq!(first["history"].as_array().unwrap().len(), 401);
    assert!(
        alerts
            .iter()
            .all(|alert| alert["history"][0]["action_type"] == "created")
    );
}

async fn dropped_export_stops(app: TestApp) {
    let ann = ann(&app, Plan::Premium).await;
    app.quote("AAPL", 100.0).await;
    for n in 0..20 {
        app.create(&ann, above("AAPL", 200.0 + f64::from(n))).await;
    }
    let dropped = app.service.account_settings.export_account(&ann).await.unwrap();
    drop(dropped);
    // Stopping the service waits for background tasks.
    let app = app.restarted().await;
    let again = sign_in(&app, &ann.email, PASSWORD).await.unwrap();
    assert_eq!(export(&app, &again).await["alerts"].as_array().unwrap().len(), 20);
}

async fn deleted_account_has_no_export(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    let body = json!({"confirmation": "DELETE"});
    app.service.account_settings.delete_account(&ann, &body).await.unwrap();
    let refused = app.service.account_settings.export_account(&ann).await.unwrap_err();
    assert_eq!(kind(&refused), "unauthenticated");
}
