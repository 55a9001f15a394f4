//! Reads of alerts: one, many, and their history.

use alerts::engine::{EvaluationIssue, EvaluationStatus};
use alerts::{Plan, Status};
use foundation::Actor;
use market::{Decimal, Price};
use serde_json::json;
use service::alerts::AlertItem;
use store::model::{AlertFilter, AlertSort, AlertSortField, PageRequest};

use crate::support::{ALL, OPEN, TestApp, above, at, on_each_database, symbol};

on_each_database! {
    single_read_has_the_evaluation_state
    list_has_own_alerts_page_by_page
    list_is_filtered_and_sorted
    extended_list_has_distances
    history_is_newest_first_page_by_page
}

const BY_CREATION: AlertSort = AlertSort {
    field: AlertSortField::CreatedAt,
    ascending: false,
};

async fn list(app: &TestApp, actor: &Actor, filter: AlertFilter, sort: AlertSort) -> Vec<AlertItem> {
    let page = app
        .service
        .alerts
        .alerts(actor, &filter, sort, ALL, false)
        .await
        .unwrap();
    assert_eq!(page.total, u64::try_from(page.items.len()).unwrap());
    page.items
}

/// Returns the thresholds of alerts in their order.
fn thresholds(items: &[AlertItem]) -> Vec<String> {
    let threshold = |item: &AlertItem| {
        item.stored
            .alert
            .condition
            .threshold()
            .map(|threshold| threshold.to_string())
    };
    items
        .iter()
        .map(|item| threshold(item).unwrap_or_else(|| "-".to_owned()))
        .collect()
}

async fn single_read_has_the_evaluation_state(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 189.20).await;
    let judged = app.create(&ann, above("AAPL", 200.0)).await;
    assert_eq!(
        judged.evaluation.map(|evaluation| evaluation.state),
        Some(EvaluationStatus::Ok)
    );
    let rsi = json!({"symbol": "AAPL", "condition": "rsi_limit", "threshold": 70});
    let evaluation = app.create(&ann, rsi).await.evaluation.unwrap();
    let missing = EvaluationIssue::TooLittleHistory { have: 0, need: 14 };
    assert_eq!(
        (evaluation.state, evaluation.since),
        (EvaluationStatus::Waiting(missing), at(OPEN))
    );
    let pe = json!({"symbol": "AAPL", "condition": "pe_ratio_above", "threshold": 30});
    let evaluation = app.create(&ann, pe).await.evaluation.unwrap();
    assert_eq!(
        evaluation.state,
        EvaluationStatus::Blind(EvaluationIssue::NoEarningsPerShare)
    );
    app.quote("AAPL", 200.0).await;
    let fired = app.service.alerts.alert(&ann, judged.stored.alert.id).await.unwrap();
    assert_eq!((fired.stored.alert.status, fired.evaluation), (Status::Triggered, None));
    assert_eq!(fired.stored.alert.triggered_at, Some(at(OPEN)));
}

async fn list_has_own_alerts_page_by_page(app: TestApp) {
    let (ann, bob) = (app.ann(Plan::Basic).await, app.bob(Plan::Basic).await);
    app.deliver(json!({"stocks": [{"symbol": "AAPL", "name": "Apple Inc."}]}))
        .await;
    app.quote("AAPL", 189.20).await;
    for n in 0..5 {
        app.create(&ann, above("AAPL", 200.0 + f64::from(n))).await;
        app.advance(1);
    }
    app.create(&bob, above("AAPL", 300.0)).await;
    let page = async |page| {
        let request = PageRequest { page, limit: 2 };
        let filter = AlertFilter::default();
        app.service
            .alerts
            .alerts(&ann, &filter, BY_CREATION, request, false)
            .await
            .unwrap()
    };
    let first = page(1).await;
    assert_eq!(
        (first.total, thresholds(&first.items)),
        (5, vec!["204".to_owned(), "203".to_owned()])
    );
    assert_eq!(first.items[0].stock_name, "Apple Inc.");
    assert_eq!(first.items[0].last_price.map(Price::micros), Some(189_200_000));
    assert_eq!(first.items[0].extended, None);
    let last = page(3).await;
    assert_eq!((last.total, thresholds(&last.items)), (5, vec!["200".to_owned()]));
    assert_eq!(page(4).await.items, []);
}

