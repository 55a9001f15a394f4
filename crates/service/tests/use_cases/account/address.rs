//! Another address for an account.

use alerts::Plan;
use jiff::SignedDuration;
use serde_json::{Value, json};
use service::{Actor, ServiceError};

use super::{ann, last_token, mailed, sign_in};
use crate::support::{PASSWORD, World, kind, on_each_database};

on_each_database! {
    an_address_is_in_force_once_its_link_is_followed_and_the_old_one_is_told
    a_link_is_good_once_for_a_day_and_until_the_next_one
    of_fifty_who_follow_a_link_at_once_one_succeeds
    an_address_that_has_an_account_is_mailed_nothing_and_no_answer_says_so
    of_two_who_take_the_same_address_in_two_processes_one_gets_it
    an_address_that_was_registered_meanwhile_stays_with_whoever_did_that
    a_new_password_voids_the_links_to_other_addresses
    links_are_counted_for_the_account_and_for_the_address
    what_is_no_address_or_the_accounts_own_is_refused
}

const NEW: &str = "ann@example.org";

async fn ask(world: &World, actor: &Actor, email: &str) -> Result<String, ServiceError> {
    world
        .service
        .account_settings
        .request_address_change(actor, &json!({"email": email}))
        .await
}

async fn follow(world: &World, token: &str) -> Result<String, ServiceError> {
    world
        .service
        .account_settings
        .confirm_address_change(&json!({"token": token}))
        .await
}

async fn an_address_is_in_force_once_its_link_is_followed_and_the_old_one_is_told(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    assert_eq!(ask(&world, &ann, " Ann@Example.ORG ").await.unwrap(), NEW);
    sign_in(&world, &ann.email, PASSWORD).await.unwrap();
    assert_eq!(
        kind(&sign_in(&world, NEW, PASSWORD).await.unwrap_err()),
        "unauthenticated"
    );
    let token = last_token(&world, NEW).await;
    assert_eq!(follow(&world, &token).await.unwrap(), NEW);
    let now = sign_in(&world, NEW, PASSWORD).await.unwrap();
    assert_eq!((now.account, now.email.as_str()), (ann.account, NEW));
    let old = sign_in(&world, &ann.email, PASSWORD).await.unwrap_err();
    assert_eq!(kind(&old), "unauthenticated");
    let told = mailed(&world, &ann.email).await;
    assert_eq!(told.len(), 1);
    assert!(told[0].contains(NEW), "{}", told[0]);
}

async fn a_link_is_good_once_for_a_day_and_until_the_next_one(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    ask(&world, &ann, NEW).await.unwrap();
    let first = last_token(&world, NEW).await;
    ask(&world, &ann, "ann@example.net").await.unwrap();
    assert_eq!(kind(&follow(&world, &first).await.unwrap_err()), "malformed");
    let second = last_token(&world, "ann@example.net").await;
    for token in ["", "short", &second[1..], &format!("{second}A"), "a\0b"] {
        assert!(follow(&world, token).await.is_err(), "{token}");
    }
    world
        .clock
        .advance(SignedDuration::from_hours(24) - SignedDuration::from_micros(1));
    follow(&world, &second).await.unwrap();
    assert_eq!(kind(&follow(&world, &second).await.unwrap_err()), "malformed");
    ask(&world, &ann, NEW).await.unwrap();
    let third = last_token(&world, NEW).await;
    world.clock.advance(SignedDuration::from_hours(24));
    assert_eq!(kind(&follow(&world, &third).await.unwrap_err()), "malformed");
}

async fn of_fifty_who_follow_a_link_at_once_one_succeeds(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    ask(&world, &ann, NEW).await.unwrap();
    let token = last_token(&world, NEW).await;
    let all = futures_util::future::join_all((0..50).map(|_| follow(&world, &token))).await;
    assert_eq!(all.iter().filter(|followed| followed.is_ok()).count(), 1);
    let refused = all.iter().filter_map(|followed| followed.as_ref().err());
    assert_eq!(refused.filter(|error| kind(error) == "malformed").count(), 49);
    assert_eq!(mailed(&world, &ann.email).await.len(), 1);
}

async fn an_address_that_has_an_account_is_mailed_nothing_and_no_answer_says_so(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    let bob = world.bob(Plan::Basic).await;
    assert_eq!(ask(&world, &ann, &bob.email).await.unwrap(), bob.email);
    assert_eq!(ask(&world, &ann, NEW).await.unwrap(), NEW);
    assert!(mailed(&world, &bob.email).await.is_empty());
    assert_eq!(mailed(&world, NEW).await.len(), 1);
}

