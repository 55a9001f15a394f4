//! Alert requests without an account.

use alerts::{Plan, Status};
use foundation::ServiceError;
use futures_util::future::join_all;
use jiff::SignedDuration;
use serde_json::{Value, json};
use service::alerts::Created;
use store::model::AlertOwner;

use super::{GUEST, ask, is_verification_email, make, price_request, verified};
use crate::support::{TestApp, above, kind, on_each_database};

on_each_database! {
    guest_alert_is_inactive_until_link_is_followed
    missing_address_is_unauthenticated
    guests_can_create_only_price_and_time_alerts_by_email
    unknown_stock_and_percentage_without_price_are_rejected
    multiple_addresses_are_rejected_and_nothing_is_sent
    addresses_are_compared_ignoring_case
    repeated_request_returns_same_alert_and_sends_link_again_later
    expired_guest_alert_can_be_requested_again
    address_gets_five_links_a_day
    fifty_concurrent_requests_send_five_links
    total_guest_links_are_limited_to_a_thousand_a_day
    response_does_not_reveal_accounts_or_other_alerts
    unverified_alert_never_fires
}

const ONE_DAY: SignedDuration = SignedDuration::from_hours(24);
const MICROSECOND: SignedDuration = SignedDuration::from_micros(1);

async fn guest_alert_is_inactive_until_link_is_followed(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    let detail = make(&app, &price_request(GUEST, 200)).await;
    assert_eq!(detail.stored.alert.status, Status::Inactive);
    assert_eq!(detail.evaluation, None);
    let email = GUEST.to_owned();
    assert_eq!(detail.stored.owner, AlertOwner::Guest { email });
    let emails = app.mailed(GUEST).await;
    assert_eq!(emails.len(), 1);
    let _ = super::token(&emails[0]);
    assert!(
        emails[0].text.contains("AAPL rises to 200.00 USD or above (once)"),
        "{}",
        emails[0].text
    );
}

async fn missing_address_is_unauthenticated(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    for body in [
        json!({}),
        above("AAPL", 200.0),
        json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200, "email": null}),
        json!({"condition": "nonsense"}),
    ] {
        assert_eq!(
            kind(&app.service.guest_alerts.guest_alert_request(&body).unwrap_err()),
            "unauthenticated",
            "{body}"
        );
    }
}

async fn guests_can_create_only_price_and_time_alerts_by_email(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    let guests = |body: Value| {
        let mut body = body;
        body["symbol"] = json!("AAPL");
        body["email"] = json!(GUEST);
        body
    };
    for body in [
        json!({"condition": "rsi_limit", "threshold": 70}),
        json!({"condition": "ma_touch_above", "threshold": 50}),
        json!({"condition": "volume_change", "threshold": 100}),
        json!({"condition": "pe_ratio_below", "threshold": 20}),
        json!({"condition": "earnings_announcement", "threshold": 7}),
        json!({"condition": "social_buzz", "parameters": {"direction": "rising"}}),
        json!({"condition": "price_above", "threshold": 200, "notification": "sms"}),
    ] {
        let refused = app
            .service
            .guest_alerts
            .guest_alert_request(&guests(body.clone()))
            .unwrap_err();
        assert_eq!(kind(&refused), "forbidden plan premium", "{body}");
    }
    for body in [
        json!({"condition": "new_high"}),
        json!({"condition": "price_change_down", "threshold": 5}),
        json!({"condition": "daily_reminder"}),
        json!({"condition": "reminder", "parameters": {"date": "2024-03-11"}}),
    ] {
        make(&app, &guests(body)).await;
    }
}

async fn unknown_stock_and_percentage_without_price_are_rejected(app: TestApp) {
    app.deliver(json!({"stocks": [{"symbol": "NEWCO", "name": "New Co."}]}))
        .await;
    let mut body = price_request(GUEST, 200);
    assert_eq!(
        kind(&app.service.guest_alerts.guest_alert_request(&body).unwrap_err()),
        "no stock"
    );
    body["symbol"] = json!("NEWCO");
    assert_eq!(make(&app, &body).await.stored.alert.initial_price, None);
    body["condition"] = json!("price_change_up");
    body["threshold"] = json!(5);
    assert_eq!(kind(&ask(&app, &body).await.unwrap_err()), "unavailable");
}

