//! How often the model is asked: on both sides of the edge.

use alerts::Plan;
use service::analyst::{Budget, Intention};
use testkit::stub_server::StubResponse;

use crate::stage::{Stage, good, says};
use crate::support::{at, symbol};

#[test]
fn the_last_call_of_the_day_is_made_and_the_one_after_it_is_not() {
    testkit::run(async {
        let stage = Stage::with(says(&good()), |model| {
            model.budget = Budget { in_all: 2, to_each: 9 };
        })
        .await;
        for _ in 0..2 {
            Stage::assert_model(&stage.advise().await);
        }
        Stage::assert_rules(&stage.advise().await, "budget");
        assert_eq!(stage.endpoint.pending_requests().await, 2, "it was not asked");
        stage.world.clock.set(at("2024-03-08T23:59:59.999Z"));
        Stage::assert_rules(&stage.advise().await, "budget");
        stage.world.clock.set(at("2024-03-09T00:00:00Z"));
        Stage::assert_model(&stage.advise().await);
    });
}

#[test]
fn a_call_that_came_to_nothing_counts() {
    testkit::run(async {
        let refuses = StubResponse::complete("500 Internal Server Error", "", "");
        let stage = Stage::with(refuses, |model| model.budget = Budget { in_all: 1, to_each: 1 }).await;
        Stage::assert_rules(&stage.advise().await, "http_error");
        Stage::assert_rules(&stage.advise().await, "budget");
    });
}

#[test]
fn one_account_leaves_some_for_the_others() {
    testkit::run(async {
        let stage = Stage::with(says(&good()), |model| {
            model.budget = Budget { in_all: 9, to_each: 1 };
        })
        .await;
        Stage::assert_model(&stage.advise().await);
        Stage::assert_rules(&stage.advise().await, "share");
        let bob = stage.world.bob(Plan::Premium).await;
        let service = &stage.world.service;
        let wish = service
            .analysis
            .wish_of(&bob, symbol("ACME"), Intention::Buy, None)
            .await
            .unwrap();
        Stage::assert_model(&stage.advise_on(wish).await);
    });
}

#[test]
fn of_a_plan_without_room_nothing_is_asked() {
    testkit::run(async {
        let stage = Stage::of(says(&good())).await;
        let mut wish = stage.wish().await;
        wish.plan = Plan::Basic;
        wish.active_alerts = 20;
        let advised = stage.advise_on(wish).await;
        assert_eq!(advised.fell_back.map(|why| why.name()), Some("no_room"));
        assert_eq!(stage.endpoint.pending_requests().await, 0);
    });
}