async fn of_two_who_take_the_same_address_in_two_processes_one_gets_it(world: World) {
    let other = world.another_process().await;
    let ann = ann(&world, Plan::Basic).await;
    let bob = super::bob(&world, Plan::Basic).await;
    for round in 0..4 {
        let email = format!("both{round}@example.org");
        ask(&world, &ann, &email).await.unwrap();
        let of_ann = last_token(&world, &email).await;
        ask(&world, &bob, &email).await.unwrap();
        let of_bob = last_token(&world, &email).await;
        let both = futures_util::future::join(follow(&world, &of_ann), follow(&other, &of_bob)).await;
        let (one, refused) = match both {
            (Ok(one), Err(refused)) | (Err(refused), Ok(one)) => (one, refused),
            other => panic!("{other:?}"),
        };
        assert_eq!((one, kind(&refused).as_str()), (email, "malformed"));
    }
}

async fn an_address_that_was_registered_meanwhile_stays_with_whoever_did_that(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    ask(&world, &ann, "bob@example.com").await.unwrap();
    let token = last_token(&world, "bob@example.com").await;
    let bob = world.bob(Plan::Basic).await;
    assert_eq!(kind(&follow(&world, &token).await.unwrap_err()), "malformed");
    let still = sign_in(&world, &bob.email, PASSWORD).await.unwrap();
    assert_eq!(still.account, bob.account);
    assert!(mailed(&world, &ann.email).await.is_empty());
}

async fn a_new_password_voids_the_links_to_other_addresses(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    ask(&world, &ann, "thief@example.net").await.unwrap();
    let token = last_token(&world, "thief@example.net").await;
    let body: Value = json!({"current_password": PASSWORD, "new_password": "battery staple"});
    world
        .service
        .account_settings
        .change_password(&ann, super::HERE, &body)
        .await
        .unwrap();
    assert_eq!(kind(&follow(&world, &token).await.unwrap_err()), "malformed");
    ask(&world, &ann, "thief@example.net").await.unwrap();
    let token = last_token(&world, "thief@example.net").await;
    world
        .service
        .identity
        .request_reset(&json!({"email": ann.email}))
        .await
        .unwrap();
    let reset = last_token(&world, &ann.email).await;
    let body = json!({"email": ann.email, "token": reset, "new_password": "another battery"});
    world.service.identity.confirm_reset(&body).await.unwrap();
    assert_eq!(kind(&follow(&world, &token).await.unwrap_err()), "malformed");
}

async fn links_are_counted_for_the_account_and_for_the_address(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    for _ in 0..5 {
        ask(&world, &ann, NEW).await.unwrap();
    }
    let sixth = ask(&world, &ann, "elsewhere@example.org").await.unwrap_err();
    assert_eq!(kind(&sixth), "too many");
    // Somebody else's request for the same address looks like any other, but nothing more goes there.
    let bob = super::bob(&world, Plan::Basic).await;
    assert_eq!(ask(&world, &bob, NEW).await.unwrap(), NEW);
    assert_eq!(mailed(&world, NEW).await.len(), 5);
    world
        .clock
        .advance(SignedDuration::from_hours(24) - SignedDuration::from_micros(1));
    assert_eq!(kind(&ask(&world, &ann, NEW).await.unwrap_err()), "too many");
    world.clock.advance(SignedDuration::from_micros(1));
    ask(&world, &ann, NEW).await.unwrap();
    assert_eq!(mailed(&world, NEW).await.len(), 6);
}

async fn what_is_no_address_or_the_accounts_own_is_refused(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    for email in [
        "",
        "ann",
        "ann@",
        "ann@example.com",
        "ANN@example.com ",
        "ann@example.org\r\nBcc: all@example.com",
        "ann@example.org, bob@example.com",
        "\"Ann\" <ann@example.org>",
        "ann\0@example.org",
        "ann\u{202e}@example.org\n",
    ] {
        let refused = ask(&world, &ann, email).await.err().map(|error| kind(&error));
        assert_eq!(refused.as_deref(), Some("invalid email"), "{email:?}");
    }
    assert!(mailed(&world, "bob@example.com").await.is_empty());
}
