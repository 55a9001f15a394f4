//! Registering, where many do.

use jiff::SignedDuration;
use serde_json::json;
use service::ServiceError;
use store::model::NewCode;
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::mailed;
use crate::support::{OPEN, PASSWORD, World, at, kind, on_each_database};

on_each_database! {
    registrations_leave_some_of_a_days_letters_for_those_who_have_an_account
}

/// As many links as if so many had registered.
struct Registered(u16);

impl Transaction for Registered {
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

async fn registrations_leave_some_of_a_days_letters_for_those_who_have_an_account(world: World) {
    let register = async |email: &str| -> Result<(), ServiceError> {
        let body = json!({"email": email, "password": PASSWORD});
        world.service.identity.register(&body).await
    };
    let store = world.store().await;
    store.write(Registered(1_999)).await.map_err(|_| "written").unwrap();
    store.close().await;
    register("last@example.com").await.unwrap();
    let ann = world.ann(alerts::Plan::Basic).await;
    for email in ["new@example.com", "last@example.com", &ann.email] {
        assert_eq!(kind(&register(email).await.unwrap_err()), "too many", "{email}");
    }
    let body = json!({"email": ann.email, "type": "magic_link"});
    world.service.identity.sign_in(&body, super::HERE).await.unwrap();
    assert_eq!(mailed(&world, &ann.email).await.len(), 1);
    world.clock.advance(SignedDuration::from_hours(24));
    register("new@example.com").await.unwrap();
}
