//! Account settings.

mod activation;
mod address;
mod delete;
mod export;
mod keys;
mod notes;
mod password;
mod phone;
mod preferences;
mod registering;
mod revocation;
mod sms;
mod subscription;
mod taking_over;

use std::net::{IpAddr, Ipv4Addr};

use accounts::identity::SignInResult;
use alerts::Plan;
use delivery::messages::{MessageChannel, OutboxFilter};
use foundation::{Actor, ServiceError};
use serde_json::{Value, json};

use crate::support::{ALL, PASSWORD, TestApp};

/// Client address.
const HERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

/// Signs in by password.
async fn sign_in(app: &TestApp, email: &str, password: &str) -> Result<Actor, ServiceError> {
    let body = json!({"email": email, "password": password});
    match app.service.identity.sign_in(&body, HERE).await? {
        SignInResult::SignedIn(signed_in) => {
            app.service
                .authenticator
                .authenticate_token(&signed_in.access_token)
                .await
        }
        SignInResult::LinkSent => panic!("a link was mailed"),
    }
}

/// Returns Ann, signed in, with an account on this plan.
async fn ann(app: &TestApp, plan: Plan) -> Actor {
    let ann = app.ann(plan).await;
    sign_in(app, &ann.email, PASSWORD).await.unwrap()
}

async fn bob(app: &TestApp, plan: Plan) -> Actor {
    let bob = app.bob(plan).await;
    sign_in(app, &bob.email, PASSWORD).await.unwrap()
}

/// Returns the messages to an address or number, oldest first, once none is pending.
async fn sent(app: &TestApp, channel: MessageChannel, to: &str) -> Vec<String> {
    let store = app.store().await;
    let nothing_waits = async {
        while !store.pending_endpoints(channel, i64::MIN, 1).await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    let nothing_waits = tokio::time::timeout(testkit::HANG_LIMIT, nothing_waits).await;
    assert!(nothing_waits.is_ok(), "messages are not sent");
    store.close().await;
    let filter = OutboxFilter {
        channel: Some(channel),
        to: Some(to.to_owned()),
    };
    let page = app.service.outbox.outbox(app.operator(), filter, ALL).await.unwrap();
    page.items.into_iter().rev().map(|message| message.text).collect()
}

async fn mailed(app: &TestApp, to: &str) -> Vec<String> {
    sent(app, MessageChannel::Email, to).await
}

/// Returns the token of the link in the latest email.
async fn last_token(app: &TestApp, to: &str) -> String {
    let emails = mailed(app, to).await;
    let text = emails.last().unwrap_or_else(|| panic!("nothing was mailed to {to}"));
    let (_, rest) = text.split_once("token=").unwrap_or_else(|| panic!("no link in {text}"));
    rest.chars().take_while(|c| !c.is_whitespace()).collect()
}

/// Returns the body of a request for a code.
fn number(phone: &str) -> Value {
    json!({"phone": phone, "sms_consent": true})
}

/// Returns the latest code sent to a number.
async fn last_code(app: &TestApp, phone: &str) -> String {
    let texts = sent(app, MessageChannel::Sms, phone).await;
    let text = texts.last().unwrap_or_else(|| panic!("nothing was sent to {phone}"));
    let mut words = text.split(|c: char| !c.is_ascii_digit());
    let code = words.find(|word| word.len() == 6);
    code.unwrap_or_else(|| panic!("no code in {text}")).to_owned()
}

/// Verifies a number of the actor.
async fn verify(app: &TestApp, actor: &Actor, phone: &str) {
    app.service
        .account_settings
        .request_phone(actor, &number(phone))
        .await
        .unwrap();
    let token = last_code(app, phone).await;
    let body = json!({"phone": phone, "token": token});
    app.service.account_settings.verify_phone(actor, &body).await.unwrap();
}
