//! The link of a mail makes a guest's alert active.

use alerts::{HistoryAction, Plan, Status};
use futures_util::future::join_all;
use jiff::SignedDuration;
use serde_json::json;
use service::cron::Job;

use super::{GUEST, ask, asks, make, token, verified, verify, wish};
use crate::support::{World, kind, on_each_database};

on_each_database! {
    a_verified_alert_has_a_fresh_price_and_fires_and_is_mailed
    a_link_works_once
    a_link_is_good_for_two_days_and_not_a_moment_longer
    a_link_is_good_for_its_alert_and_nothing_else
    of_fifty_who_show_a_link_at_once_one_verifies_the_alert
    a_reminder_that_has_passed_is_not_verified
    twenty_alerts_of_a_guest_are_active_and_not_one_more
    a_verified_alert_takes_the_place_of_one_that_waits_for_the_same
    what_was_never_verified_is_forgotten_and_what_was_is_not
}

const MICROSECOND: SignedDuration = SignedDuration::from_micros(1);
const LIFE: SignedDuration = SignedDuration::from_hours(48);

/// A guest's new alert and the token for it.
async fn asked(world: &World, threshold: u32) -> (alerts::AlertId, String) {
    let id = make(world, &wish(GUEST, threshold)).await.stored.alert.id;
    (id, token(world.mailed(GUEST).await.last().unwrap()))
}

async fn a_verified_alert_has_a_fresh_price_and_fires_and_is_mailed(world: World) {
    world.quote("AAPL", 189.20).await;
    let (id, token) = asked(&world, 200).await;
    world.quote("AAPL", 190.40).await;
    let done = verify(&world, &token).await.unwrap();
    assert_eq!(
        (done.id, done.symbol.as_str(), done.status),
        (id, "AAPL", Status::Active)
    );
    let alert = world.alert_now(id).await;
    assert_eq!(alert.initial_price, Some("190.4".parse().unwrap()));
    world.quote("AAPL", 199.99).await;
    assert_eq!(world.alert_now(id).await.status, Status::Active);
    world.quote("AAPL", 200.0).await;
    assert_eq!(world.alert_now(id).await.status, Status::Triggered);
    let letters = world.mailed(GUEST).await;
    assert_eq!(letters.len(), 2);
    let news = &letters[1];
    assert_eq!(
        news.subject.as_deref(),
        Some("AAPL: price 200.00 is at or above 200.00")
    );
    let unsubscribe = "https://alerts.example.com/unsubscribe?token=";
    assert!(news.text.contains(unsubscribe), "{}", news.text);
    // It is judged after a restart, too.
    let (id, token) = asked(&world, 300).await;
    verify(&world, &token).await.unwrap();
    let world = world.restarted().await;
    world.quote("AAPL", 301.0).await;
    assert_eq!(world.alert_now(id).await.status, Status::Triggered);
    assert_eq!(world.mailed(GUEST).await.len(), 4);
}

async fn a_link_works_once(world: World) {
    world.quote("AAPL", 189.20).await;
    let (id, token) = asked(&world, 200).await;
    let show = async |body| kind(&world.service.guest_alerts.verify_guest_alert(&body).await.unwrap_err());
    for body in [
        json!({}),
        json!({"token": null}),
        json!({"token": 5}),
        json!({"token": " "}),
    ] {
        assert_eq!(show(body).await, "invalid token");
    }
    assert_eq!(show(json!([])).await, "malformed");
    let other = format!("{}{}", if token.starts_with('A') { 'B' } else { 'A' }, &token[1..]);
    for unknown in ["vt_1", &token[1..], &format!("{token}A"), &other, &token.to_uppercase()] {
        assert_eq!(show(json!({"token": unknown})).await, "no token", "{unknown}");
    }
    assert_eq!(world.alert_now(id).await.status, Status::Inactive);
    verify(&world, &format!(" {token}\n")).await.unwrap();
    assert_eq!(show(json!({"token": token})).await, "malformed");
    // Nor does it set going what has fired.
    world.quote("AAPL", 200.0).await;
    assert_eq!(show(json!({"token": token})).await, "malformed");
    assert_eq!(world.alert_now(id).await.status, Status::Triggered);
}

async fn a_link_is_good_for_two_days_and_not_a_moment_longer(world: World) {
    world.quote("AAPL", 189.20).await;
    let (in_time, good) = asked(&world, 200).await;
    let (late, over) = asked(&world, 300).await;
    world.clock.advance(LIFE - MICROSECOND);
    verify(&world, &good).await.unwrap();
    world.clock.advance(MICROSECOND);
    assert_eq!(kind(&verify(&world, &over).await.unwrap_err()), "malformed");
    assert_eq!(world.alert_now(in_time).await.status, Status::Active);
    assert_eq!(world.alert_now(late).await.status, Status::Inactive);
}

async fn a_link_is_good_for_its_alert_and_nothing_else(world: World) {
    world.quote("AAPL", 189.20).await;
    let ann = world.ann(Plan::Basic).await;
    let mut body = wish(&ann.email, 200);
    make(&world, &body).await;
    // Letters of one instant are in no order.
    let letters = world.mailed(&ann.email).await;
    let first = token(&letters[0]);
    body["threshold"] = json!(300);
    let other = make(&world, &body).await.stored.alert.id;
    // It neither signs in nor confirms an address, though one could have been mailed for it.
    let body = json!({"token": first});
    assert_eq!(
        kind(&world.service.identity.sign_in_by_link(&body).await.unwrap_err()),
        "malformed"
    );
    assert_eq!(
        kind(&world.service.identity.confirm_address(&body).await.unwrap_err()),
        "malformed"
    );
    let magic = json!({"email": ann.email, "type": "magic_link"});
    world
        .service
        .identity
        .sign_in(&magic, "192.0.2.1".parse().unwrap())
        .await
        .unwrap();
    let letters = world.mailed(&ann.email).await;
    let link = &letters.last().unwrap().text;
    let start = link.find("sign-in?token=").unwrap() + "sign-in?token=".len();
    assert_eq!(
        kind(&verify(&world, &link[start..start + 43]).await.unwrap_err()),
        "no token"
    );
    // And after all that it is as good as before, for the one alert.
    verify(&world, &first).await.unwrap();
    assert_eq!(world.alert_now(other).await.status, Status::Inactive);
}

