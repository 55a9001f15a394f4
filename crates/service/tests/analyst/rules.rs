//! Without a model: the rules, on each database.

use alerts::Plan;
use serde_json::json;
use service::analyst::{Author, Intention};

use crate::stage::{assert_usable, stock};
use crate::support::{World, above, kind, on_each_database, symbol};

on_each_database! {
    the_rules_propose_alerts_that_can_be_created_and_do_not_fire_at_once
    a_stock_that_is_not_known_or_has_no_price_is_refused
    a_plan_without_room_gets_figures_and_no_alerts
}

async fn the_rules_propose_alerts_that_can_be_created_and_do_not_fire_at_once(world: World) {
    stock(&world, "Acme").await;
    let (ann, bob) = (world.ann(Plan::Premium).await, world.bob(Plan::Premium).await);
    for (intention, who) in [(Intention::Buy, ann), (Intention::Sell, bob)] {
        let target = "90".parse().ok();
        let wish = world
            .service
            .analysis
            .wish_of(&who, symbol("ACME"), intention, target)
            .await
            .unwrap();
        let advised = world
            .service
            .analysis
            .advise(wish, std::future::pending())
            .await
            .unwrap();
        assert_eq!((&advised.author, &advised.fell_back), (&Author::Rules, &None));
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
        assert_usable(&world, &who, &advised).await;
    }
}

async fn a_stock_that_is_not_known_or_has_no_price_is_refused(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world
        .deliver(json!({"stocks": [{"symbol": "NEWCO", "name": "New & Co"}]}))
        .await;
    for (stock, refusal) in [("NOSUCH", "no stock"), ("NEWCO", "unavailable")] {
        let wish = world
            .service
            .analysis
            .wish_of(&ann, symbol(stock), Intention::Buy, None)
            .await
            .unwrap();
        let refused = world.service.analysis.look_at(wish).await.unwrap_err();
        assert_eq!(kind(&refused), refusal);
    }
    // A price is enough; what it goes by then is assumed, and says so.
    world.quote("NEWCO", 20.0).await;
    let wish = world
        .service
        .analysis
        .wish_of(&ann, symbol("NEWCO"), Intention::Buy, None)
        .await
        .unwrap();
    let look = world.service.analysis.look_at(wish).await.unwrap();
    assert_eq!(look.analysis().sessions, 0);
    let advised = world.service.analysis.advise_on(look, std::future::pending()).await;
    assert!(advised.advice.proposals.len() >= 2);
}

async fn a_plan_without_room_gets_figures_and_no_alerts(world: World) {
    stock(&world, "Acme").await;
    let ann = world.ann(Plan::Basic).await;
    for threshold in 0..20 {
        world.create(&ann, above("ACME", 200.0 + f64::from(threshold))).await;
    }
    let wish = world
        .service
        .analysis
        .wish_of(&ann, symbol("ACME"), Intention::Sell, None)
        .await
        .unwrap();
    assert_eq!(wish.active_alerts, 20);
    let advised = world
        .service
        .analysis
        .advise(wish, std::future::pending())
        .await
        .unwrap();
    assert_eq!(advised.advice.proposals, []);
    assert!(advised.advice.analysis.rsi.is_some());
}
