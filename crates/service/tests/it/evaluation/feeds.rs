//! Alerts on data that no source has delivered report it, also after a restart.

use alerts::engine::{EvaluationIssue, EvaluationStatus, Feed};
use alerts::{AlertId, Plan};
use foundation::Actor;
use serde_json::{Value, json};

use crate::support::{TestApp, on_each_database};

on_each_database! {
    alerts_are_blind_until_their_data_is_delivered
    delivered_feeds_are_known_after_a_restart
    buzz_alert_on_a_stock_without_mentions_stays_blind_after_a_restart
    blind_reason_names_the_missing_data
}

fn insiders() -> Value {
    json!({"symbol": "AAPL", "condition": "insider_transactions", "threshold": 1_000_000})
}

fn earnings() -> Value {
    json!({"symbol": "AAPL", "condition": "earnings_announcement", "threshold": 3})
}

fn buzz(symbol: &str) -> Value {
    json!({"symbol": symbol, "condition": "social_buzz", "parameters": {"direction": "rising"}})
}

async fn created(app: &TestApp, ann: &Actor, body: Value) -> AlertId {
    app.create(ann, body).await.stored.alert.id
}

async fn state(app: &TestApp, ann: &Actor, id: AlertId) -> EvaluationStatus {
    app.service
        .alerts
        .alert(ann, id)
        .await
        .unwrap()
        .evaluation
        .unwrap()
        .state
}

/// Delivers a small insider trade of MSFT, MSFT's earnings date and a count of mentions of GME.
async fn deliver_of_others(app: &TestApp) {
    let trade = json!({"symbol": "MSFT", "filed_on": "2024-03-07", "insider": "Jane Doe", "code": "P", "side": "buy",
                       "shares": 1, "price": 1});
    let mention = json!({"symbol": "GME", "time": "2024-03-08T14:00:00Z", "mentions": 3});
    let date = json!({"symbol": "MSFT", "date": "2024-04-25"});
    app.deliver(json!({"insider_transactions": [trade], "mentions": [mention], "earnings": [date]}))
        .await;
}

async fn alerts_are_blind_until_their_data_is_delivered(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 190.0).await;
    let insiders = created(&app, &ann, insiders()).await;
    let earnings = created(&app, &ann, earnings()).await;
    let buzz = created(&app, &ann, buzz("AAPL")).await;
    for (id, feed) in [
        (insiders, Feed::Insiders),
        (earnings, Feed::Earnings),
        (buzz, Feed::Mentions),
    ] {
        let blind = EvaluationStatus::Blind(EvaluationIssue::NeverDelivered(feed));
        assert_eq!(state(&app, &ann, id).await, blind);
    }
    deliver_of_others(&app).await;
    assert_eq!(state(&app, &ann, insiders).await, EvaluationStatus::Ok);
    assert_eq!(
        state(&app, &ann, earnings).await,
        EvaluationStatus::Waiting(EvaluationIssue::NoDateKnown)
    );
    assert_eq!(
        state(&app, &ann, buzz).await,
        EvaluationStatus::Blind(EvaluationIssue::NeverDelivered(Feed::Mentions)),
        "only mentions of another stock were delivered"
    );
}

async fn delivered_feeds_are_known_after_a_restart(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 190.0).await;
    let insiders = created(&app, &ann, insiders()).await;
    let earnings = created(&app, &ann, earnings()).await;
    deliver_of_others(&app).await;
    let app = app.restarted().await;
    assert_eq!(state(&app, &ann, insiders).await, EvaluationStatus::Ok);
    assert_eq!(
        state(&app, &ann, earnings).await,
        EvaluationStatus::Waiting(EvaluationIssue::NoDateKnown)
    );
}

async fn buzz_alert_on_a_stock_without_mentions_stays_blind_after_a_restart(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 190.0).await;
    deliver_of_others(&app).await;
    let without = created(&app, &ann, buzz("AAPL")).await;
    let with = created(&app, &ann, buzz("GME")).await;
    let app = app.restarted().await;
    assert_eq!(
        state(&app, &ann, without).await,
        EvaluationStatus::Blind(EvaluationIssue::NeverDelivered(Feed::Mentions))
    );
    assert_eq!(
        state(&app, &ann, with).await,
        EvaluationStatus::Waiting(EvaluationIssue::TooFewMentions)
    );
}

async fn blind_reason_names_the_missing_data(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 190.0).await;
    let id = created(&app, &ann, insiders()).await;
    let evaluation = app.service.alerts.alert(&ann, id).await.unwrap().evaluation.unwrap();
    let EvaluationStatus::Blind(reason) = evaluation.state else {
        panic!("{evaluation:?}");
    };
    assert_eq!(reason.to_string(), "no source has delivered insider trades yet");
}
