//! Limits of registrations.

use foundation::ServiceError;
use jiff::SignedDuration;
use serde_json::json;
use store::model::NewCode;
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::mailed;
use crate::support::{OPEN, PASSWORD, TestApp, at, kind, on_each_database};

on_each_database! {
    registration_limit_leaves_emails_for_existing_accounts
}

/// Creates as many links as this number of registrations.
struct InsertRegistrationLinks(u16);

impl Transaction for InsertRegistrationLinks {
    type Output = ();
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<Self::Refusal>>> {
        Box::pin(async move {
            for number in 0..self.0 {
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
    }
}

async fn registration_limit_leaves_emails_for_existing_accounts(app: TestApp) {
    let register = async |email: &str| -> Result<(), ServiceError> {
        let body = json!({"email": email, "password": PASSWORD});
        app.service.identity.register(&body).await
    };
    let store = app.store().await;
    store
        .write(InsertRegistrationLinks(1_999))
        .await
        .map_err(|_| "written")
        .unwrap();
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