async fn of_fifty_who_show_a_link_at_once_one_verifies_the_alert(world: World) {
    world.quote("AAPL", 189.20).await;
    let ann = world.ann(Plan::Basic).await;
    let id = make(&world, &wish(&ann.email, 200)).await.stored.alert.id;
    let token = token(world.mailed(&ann.email).await.last().unwrap());
    let other = world.another_process().await;
    let showing = (0..50).map(|n| verify(if n % 2 == 0 { &world } else { &other }, &token));
    let answers = join_all(showing).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    let refused = answers.iter().filter_map(|answer| answer.as_ref().err());
    assert!(refused.map(kind).all(|kind| kind == "malformed"));
    other.service.stop().await;
    let body = json!({"alert_id": id.0});
    world
        .service
        .guest_alerts
        .attach_guest_alert(&ann, &body)
        .await
        .unwrap();
    let done = [HistoryAction::Created, HistoryAction::Verified, HistoryAction::Updated];
    assert_eq!(world.actions(&ann, id).await, done);
    // And it fires once. (One of the two processes has not heard of it yet.)
    let world = world.restarted().await;
    world.quote("AAPL", 200.0).await;
    assert_eq!(world.events(&ann).await.len(), 1);
}

async fn a_reminder_that_has_passed_is_not_verified(world: World) {
    world.quote("AAPL", 189.20).await;
    let body = json!({"symbol": "AAPL", "condition": "reminder", "parameters": {"date": "2024-03-08T16:00:00Z"},
                      "email": GUEST});
    let id = make(&world, &body).await.stored.alert.id;
    let token = token(world.mailed(GUEST).await.last().unwrap());
    world.advance(61);
    assert_eq!(kind(&verify(&world, &token).await.unwrap_err()), "invalid status");
    assert_eq!(world.alert_now(id).await.status, Status::Inactive);
}

async fn twenty_alerts_of_a_guest_are_active_and_not_one_more(world: World) {
    world.quote("AAPL", 189.20).await;
    let day = SignedDuration::from_hours(24);
    for threshold in 200..219 {
        if threshold % 5 == 0 {
            world.clock.advance(day);
        }
        verified(&world, GUEST, threshold).await;
    }
    world.clock.advance(day);
    let mut tokens = Vec::new();
    for threshold in 300..305 {
        tokens.push(asked(&world, threshold).await.1);
    }
    let answers = join_all(tokens.iter().map(|token| verify(&world, token))).await;
    let refused: Vec<String> = answers
        .iter()
        .filter_map(|answer| answer.as_ref().err())
        .map(kind)
        .collect();
    assert_eq!(refused, ["forbidden plan premium"; 4]);
    // The link is as good as before once one has fired.
    world.quote("AAPL", 200.0).await;
    let again = join_all(tokens.iter().map(|token| verify(&world, token))).await;
    assert_eq!(again.iter().filter(|answer| answer.is_ok()).count(), 1);
}

async fn a_verified_alert_takes_the_place_of_one_that_waits_for_the_same(world: World) {
    world.quote("AAPL", 189.20).await;
    let first = verified(&world, GUEST, 200).await;
    let other = verified(&world, GUEST, 210).await;
    let second = verified(&world, GUEST, 200).await;
    assert_ne!(first, second);
    assert_eq!(world.stored(first).await, None);
    world.quote("AAPL", 205.0).await;
    assert_eq!(world.alert_now(second).await.status, Status::Triggered);
    assert_eq!(world.alert_now(other).await.status, Status::Active);
    let letters = world.mailed(GUEST).await;
    assert_eq!(
        letters.iter().filter(|letter| !asks(letter)).count(),
        1,
        "it is told once"
    );
}

async fn what_was_never_verified_is_forgotten_and_what_was_is_not(world: World) {
    world.quote("AAPL", 189.20).await;
    let kept = verified(&world, GUEST, 300).await;
    let (forgotten, _) = asked(&world, 200).await;
    // The last link that there can be for it.
    world.clock.advance(LIFE - MICROSECOND);
    ask(&world, &wish(GUEST, 200)).await.unwrap();
    let last = token(world.mailed(GUEST).await.last().unwrap());
    world.clock.advance(LIFE - MICROSECOND);
    world.service.jobs.run_job(Job::Cleanup).await.unwrap();
    assert_eq!(world.alert_now(forgotten).await.status, Status::Inactive);
    world.clock.advance(MICROSECOND);
    assert_eq!(kind(&verify(&world, &last).await.unwrap_err()), "malformed");
    world.clock.advance(MICROSECOND * 2);
    let report = world.service.jobs.run_job(Job::Cleanup).await.unwrap();
    assert!(report.detail.contains("and 1 alerts of guests"), "{}", report.detail);
    assert_eq!(world.stored(forgotten).await, None);
    assert_eq!(kind(&verify(&world, &last).await.unwrap_err()), "malformed");
    assert_eq!(world.alert_now(kept).await.status, Status::Active);
}
