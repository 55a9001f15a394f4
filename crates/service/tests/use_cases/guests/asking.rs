//! Asking for an alert without an account.

use alerts::{Plan, Status};
use futures_util::future::join_all;
use jiff::SignedDuration;
use serde_json::{Value, json};
use service::ServiceError;
use service::alerts::Created;
use store::model::AlertOwner;

use super::{GUEST, ask, asks, make, verified, wish};
use crate::support::{World, above, kind, on_each_database};

on_each_database! {
    a_guests_alert_is_inactive_and_its_address_is_mailed_a_link
    without_an_address_nobody_knows_who_asks
    guests_have_price_and_time_alerts_by_mail_and_nothing_else
    a_stock_has_to_be_known_and_a_percentage_needs_a_price
    an_address_that_is_more_than_one_is_refused_and_nothing_is_mailed
    an_address_is_the_same_in_any_case
    a_repeat_is_the_same_alert_and_is_mailed_again_after_a_while
    what_was_not_verified_in_time_is_asked_for_anew
    an_address_is_mailed_five_links_a_day
    fifty_requests_at_once_in_the_name_of_one_address_mail_five_links
    a_thousand_links_a_day_are_mailed_to_all_addresses_together
    asking_tells_nothing_of_accounts_nor_of_what_anybody_waits_for
    what_was_never_verified_never_fires
}

const DAY: SignedDuration = SignedDuration::from_hours(24);
const MICROSECOND: SignedDuration = SignedDuration::from_micros(1);

async fn a_guests_alert_is_inactive_and_its_address_is_mailed_a_link(world: World) {
    world.quote("AAPL", 189.20).await;
    let detail = make(&world, &wish(GUEST, 200)).await;
    assert_eq!(detail.stored.alert.status, Status::Inactive);
    assert_eq!(detail.evaluation, None);
    let email = GUEST.to_owned();
    assert_eq!(detail.stored.owner, AlertOwner::Guest { email });
    let letters = world.mailed(GUEST).await;
    assert_eq!(letters.len(), 1);
    let _ = super::token(&letters[0]);
    assert!(
        letters[0].text.contains("AAPL rises to 200.00 USD or above (once)"),
        "{}",
        letters[0].text
    );
}

async fn without_an_address_nobody_knows_who_asks(world: World) {
    world.quote("AAPL", 189.20).await;
    for body in [
        json!({}),
        above("AAPL", 200.0),
        json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200, "email": null}),
        json!({"condition": "nonsense"}),
    ] {
        assert_eq!(
            kind(&world.service.guest_alerts.guest_wish(&body).unwrap_err()),
            "unauthenticated",
            "{body}"
        );
    }
}

async fn guests_have_price_and_time_alerts_by_mail_and_nothing_else(world: World) {
    world.quote("AAPL", 189.20).await;
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
        let refused = world
            .service
            .guest_alerts
            .guest_wish(&guests(body.clone()))
            .unwrap_err();
        assert_eq!(kind(&refused), "forbidden plan premium", "{body}");
    }
    for body in [
        json!({"condition": "new_high"}),
        json!({"condition": "price_change_down", "threshold": 5}),
        json!({"condition": "daily_reminder"}),
        json!({"condition": "reminder", "parameters": {"date": "2024-03-11"}}),
    ] {
        make(&world, &guests(body)).await;
    }
}

async fn a_stock_has_to_be_known_and_a_percentage_needs_a_price(world: World) {
    world
        .deliver(json!({"stocks": [{"symbol": "NEWCO", "name": "New Co."}]}))
        .await;
    let mut body = wish(GUEST, 200);
    assert_eq!(
        kind(&world.service.guest_alerts.guest_wish(&body).unwrap_err()),
        "no stock"
    );
    body["symbol"] = json!("NEWCO");
    assert_eq!(make(&world, &body).await.stored.alert.initial_price, None);
    body["condition"] = json!("price_change_up");
    body["threshold"] = json!(5);
    assert_eq!(kind(&ask(&world, &body).await.unwrap_err()), "unavailable");
}

