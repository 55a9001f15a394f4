//! The rules without a model, on each database.

use alerts::Plan;
use serde_json::json;
use watchlist::analyst::{Author, Intention};

use crate::analyst::fixture::{assert_creatable, stock};
use crate::support::{TestApp, above, kind, on_each_database, symbol};

on_each_database! {
    rules_propose_alerts_that_can_be_created_and_do_not_fire_at_once
    unknown_stock_or_stock_without_a_price_is_refused
    account_without_alert_quota_gets_figures_and_no_alerts
}

async fn rules_propose_alerts_that_can_be_created_and_do_not_fire_at_once(app: TestApp) {
    stock(&app, "Acme").await;
    let (ann, bob) = (app.ann(Plan::Premium).await, app.bob(Plan::Premium).await);
    for (intention, who) in [(Intention::Buy, ann), (Intention::Sell, bob)] {
        let target = "90".parse().ok();
        let request = app
            .service
            .analysis
            .request_for(&who, symbol("ACME"), intention, target)
            .await
            .unwrap();
        let advised = app
            .service
            .analysis
            .advise(request, std::future::pending())
            .await
            .unwrap();
        assert_eq!((&advised.author, &advised.fallback), (&Author::Rules, &None));
        assert_eq!(advised.price, "105".parse().unwrap());
        assert!(advised.advice.summary.contains("ACME"), "{}", advised.advice.summary);
        let analysis = &advised.advice.analysis;
        assert!(analysis.sessions > 240, "{}", analysis.sessions);
        assert_eq!(analysis.levels.supports[0].price.as_f64().round(), 100.0);
        assert_eq!(analysis.events.ex_dividend.unwrap().days, 10);
        assert!((2..=5).contains(&advised.advice.proposals.len()));
        let has_target = advised
            .advice
            .proposals
            .iter()
            .any(|one| one.role.name() == "own_target");
        assert_eq!(
            has_target,
            intention == Intention::Buy,
            "it is still to come for a buyer only"
        );
        assert_creatable(&app, &who, &advised).await;
    }
}

async fn unknown_stock_or_stock_without_a_price_is_refused(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.deliver(json!({"stocks": [{"symbol": "NEWCO", "name": "New & Co"}]}))
        .await;
    for (stock, refusal) in [("NOSUCH", "no stock"), ("NEWCO", "unavailable")] {
        let request = app
            .service
            .analysis
            .request_for(&ann, symbol(stock), Intention::Buy, None)
            .await
            .unwrap();
        let refused = app.service.analysis.analyze_by_rules(request).await.unwrap_err();
        assert_eq!(kind(&refused), refusal);
    }
    // A price is enough. The other figures are assumed, and reported as such.
    app.quote("NEWCO", 20.0).await;
    let request = app
        .service
        .analysis
        .request_for(&ann, symbol("NEWCO"), Intention::Buy, None)
        .await
        .unwrap();
    let look = app.service.analysis.analyze_by_rules(request).await.unwrap();
    assert_eq!(look.analysis().sessions, 0);
    let advised = app.service.analysis.advise_on(look, std::future::pending()).await;
    assert!(advised.advice.proposals.len() >= 2);
}

async fn account_without_alert_quota_gets_figures_and_no_alerts(app: TestApp) {
    stock(&app, "Acme").await;
    let ann = app.ann(Plan::Basic).await;
    for threshold in 0..20 {
        app.create(&ann, above("ACME", 200.0 + f64::from(threshold))).await;
    }
    let request = app
        .service
        .analysis
        .request_for(&ann, symbol("ACME"), Intention::Sell, None)
        .await
        .unwrap();
    assert_eq!(request.active_alerts, 20);
    let advised = app
        .service
        .analysis
        .advise(request, std::future::pending())
        .await
        .unwrap();
    assert_eq!(advised.advice.proposals, []);
    assert!(advised.advice.analysis.rsi.is_some());
}