async fn multiple_addresses_are_rejected_and_nothing_is_sent(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    for email in [
        "guest@example.com\r\nBcc: victim@example.com",
        "guest@example.com\nSubject: hello",
        "guest@example.com>\r\nRCPT TO:<victim@example.com",
        "guest@example.com, victim@example.com",
        "guest@example.com;victim@example.com",
        "Guest <guest@example.com>",
        "\"a\\r\\nb\"@example.com",
        "guest@example.com\0",
        "guest@example.com%0d%0aBcc:victim@example.com",
        "guest\u{2028}@example.com",
        "guest@exam\u{202e}ple.com",
        "@example.com",
        "guest",
        "",
    ] {
        let refused = app
            .service
            .guest_alerts
            .guest_alert_request(&price_request(email, 200))
            .unwrap_err();
        assert_eq!(kind(&refused), "invalid email", "{email:?}");
        assert!(!refused.to_string().contains("victim"));
    }
    for other in [json!(5), json!(["guest@example.com"]), json!({})] {
        let mut body = price_request(GUEST, 200);
        body["email"] = other;
        assert_eq!(
            kind(&app.service.guest_alerts.guest_alert_request(&body).unwrap_err()),
            "invalid email"
        );
    }
    for to in [GUEST, "victim@example.com"] {
        assert_eq!(app.mailed(to).await, []);
    }
}

async fn addresses_are_compared_ignoring_case(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    let first = make(&app, &price_request("  Guest@Example.COM ", 200)).await;
    let Created::Existing(second) = ask(&app, &price_request(GUEST, 200)).await.unwrap() else {
        panic!("it is the same");
    };
    assert_eq!(second.stored, first.stored);
    assert_eq!(app.mailed(GUEST).await.len(), 1);
}

async fn repeated_request_returns_same_alert_and_sends_link_again_later(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    let first = make(&app, &price_request(GUEST, 200)).await.stored;
    let repeat = async || match ask(&app, &price_request(GUEST, 200)).await.unwrap() {
        Created::Existing(detail) => detail.stored,
        Created::New(detail) => panic!("{detail:?}"),
    };
    app.clock.advance(SignedDuration::from_mins(10) - MICROSECOND);
    assert_eq!(repeat().await, first);
    assert_eq!(app.mailed(GUEST).await.len(), 1);
    app.clock.advance(MICROSECOND);
    assert_eq!(repeat().await, first);
    let emails = app.mailed(GUEST).await;
    assert_eq!(emails.len(), 2);
    // Both links are valid for the alert; using the first one invalidates the second.
    let tokens: Vec<String> = emails.iter().map(super::token).collect();
    assert_eq!(super::verify(&app, &tokens[0]).await.unwrap().id, first.alert.id);
    assert_eq!(kind(&super::verify(&app, &tokens[1]).await.unwrap_err()), "malformed");
    // Repeated requests count as links: five a day.
    let other = make(&app, &price_request(GUEST, 300)).await.stored;
    for _ in 0..6 {
        app.advance(10);
        let Created::Existing(found) = ask(&app, &price_request(GUEST, 300)).await.unwrap() else {
            panic!("it is the same");
        };
        assert_eq!(found.stored, other);
    }
    assert_eq!(app.mailed(GUEST).await.len(), 5);
}

async fn expired_guest_alert_can_be_requested_again(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    let first = make(&app, &price_request(GUEST, 200)).await.stored.alert.id;
    app.clock.advance(ONE_DAY * 2 - MICROSECOND);
    assert!(matches!(
        ask(&app, &price_request(GUEST, 200)).await.unwrap(),
        Created::Existing(_)
    ));
    app.clock.advance(MICROSECOND);
    let second = make(&app, &price_request(GUEST, 200)).await.stored.alert.id;
    assert_ne!(first, second);
}