async fn an_address_that_is_more_than_one_is_refused_and_nothing_is_mailed(world: World) {
    world.quote("AAPL", 189.20).await;
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
        let refused = world.service.guest_alerts.guest_wish(&wish(email, 200)).unwrap_err();
        assert_eq!(kind(&refused), "invalid email", "{email:?}");
        assert!(!refused.to_string().contains("victim"));
    }
    for other in [json!(5), json!(["guest@example.com"]), json!({})] {
        let mut body = wish(GUEST, 200);
        body["email"] = other;
        assert_eq!(
            kind(&world.service.guest_alerts.guest_wish(&body).unwrap_err()),
            "invalid email"
        );
    }
    for to in [GUEST, "victim@example.com"] {
        assert_eq!(world.mailed(to).await, []);
    }
}

async fn an_address_is_the_same_in_any_case(world: World) {
    world.quote("AAPL", 189.20).await;
    let first = make(&world, &wish("  Guest@Example.COM ", 200)).await;
    let Created::Existing(second) = ask(&world, &wish(GUEST, 200)).await.unwrap() else {
        panic!("it is the same");
    };
    assert_eq!(second.stored, first.stored);
    assert_eq!(world.mailed(GUEST).await.len(), 1);
}

async fn a_repeat_is_the_same_alert_and_is_mailed_again_after_a_while(world: World) {
    world.quote("AAPL", 189.20).await;
    let first = make(&world, &wish(GUEST, 200)).await.stored;
    let repeat = async || match ask(&world, &wish(GUEST, 200)).await.unwrap() {
        Created::Existing(detail) => detail.stored,
        Created::New(detail) => panic!("{detail:?}"),
    };
    world.clock.advance(SignedDuration::from_mins(10) - MICROSECOND);
    assert_eq!(repeat().await, first);
    assert_eq!(world.mailed(GUEST).await.len(), 1);
    world.clock.advance(MICROSECOND);
    assert_eq!(repeat().await, first);
    let letters = world.mailed(GUEST).await;
    assert_eq!(letters.len(), 2);
    // Both are good for the one alert, and the second is of no use once the first was shown.
    let tokens: Vec<String> = letters.iter().map(super::token).collect();
    assert_eq!(super::verify(&world, &tokens[0]).await.unwrap().id, first.alert.id);
    assert_eq!(kind(&super::verify(&world, &tokens[1]).await.unwrap_err()), "malformed");
    // Repeats are links like any others: five a day.
    let other = make(&world, &wish(GUEST, 300)).await.stored;
    for _ in 0..6 {
        world.advance(10);
        let Created::Existing(found) = ask(&world, &wish(GUEST, 300)).await.unwrap() else {
            panic!("it is the same");
        };
        assert_eq!(found.stored, other);
    }
    assert_eq!(world.mailed(GUEST).await.len(), 5);
}

async fn what_was_not_verified_in_time_is_asked_for_anew(world: World) {
    world.quote("AAPL", 189.20).await;
    let first = make(&world, &wish(GUEST, 200)).await.stored.alert.id;
    world.clock.advance(DAY * 2 - MICROSECOND);
    assert!(matches!(
        ask(&world, &wish(GUEST, 200)).await.unwrap(),
        Created::Existing(_)
    ));
    world.clock.advance(MICROSECOND);
    let second = make(&world, &wish(GUEST, 200)).await.stored.alert.id;
    assert_ne!(first, second);
}

async fn an_address_is_mailed_five_links_a_day(world: World) {
    world.quote("AAPL", 189.20).await;
    for threshold in 0..5 {
        make(&world, &wish(GUEST, 200 + threshold)).await;
        world.advance(1);
    }
    let refused = ask(&world, &wish(GUEST, 300)).await.unwrap_err();
    let ServiceError::TooMany { retry_after_s, .. } = refused else {
        panic!("{refused}");
    };
    assert_eq!(retry_after_s, 24 * 3600 - 5 * 60 + 1);
    make(&world, &wish("other@example.com", 300)).await;
    world.clock.advance(DAY - SignedDuration::from_mins(5) - MICROSECOND);
    assert_eq!(kind(&ask(&world, &wish(GUEST, 300)).await.unwrap_err()), "too many");
    world.clock.advance(MICROSECOND);
    make(&world, &wish(GUEST, 300)).await;
    assert_eq!(kind(&ask(&world, &wish(GUEST, 301)).await.unwrap_err()), "too many");
    assert_eq!(world.mailed(GUEST).await.len(), 6);
}

