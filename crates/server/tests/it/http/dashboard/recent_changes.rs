//! Recent changes of alerts, which can be undone from each page about alerts.

use jiff::SignedDuration;
use serde_json::json;

use super::undo::{Fixture, above};
use super::{Browser, hidden};
use crate::http::identity::{on_each_database, start_server};
use crate::http::test_server::TestServer;

on_each_database! {
    recent_changes_stay_on_each_page_about_alerts_for_ten_minutes
    recent_change_that_nothing_can_undo_any_more_is_not_offered
    later_change_is_not_that_of_a_request_that_changed_nothing
    end_of_a_snooze_is_a_recent_resumption
}

async fn recent_changes_stay_on_each_page_about_alerts_for_ten_minutes(server: TestServer) {
    let fixture = Fixture::new(server).await;
    let browser = Browser::operator(&fixture.server).await;
    let id = fixture.create(above(125)).await;
    let others = [fixture.create(above(130)).await, fixture.create(above(135)).await];
    let pause = [
        ("action", "pause"),
        ("alert", &others[0]),
        ("alert", &others[1]),
        ("next", "/alerts"),
    ];
    let _ = browser.post("/alerts/actions", &pause).await;
    // The later change is the first in the list.
    fixture.server.clock.advance(SignedDuration::from_secs(1));
    let undo = fixture.change(&browser, &id, "delete").await;
    for path in [
        "/",
        "/alerts",
        &format!("/alerts/{}", others[0]),
        "/stocks/AAPL",
        "/fired",
        "/watchlist",
    ] {
        let page = browser.get(path).await.is(200);
        for text in [
            "Recent changes",
            "1 alert deleted. AAPL rises to 125.00 or above",
            "2 alerts paused.",
            &undo,
        ] {
            assert!(page.text.contains(text), "{path}: {text}: {}", page.text);
        }
    }
    let page = fixture.undo(&browser, &hidden(&browser.get("/").await, "undo")).await;
    assert!(page.contains("1 alert is as it was before."), "{page}");
    assert!(!page.contains(&undo), "{page}");
    fixture
        .server
        .clock
        .advance(SignedDuration::from_mins(10) + SignedDuration::from_secs(1));
    let page = browser.get("/alerts").await.text;
    assert!(!page.contains("Recent changes"), "{page}");
}

async fn recent_change_that_nothing_can_undo_any_more_is_not_offered(server: TestServer) {
    let fixture = Fixture::new(server).await;
    let browser = Browser::operator(&fixture.server).await;
    let id = fixture.create(above(125)).await;
    let _ = fixture.change(&browser, &id, "snooze").await;
    let page = browser.get("/alerts").await.text;
    assert!(page.contains("1 alert snoozed."), "{page}");
    let _ = fixture
        .call("PATCH", &format!("/v1/alerts/{id}"), json!({"threshold": 140}))
        .await;
    let page = browser.get("/alerts").await.text;
    assert!(!page.contains("Recent changes"), "{page}");
}

async fn later_change_is_not_that_of_a_request_that_changed_nothing(server: TestServer) {
    let fixture = Fixture::new(server).await;
    let browser = Browser::operator(&fixture.server).await;
    let (active, paused) = (fixture.create(above(125)).await, fixture.create(above(130)).await);
    let _ = fixture.change(&browser, &paused, "pause").await;
    let form = [("action", "resume"), ("alert", active.as_str()), ("next", "/alerts")];
    let _ = browser.follow(&browser.post("/alerts/actions", &form).await).await;
    let both = [
        ("action", "pause"),
        ("alert", active.as_str()),
        ("alert", paused.as_str()),
        ("next", "/alerts"),
    ];
    let page = browser.follow(&browser.post("/alerts/actions", &both).await).await;
    let undo = hidden(&page, "undo");
    let _ = fixture.change(&browser, &paused, "resume").await;
    let page = browser.get("/alerts").await.is(200);
    assert!(!page.text.contains("2 alerts paused."), "{}", page.text);
    let _ = fixture.undo(&browser, &undo).await;
    assert_eq!(fixture.alert(&active).await["status"], "active");
    assert_eq!(
        fixture.alert(&paused).await["status"],
        "active",
        "it was not paused by that change"
    );
}

async fn end_of_a_snooze_is_a_recent_resumption(server: TestServer) {
    let fixture = Fixture::new(server).await;
    let browser = Browser::operator(&fixture.server).await;
    let id = fixture.create(above(125)).await;
    let _ = fixture.change(&browser, &id, "snooze").await;
    let _ = fixture.change(&browser, &id, "resume").await;
    let page = browser.get("/alerts").await.is(200);
    assert!(
        page.text.contains("1 alert resumed.") && !page.text.contains("1 alert snoozed."),
        "{}",
        page.text
    );
}