async fn address_gets_five_links_a_day(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    for threshold in 0..5 {
        make(&app, &price_request(GUEST, 200 + threshold)).await;
        app.advance(1);
    }
    let refused = ask(&app, &price_request(GUEST, 300)).await.unwrap_err();
    let ServiceError::RateLimited { retry_after_s, .. } = refused else {
        panic!("{refused}");
    };
    assert_eq!(retry_after_s, 24 * 3600 - 5 * 60 + 1);
    make(&app, &price_request("other@example.com", 300)).await;
    app.clock.advance(ONE_DAY - SignedDuration::from_mins(5) - MICROSECOND);
    assert_eq!(
        kind(&ask(&app, &price_request(GUEST, 300)).await.unwrap_err()),
        "too many"
    );
    app.clock.advance(MICROSECOND);
    make(&app, &price_request(GUEST, 300)).await;
    assert_eq!(
        kind(&ask(&app, &price_request(GUEST, 301)).await.unwrap_err()),
        "too many"
    );
    assert_eq!(app.mailed(GUEST).await.len(), 6);
}

async fn fifty_concurrent_requests_send_five_links(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    let other = app.another_process().await;
    let asking = (0..50).map(|threshold| {
        let app = if threshold % 2 == 0 { &app } else { &other };
        async move { ask(app, &price_request(GUEST, 200 + threshold)).await }
    });
    let answers = join_all(asking).await;
    let refused = answers.iter().filter_map(|answer| answer.as_ref().err());
    assert_eq!(refused.map(kind).filter(|kind| kind == "too many").count(), 45);
    assert_eq!(app.mailed(GUEST).await.len(), 5);
    // Equal requests get the same alert.
    let same = (0..50).map(|n| {
        let app = if n % 2 == 0 { &app } else { &other };
        async move { ask(app, &price_request("same@example.com", 200)).await.unwrap() }
    });
    let made = join_all(same).await;
    assert_eq!(made.iter().filter(|made| matches!(made, Created::New(_))).count(), 1);
    assert_eq!(app.mailed("same@example.com").await.len(), 1);
    other.service.stop().await;
}

async fn total_guest_links_are_limited_to_a_thousand_a_day(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    let asking = (0..1_000).map(|number| {
        let app = &app;
        async move { ask(app, &price_request(&format!("guest{number}@example.com"), 200)).await }
    });
    assert!(join_all(asking).await.iter().all(Result::is_ok));
    assert_eq!(
        kind(&ask(&app, &price_request(GUEST, 200)).await.unwrap_err()),
        "too many"
    );
    app.clock.advance(ONE_DAY);
    make(&app, &price_request(GUEST, 200)).await;
}

async fn response_does_not_reveal_accounts_or_other_alerts(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    // An account with an equal alert; a guest with one; an account with an attached alert; an unknown address.
    let ann = app.ann(Plan::Basic).await;
    app.create(&ann, above("AAPL", 200.0)).await;
    verified(&app, "known@example.com", 200).await;
    let bob = app.bob(Plan::Basic).await;
    let taken_over = verified(&app, &bob.email, 200).await;
    let body = json!({"alert_id": taken_over.0});
    app.service.guest_alerts.attach_guest_alert(&bob, &body).await.unwrap();
    app.service.account_settings.deactivate_account(&bob).await.unwrap();
    let mut seen = Vec::new();
    for email in [&ann.email, "known@example.com", &bob.email, "nobody@example.com"] {
        let before = app
            .mailed(email)
            .await
            .iter()
            .filter(|email| is_verification_email(email))
            .count();
        let mut made = make(&app, &price_request(email, 200)).await;
        let after = app
            .mailed(email)
            .await
            .iter()
            .filter(|email| is_verification_email(email))
            .count();
        assert_eq!(after - before, 1, "{email}");
        made.stored.owner = AlertOwner::Guest { email: String::new() };
        made.stored.alert.id = alerts::AlertId(uuid::Uuid::nil());
        seen.push(made);
    }
    assert!(seen.iter().all(|made| *made == seen[0]), "{seen:?}");
}

async fn unverified_alert_never_fires(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    let id = make(&app, &price_request(GUEST, 200)).await.stored.alert.id;
    app.quote("AAPL", 250.0).await;
    app.service.evaluate().await.unwrap();
    let app = app.restarted().await;
    app.quote("AAPL", 260.0).await;
    assert_eq!(app.service.compare().await.unwrap(), 0);
    app.service.evaluate().await.unwrap();
    assert_eq!(app.alert_now(id).await.status, Status::Inactive);
    let emails = app.mailed(GUEST).await;
    assert!(emails.len() == 1 && is_verification_email(&emails[0]), "{emails:?}");
}