async fn fifty_requests_at_once_in_the_name_of_one_address_mail_five_links(world: World) {
    world.quote("AAPL", 189.20).await;
    let other = world.another_process().await;
    let asking = (0..50).map(|threshold| {
        let world = if threshold % 2 == 0 { &world } else { &other };
        async move { ask(world, &wish(GUEST, 200 + threshold)).await }
    });
    let answers = join_all(asking).await;
    let refused = answers.iter().filter_map(|answer| answer.as_ref().err());
    assert_eq!(refused.map(kind).filter(|kind| kind == "too many").count(), 45);
    assert_eq!(world.mailed(GUEST).await.len(), 5);
    // Those who ask for the same get the same.
    let same = (0..50).map(|n| {
        let world = if n % 2 == 0 { &world } else { &other };
        async move { ask(world, &wish("same@example.com", 200)).await.unwrap() }
    });
    let made = join_all(same).await;
    assert_eq!(made.iter().filter(|made| matches!(made, Created::New(_))).count(), 1);
    assert_eq!(world.mailed("same@example.com").await.len(), 1);
    other.service.stop().await;
}

async fn a_thousand_links_a_day_are_mailed_to_all_addresses_together(world: World) {
    world.quote("AAPL", 189.20).await;
    let asking = (0..1_000).map(|number| {
        let world = &world;
        async move { ask(world, &wish(&format!("guest{number}@example.com"), 200)).await }
    });
    assert!(join_all(asking).await.iter().all(Result::is_ok));
    assert_eq!(kind(&ask(&world, &wish(GUEST, 200)).await.unwrap_err()), "too many");
    world.clock.advance(DAY);
    make(&world, &wish(GUEST, 200)).await;
}

async fn asking_tells_nothing_of_accounts_nor_of_what_anybody_waits_for(world: World) {
    world.quote("AAPL", 189.20).await;
    // An account that waits for the same; a guest who does; an account that took a guest's alert over; nobody.
    let ann = world.ann(Plan::Basic).await;
    world.create(&ann, above("AAPL", 200.0)).await;
    verified(&world, "known@example.com", 200).await;
    let bob = world.bob(Plan::Basic).await;
    let taken_over = verified(&world, &bob.email, 200).await;
    let body = json!({"alert_id": taken_over.0});
    world
        .service
        .guest_alerts
        .attach_guest_alert(&bob, &body)
        .await
        .unwrap();
    world.service.account_settings.deactivate_account(&bob).await.unwrap();
    let mut seen = Vec::new();
    for email in [&ann.email, "known@example.com", &bob.email, "nobody@example.com"] {
        let before = world.mailed(email).await.iter().filter(|letter| asks(letter)).count();
        let mut made = make(&world, &wish(email, 200)).await;
        let after = world.mailed(email).await.iter().filter(|letter| asks(letter)).count();
        assert_eq!(after - before, 1, "{email}");
        made.stored.owner = AlertOwner::Guest { email: String::new() };
        made.stored.alert.id = alerts::AlertId(uuid::Uuid::nil());
        seen.push(made);
    }
    assert!(seen.iter().all(|made| *made == seen[0]), "{seen:?}");
}

async fn what_was_never_verified_never_fires(world: World) {
    world.quote("AAPL", 189.20).await;
    let id = make(&world, &wish(GUEST, 200)).await.stored.alert.id;
    world.quote("AAPL", 250.0).await;
    world.service.evaluate().await.unwrap();
    let world = world.restarted().await;
    world.quote("AAPL", 260.0).await;
    assert_eq!(world.service.compare().await.unwrap(), 0);
    world.service.evaluate().await.unwrap();
    assert_eq!(world.alert_now(id).await.status, Status::Inactive);
    let letters = world.mailed(GUEST).await;
    assert!(letters.len() == 1 && asks(&letters[0]), "{letters:?}");
}
