//! The link in the email activates a guest's alert.

use alerts::{HistoryAction, Plan, Status};
use futures_util::future::join_all;
use jiff::SignedDuration;
use serde_json::json;
use service::cron::Job;

use super::{GUEST, ask, is_verification_email, make, price_request, token, verified, verify};
use crate::support::{TestApp, kind, on_each_database};

on_each_database! {
    verified_alert_has_fresh_price_fires_and_is_emailed
    link_works_once
    link_expires_after_two_days
    link_works_only_for_its_alert
    fifty_concurrent_uses_verify_once
    past_reminder_is_not_verified
    guest_has_at_most_twenty_active_alerts
    verified_alert_replaces_equivalent_one
    unverified_alerts_are_deleted_and_verified_ones_kept
}

const MICROSECOND: SignedDuration = SignedDuration::from_micros(1);
const LINK_LIFETIME: SignedDuration = SignedDuration::from_hours(48);

/// Returns a guest's new alert and its token.
async fn asked(app: &TestApp, threshold: u32) -> (alerts::AlertId, String) {
    let id = make(app, &price_request(GUEST, threshold)).await.stored.alert.id;
    (id, token(app.mailed(GUEST).await.last().unwrap()))
}

async fn verified_alert_has_fresh_price_fires_and_is_emailed(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    let (id, token) = asked(&app, 200).await;
    app.quote("AAPL", 190.40).await;
    let done = verify(&app, &token).await.unwrap();
    assert_eq!(
        (done.id, done.symbol.as_str(), done.status),
        (id, "AAPL", Status::Active)
    );
    let alert = app.alert_now(id).await;
    assert_eq!(alert.initial_price, Some("190.4".parse().unwrap()));
    app.quote("AAPL", 199.99).await;
    assert_eq!(app.alert_now(id).await.status, Status::Active);
    app.quote("AAPL", 200.0).await;
    assert_eq!(app.alert_now(id).await.status, Status::Triggered);
    let emails = app.mailed(GUEST).await;
    assert_eq!(emails.len(), 2);
    let news = &emails[1];
    assert_eq!(
        news.subject.as_deref(),
        Some("AAPL: price 200.00 is at or above 200.00")
    );
    let unsubscribe = "https://alerts.example.com/unsubscribe?token=";
    assert!(news.text.contains(unsubscribe), "{}", news.text);
    // It is evaluated after a restart, too.
    let (id, token) = asked(&app, 300).await;
    verify(&app, &token).await.unwrap();
    let app = app.restarted().await;
    app.quote("AAPL", 301.0).await;
    assert_eq!(app.alert_now(id).await.status, Status::Triggered);
    assert_eq!(app.mailed(GUEST).await.len(), 4);
}

async fn link_works_once(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    let (id, token) = asked(&app, 200).await;
    let show = async |body| kind(&app.service.guest_alerts.verify_guest_alert(&body).await.unwrap_err());
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
    assert_eq!(app.alert_now(id).await.status, Status::Inactive);
    verify(&app, &format!(" {token}\n")).await.unwrap();
    assert_eq!(show(json!({"token": token})).await, "malformed");
    // It does not activate a fired alert.
    app.quote("AAPL", 200.0).await;
    assert_eq!(show(json!({"token": token})).await, "malformed");
    assert_eq!(app.alert_now(id).await.status, Status::Triggered);
}

async fn link_expires_after_two_days(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    let (in_time, good) = asked(&app, 200).await;
    let (late, over) = asked(&app, 300).await;
    app.clock.advance(LINK_LIFETIME - MICROSECOND);
    verify(&app, &good).await.unwrap();
    app.clock.advance(MICROSECOND);
    assert_eq!(kind(&verify(&app, &over).await.unwrap_err()), "malformed");
    assert_eq!(app.alert_now(in_time).await.status, Status::Active);
    assert_eq!(app.alert_now(late).await.status, Status::Inactive);
}

async fn link_works_only_for_its_alert(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    let ann = app.ann(Plan::Basic).await;
    let mut body = price_request(&ann.email, 200);
    make(&app, &body).await;
    // Emails of the same instant have no order.
    let emails = app.mailed(&ann.email).await;
    let first = token(&emails[0]);
    body["threshold"] = json!(300);
    let other = make(&app, &body).await.stored.alert.id;
    app.mailed(&ann.email).await;
    // It neither signs in nor confirms an address.
    let body = json!({"token": first});
    assert_eq!(
        kind(&app.service.identity.sign_in_by_link(&body).await.unwrap_err()),
        "malformed"
    );
    assert_eq!(
        kind(&app.service.identity.confirm_address(&body).await.unwrap_err()),
        "malformed"
    );
    let magic = json!({"email": ann.email, "type": "magic_link"});
    app.service
        .identity
        .sign_in(&magic, "192.0.2.1".parse().unwrap())
        .await
        .unwrap();
    let emails = app.mailed(&ann.email).await;
    let link = &emails.last().unwrap().text;
    let start = link.find("sign-in?token=").unwrap() + "sign-in?token=".len();
    assert_eq!(
        kind(&verify(&app, &link[start..start + 43]).await.unwrap_err()),
        "no token"
    );
    // After all that, it is still valid for its alert.
    verify(&app, &first).await.unwrap();
    assert_eq!(app.alert_now(other).await.status, Status::Inactive);
}

