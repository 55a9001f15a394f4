//! Feedback and likes.

use alerts::Plan;
use foundation::Actor;
use jiff::SignedDuration;
use serde_json::{Value, json};
use service::feedback::{FeedbackCategory, FeedbackId, FeedbackWithLike};
use store::model::PageRequest;

use crate::support::{ALL, TestApp, kind, on_each_database};

on_each_database! {
    feedback_is_sorted_by_likes
    each_account_likes_at_most_once
    invalid_feedback_is_rejected_and_not_stored
    text_is_stored_verbatim
    account_can_create_twenty_entries_a_day
}

async fn give(app: &TestApp, actor: &Actor, title: &str) -> FeedbackWithLike {
    let body = json!({"title": title, "body": "more of it"});
    app.service.feedback.create_feedback(actor, &body).await.unwrap()
}

async fn like(app: &TestApp, actor: &Actor, id: FeedbackId, liked: bool) -> u64 {
    let body = json!({"id": id.0, "liked": liked});
    let seen = app.service.feedback.like_feedback(actor, &body).await.unwrap();
    assert_eq!(seen.is_liked, liked);
    seen.feedback.likes
}

async fn feedback_is_sorted_by_likes(app: TestApp) {
    let (ann, bob) = (app.ann(Plan::Basic).await, app.bob(Plan::Basic).await);
    let mut ids = Vec::new();
    for title in ["first", "second", "third"] {
        ids.push(give(&app, &ann, title).await.feedback.id);
    }
    like(&app, &ann, ids[0], true).await;
    like(&app, &bob, ids[0], true).await;
    like(&app, &bob, ids[1], true).await;
    let titles = async |actor: &Actor, page| {
        let page = app.service.feedback.feedback(actor, page).await.unwrap();
        assert_eq!(page.total, 3);
        let items = page.items.into_iter();
        items
            .map(|seen| (seen.feedback.title, seen.is_liked))
            .collect::<Vec<_>>()
    };
    let titled = |title: &str, is_liked| (title.to_owned(), is_liked);
    let of_ann = [titled("first", true), titled("second", false), titled("third", false)];
    assert_eq!(titles(&ann, ALL).await, of_ann);
    let second = PageRequest { page: 2, limit: 1 };
    assert_eq!(titles(&bob, second).await, [titled("second", true)]);
    // The newest of equals comes first.
    like(&app, &bob, ids[1], false).await;
    assert_eq!(titles(&bob, second).await, [titled("third", false)]);
}

async fn each_account_likes_at_most_once(app: TestApp) {
    let (ann, bob) = (app.ann(Plan::Basic).await, app.bob(Plan::Basic).await);
    let id = give(&app, &ann, "a").await.feedback.id;
    let likes = (0..50).map(|n| like(&app, if n % 2 == 0 { &ann } else { &bob }, id, true));
    futures_util::future::join_all(likes).await;
    assert_eq!(like(&app, &ann, id, true).await, 2);
    let dislikes = (0..50).map(|_| like(&app, &ann, id, false));
    futures_util::future::join_all(dislikes).await;
    assert_eq!(like(&app, &ann, id, false).await, 1);
    let unknown = json!({"id": "11111111-1111-4111-8111-111111111111"});
    let refused = app.service.feedback.like_feedback(&ann, &unknown).await.unwrap_err();
    assert_eq!(kind(&refused), "no feedback");
}

async fn invalid_feedback_is_rejected_and_not_stored(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    for (body, faults) in [
        (json!({}), "invalid body title"),
        (json!({"title": " ", "body": ""}), "invalid body title"),
        (
            json!({"title": "a".repeat(121), "body": "a".repeat(4001)}),
            "invalid body title",
        ),
        (json!({"title": "a\nb", "body": "a\u{0}"}), "invalid body title"),
        (json!({"title": 5, "body": ["a"]}), "invalid body title"),
        (json!({"title": "a", "body": "bell \u{7}"}), "invalid body"),
        (
            json!({"title": "a", "body": "b", "category": "praise"}),
            "invalid category",
        ),
        (json!("title"), "malformed"),
    ] {
        let body: Value = body;
        let refused = app.service.feedback.create_feedback(&ann, &body).await.unwrap_err();
        assert_eq!(kind(&refused), faults, "{body}");
    }
    for body in [
        json!({}),
        json!({"id": "nonsense"}),
        json!({"id": 5}),
        json!({"id": null}),
    ] {
        let body: Value = body;
        let refused = app.service.feedback.like_feedback(&ann, &body).await.unwrap_err();
        assert_eq!(kind(&refused), "invalid id", "{body}");
    }
    assert_eq!(app.service.feedback.feedback(&ann, ALL).await.unwrap().total, 0);
}

async fn text_is_stored_verbatim(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    let title = "<script>alert('1')</script> %s {{7*7}} ${x} '; DROP TABLE feedback; -- \u{1f600}";
    let longest = "ä".repeat(4000);
    for text in ["*bold* <!channel> & \"quoted\"\n\tand\u{202e} more", longest.as_str()] {
        let body = json!({"title": title, "body": text, "category": "bug"});
        app.service.feedback.create_feedback(&ann, &body).await.unwrap();
        let page = app.service.feedback.feedback(&ann, ALL).await.unwrap();
        let newest = &page.items[0].feedback;
        assert_eq!((newest.title.as_str(), newest.body.as_str()), (title, text));
        assert_eq!(newest.category, FeedbackCategory::Bug);
    }
    let body = json!({"title": " a ", "body": "one\r\ntwo\r\n"});
    let given = app
        .service
        .feedback
        .create_feedback(&ann, &body)
        .await
        .unwrap()
        .feedback;
    assert_eq!((given.title.as_str(), given.body.as_str()), ("a", "one\ntwo"));
    assert_eq!(given.category, FeedbackCategory::Other);
}

async fn account_can_create_twenty_entries_a_day(app: TestApp) {
    let (ann, bob) = (app.ann(Plan::Basic).await, app.bob(Plan::Basic).await);
    let bodies: Vec<Value> = (0..50).map(|n| json!({"title": format!("{n}"), "body": "b"})).collect();
    let giving = bodies
        .iter()
        .map(|body| app.service.feedback.create_feedback(&ann, body));
    let answers = futures_util::future::join_all(giving).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 20);
    let refused = answers.iter().filter_map(|answer| answer.as_ref().err());
    assert!(refused.into_iter().all(|error| kind(error) == "too many"));
    give(&app, &bob, "a").await;
    app.clock
        .advance(SignedDuration::from_hours(24) - SignedDuration::from_micros(1));
    let body = json!({"title": "a", "body": "b"});
    assert_eq!(
        kind(&app.service.feedback.create_feedback(&ann, &body).await.unwrap_err()),
        "too many"
    );
    app.clock.advance(SignedDuration::from_micros(1));
    app.service.feedback.create_feedback(&ann, &body).await.unwrap();
}