async fn list_is_filtered_and_sorted(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    let stocks = json!({"stocks": [{"symbol": "AAPL", "name": "Apple Inc."}, {"symbol": "MSFT", "name": "Microsoft"}]});
    app.deliver(stocks).await;
    app.quote("AAPL", 189.20).await;
    app.quote("MSFT", 400.0).await;
    app.create(&ann, above("MSFT", 500.0)).await;
    let paused = app.create(&ann, above("AAPL", 210.0)).await.stored.alert.id;
    app.create(&ann, above("AAPL", 200.0)).await;
    app.create(&ann, json!({"symbol": "AAPL", "condition": "new_high"}))
        .await;
    app.service.alerts.pause_alert(&ann, paused).await.unwrap();
    let filtered = async |filter| thresholds(&list(&app, &ann, filter, BY_THRESHOLD).await);
    let none = AlertFilter::default;
    let status = Some(Status::Paused);
    assert_eq!(filtered(AlertFilter { status, ..none() }).await, ["210"]);
    let condition = Some(alerts::ConditionKind::NewHigh);
    assert_eq!(filtered(AlertFilter { condition, ..none() }).await, ["-"]);
    let of_microsoft = Some(symbol("MSFT"));
    assert_eq!(
        filtered(AlertFilter {
            symbol: of_microsoft,
            ..none()
        })
        .await,
        ["500"]
    );
    let search = Some("apple".to_owned());
    assert_eq!(filtered(AlertFilter { search, ..none() }).await, ["200", "210", "-"]);
    assert_eq!(filtered(none()).await, ["200", "210", "500", "-"]);
}

const BY_THRESHOLD: AlertSort = AlertSort {
    field: AlertSortField::Threshold,
    ascending: true,
};

async fn extended_list_has_distances(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 200.0).await;
    app.create(&ann, above("AAPL", 210.0)).await;
    let paused = app.create(&ann, above("AAPL", 190.0)).await.stored.alert.id;
    app.service.alerts.pause_alert(&ann, paused).await.unwrap();
    let reminder = json!({"symbol": "AAPL", "condition": "daily_reminder"});
    app.create(&ann, reminder).await;
    let filter = AlertFilter::default();
    let page = app
        .service
        .alerts
        .alerts(&ann, &filter, BY_THRESHOLD, ALL, true)
        .await
        .unwrap();
    let shown: Vec<_> = page.items.iter().map(|item| item.extended.clone().unwrap()).collect();
    let distances: Vec<_> = shown
        .iter()
        .map(|judged| judged.distance_pct.map(Decimal::micros))
        .collect();
    assert_eq!(distances, [Some(0), Some(5_000_000), None]);
    let metrics: Vec<_> = shown.iter().map(|judged| judged.metric.map(Decimal::micros)).collect();
    assert_eq!(metrics, [Some(200_000_000), Some(200_000_000), None]);
    let judged: Vec<_> = shown.iter().map(|judged| judged.evaluation.is_some()).collect();
    assert_eq!(judged, [false, true, true]);
    assert!(shown.iter().all(|judged| judged.last_evaluated_at == Some(at(OPEN))));
    assert_eq!(shown[0].stock, app.service.stocks.stock(symbol("AAPL")).await.unwrap());
}

async fn history_is_newest_first_page_by_page(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 189.20).await;
    let id = app.create(&ann, above("AAPL", 200.0)).await.stored.alert.id;
    app.advance(1);
    app.quote("AAPL", 201.5).await;
    let row = app.history(&ann, id).await.pop().unwrap();
    assert_eq!(row.entry.action.name(), "triggered");
    assert_eq!(row.price.map(Price::micros), Some(201_500_000));
    assert_eq!((row.at, row.symbol), (at("2024-03-08T15:01:00Z"), symbol("AAPL")));
    assert!(row.details.is_some(), "a firing says why");
    // This alert sends no notification, so the history has no other entries.
    let id = app.create(&ann, above("AAPL", 300.0)).await.stored.alert.id;
    app.service.alerts.pause_alert(&ann, id).await.unwrap();
    for (number, action) in [(1, "paused"), (2, "created")] {
        let request = PageRequest { page: number, limit: 1 };
        let page = app.service.alerts.alert_history(&ann, id, request).await.unwrap();
        assert_eq!((page.total, page.items.len()), (2, 1));
        assert_eq!(page.items[0].entry.action.name(), action);
    }
}