async fn fifty_concurrent_uses_verify_once(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    let ann = app.ann(Plan::Basic).await;
    let id = make(&app, &price_request(&ann.email, 200)).await.stored.alert.id;
    let token = token(app.mailed(&ann.email).await.last().unwrap());
    let other = app.another_process().await;
    let showing = (0..50).map(|n| verify(if n % 2 == 0 { &app } else { &other }, &token));
    let answers = join_all(showing).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    let refused = answers.iter().filter_map(|answer| answer.as_ref().err());
    assert!(refused.map(kind).all(|kind| kind == "malformed"));
    other.service.stop().await;
    let body = json!({"alert_id": id.0});
    app.service.guest_alerts.attach_guest_alert(&ann, &body).await.unwrap();
    let done = [HistoryAction::Created, HistoryAction::Verified, HistoryAction::Updated];
    assert_eq!(app.actions(&ann, id).await, done);
    // It fires once. (One of the two processes has not loaded it yet.)
    let app = app.restarted().await;
    app.quote("AAPL", 200.0).await;
    assert_eq!(app.events(&ann).await.len(), 1);
}

async fn past_reminder_is_not_verified(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    let body = json!({"symbol": "AAPL", "condition": "reminder", "parameters": {"date": "2024-03-08T16:00:00Z"},
                      "email": GUEST});
    let id = make(&app, &body).await.stored.alert.id;
    let token = token(app.mailed(GUEST).await.last().unwrap());
    app.advance(61);
    assert_eq!(kind(&verify(&app, &token).await.unwrap_err()), "invalid status");
    assert_eq!(app.alert_now(id).await.status, Status::Inactive);
}

async fn guest_has_at_most_twenty_active_alerts(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    let day = SignedDuration::from_hours(24);
    for threshold in 200..219 {
        if threshold % 5 == 0 {
            app.clock.advance(day);
        }
        verified(&app, GUEST, threshold).await;
    }
    app.clock.advance(day);
    let mut tokens = Vec::new();
    for threshold in 300..305 {
        tokens.push(asked(&app, threshold).await.1);
    }
    let answers = join_all(tokens.iter().map(|token| verify(&app, token))).await;
    let refused: Vec<String> = answers
        .iter()
        .filter_map(|answer| answer.as_ref().err())
        .map(kind)
        .collect();
    assert_eq!(refused, ["forbidden plan premium"; 4]);
    // The link is valid again once another alert has fired.
    app.quote("AAPL", 200.0).await;
    let again = join_all(tokens.iter().map(|token| verify(&app, token))).await;
    assert_eq!(again.iter().filter(|answer| answer.is_ok()).count(), 1);
}

async fn verified_alert_replaces_equivalent_one(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    let first = verified(&app, GUEST, 200).await;
    let other = verified(&app, GUEST, 210).await;
    let second = verified(&app, GUEST, 200).await;
    assert_ne!(first, second);
    assert_eq!(app.stored(first).await, None);
    app.quote("AAPL", 205.0).await;
    assert_eq!(app.alert_now(second).await.status, Status::Triggered);
    assert_eq!(app.alert_now(other).await.status, Status::Active);
    let emails = app.mailed(GUEST).await;
    assert_eq!(
        emails.iter().filter(|email| !is_verification_email(email)).count(),
        1,
        "it is told once"
    );
}

async fn unverified_alerts_are_deleted_and_verified_ones_kept(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    let kept = verified(&app, GUEST, 300).await;
    let (forgotten, _) = asked(&app, 200).await;
    // Its last possible link.
    app.clock.advance(LINK_LIFETIME - MICROSECOND);
    ask(&app, &price_request(GUEST, 200)).await.unwrap();
    let last = token(app.mailed(GUEST).await.last().unwrap());
    app.clock.advance(LINK_LIFETIME - MICROSECOND);
    app.service.jobs.run_job(Job::Cleanup).await.unwrap();
    assert_eq!(app.alert_now(forgotten).await.status, Status::Inactive);
    app.clock.advance(MICROSECOND);
    assert_eq!(kind(&verify(&app, &last).await.unwrap_err()), "malformed");
    app.clock.advance(MICROSECOND * 2);
    let report = app.service.jobs.run_job(Job::Cleanup).await.unwrap();
    assert!(report.detail.contains("and 1 alerts of guests"), "{}", report.detail);
    assert_eq!(app.stored(forgotten).await, None);
    assert_eq!(kind(&verify(&app, &last).await.unwrap_err()), "malformed");
    assert_eq!(app.alert_now(kept).await.status, Status::Active);
}
