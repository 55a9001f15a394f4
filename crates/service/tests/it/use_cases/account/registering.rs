//! Limits of registrations.

use foundation::ServiceError;
use jiff::SignedDuration;
use serde_json::json;
use store::Store;
use store::model::NewCode;

use super::mailed;
use crate::support::{OPEN, PASSWORD, TestApp, at, kind, on_each_database};

on_each_database! {
    registration_limit_leaves_emails_for_existing_accounts
}

/// Creates as many links as this number of registrations.
async fn insert_registration_links(store: &Store, number: u16) {
    let inserted = store.commit(number, |&number, unit| {
        Box::pin(async move {
            for number in 0..number {
                let mut hash = [0; 32];
                hash[..2].copy_from_slice(&number.to_le_bytes());
                let code = NewCode {
                    purpose: "confirm_address",
                    account: None,
                    subject: format!("{number}@example.com"),
                    payload: None,
                    hash,
                    created_at: at(OPEN),
                    expires_at: at(OPEN) + SignedDuration::from_hours(48),
                };
                unit.insert_code(&code).await?;
            }
            Ok(())
        })
    });
    inserted.await.unwrap();
}

async fn registration_limit_leaves_emails_for_existing_accounts(app: TestApp) {
    let register = async |email: &str| -> Result<(), ServiceError> {
        let body = json!({"email": email, "password": PASSWORD});
        app.service.identity.register(&body).await
    };
    let store = app.store().await;
    insert_registration_links(&store, 1_999).await;
    store.close().await;
    register("last@example.com").await.unwrap();
    let ann = app.ann(alerts::Plan::Basic).await;
    for email in ["new@example.com", "last@example.com", &ann.email] {
        assert_eq!(kind(&register(email).await.unwrap_err()), "too many", "{email}");
    }
    let body = json!({"email": ann.email, "type": "magic_link"});
    app.service.identity.sign_in(&body, super::HERE).await.unwrap();
    assert_eq!(mailed(&app, &ann.email).await.len(), 1);
    app.clock.advance(SignedDuration::from_hours(24));
    register("new@example.com").await.unwrap();
}
