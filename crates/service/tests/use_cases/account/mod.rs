//! An account, as its owner looks after it.

mod address;
mod delete;
mod export;
mod keys;
mod notes;
mod password;
mod phone;
mod preferences;
mod registering;
mod rest;
mod sms;
mod subscription;
mod taking_over;

use std::net::{IpAddr, Ipv4Addr};

use alerts::Plan;
use serde_json::{Value, json};
use service::identity::SignIn;
use service::messages::{MessageChannel, OutboxFilter};
use service::{Actor, ServiceError};

use crate::support::{ALL, PASSWORD, World};

/// The client's address.
const HERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

/// Signs somebody in by a password.
async fn sign_in(world: &World, email: &str, password: &str) -> Result<Actor, ServiceError> {
    let body = json!({"email": email, "password": password});
    match world.service.identity.sign_in(&body, HERE).await? {
        SignIn::Done(signed_in) => {
            world
                .service
                .authenticator
                .authenticate_token(&signed_in.access_token)
                .await
        }
        SignIn::Mailed => panic!("a link was mailed"),
    }
}

/// Ann, who has an account on that plan and has signed in.
async fn ann(world: &World, plan: Plan) -> Actor {
    let ann = world.ann(plan).await;
    sign_in(world, &ann.email, PASSWORD).await.unwrap()
}

async fn bob(world: &World, plan: Plan) -> Actor {
    let bob = world.bob(plan).await;
    sign_in(world, &bob.email, PASSWORD).await.unwrap()
}

/// What was sent to an address or number, oldest first, once nothing more is on its way.
async fn sent(world: &World, channel: MessageChannel, to: &str) -> Vec<String> {
    let store = world.store().await;
    let nothing_waits = async {
        while !store
            .pending_message_endpoints(channel, i64::MIN, 1)
            .await
            .unwrap()
            .is_empty()
        {
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
    let page = world
        .service
        .outbox
        .outbox(world.operator(), filter, ALL)
        .await
        .unwrap();
    page.items.into_iter().rev().map(|message| message.text).collect()
}

async fn mailed(world: &World, to: &str) -> Vec<String> {
    sent(world, MessageChannel::Email, to).await
}

/// The token of the link in the mail that was sent last.
async fn last_token(world: &World, to: &str) -> String {
    let letters = mailed(world, to).await;
    let text = letters.last().unwrap_or_else(|| panic!("nothing was mailed to {to}"));
    let (_, rest) = text.split_once("token=").unwrap_or_else(|| panic!("no link in {text}"));
    rest.chars().take_while(|c| !c.is_whitespace()).collect()
}

/// The body of a request to be sent a code.
fn number(phone: &str) -> Value {
    json!({"phone": phone, "sms_consent": true})
}

/// The code that was sent to a number last.
async fn last_code(world: &World, phone: &str) -> String {
    let texts = sent(world, MessageChannel::Sms, phone).await;
    let text = texts.last().unwrap_or_else(|| panic!("nothing was sent to {phone}"));
    let mut words = text.split(|c: char| !c.is_ascii_digit());
    let code = words.find(|word| word.len() == 6);
    code.unwrap_or_else(|| panic!("no code in {text}")).to_owned()
}

/// Has the actor's number verified.
async fn verify(world: &World, actor: &Actor, phone: &str) {
    world
        .service
        .account_settings
        .request_phone(actor, &number(phone))
        .await
        .unwrap();
    let token = last_code(world, phone).await;
    let body = json!({"phone": phone, "token": token});
    world.service.account_settings.verify_phone(actor, &body).await.unwrap();
}
