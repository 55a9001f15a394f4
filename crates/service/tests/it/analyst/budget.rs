//! The budget of model calls, at its limits.

use alerts::Plan;
use testkit::stub_server::StubResponse;
use watchlist::analyst::{CallBudget, Intention};

use crate::analyst::fixture::{Fixture, chat_completion, valid_answer};
use crate::support::{at, symbol};

#[test]
fn call_beyond_the_daily_budget_is_not_made() {
    testkit::run(async {
        let fixture = Fixture::with(chat_completion(&valid_answer()), |model| {
            model.budget = CallBudget {
                total: 2,
                per_account: 9,
            };
        })
        .await;
        for _ in 0..2 {
            Fixture::assert_model(&fixture.advise().await);
        }
        Fixture::assert_rules(&fixture.advise().await, "budget");
        assert_eq!(fixture.endpoint.pending_requests().await, 2, "it was not asked");
        fixture.app.clock.set(at("2024-03-08T23:59:59.999Z"));
        Fixture::assert_rules(&fixture.advise().await, "budget");
        fixture.app.clock.set(at("2024-03-09T00:00:00Z"));
        Fixture::assert_model(&fixture.advise().await);
    });
}

#[test]
fn failed_call_counts_against_the_budget() {
    testkit::run(async {
        let refuses = StubResponse::complete("500 Internal Server Error", "", "");
        let fixture = Fixture::with(refuses, |model| {
            model.budget = CallBudget {
                total: 1,
                per_account: 1,
            }
        })
        .await;
        Fixture::assert_rules(&fixture.advise().await, "http_error");
        Fixture::assert_rules(&fixture.advise().await, "budget");
    });
}

#[test]
fn account_budget_leaves_calls_for_others() {
    testkit::run(async {
        let fixture = Fixture::with(chat_completion(&valid_answer()), |model| {
            model.budget = CallBudget {
                total: 9,
                per_account: 1,
            };
        })
        .await;
        Fixture::assert_model(&fixture.advise().await);
        Fixture::assert_rules(&fixture.advise().await, "share");
        let bob = fixture.app.bob(Plan::Premium).await;
        let service = &fixture.app.service;
        let request = service
            .analysis
            .request_for(&bob, symbol("ACME"), Intention::Buy, None)
            .await
            .unwrap();
        Fixture::assert_model(&fixture.advise_on(request).await);
    });
}

#[test]
fn model_is_not_asked_without_alert_quota() {
    testkit::run(async {
        let fixture = Fixture::new(chat_completion(&valid_answer())).await;
        let mut request = fixture.request().await;
        request.plan = Plan::Basic;
        request.active_alerts = 20;
        let advised = fixture.advise_on(request).await;
        assert_eq!(advised.fallback.map(|why| why.name()), Some("no_room"));
        assert_eq!(fixture.endpoint.pending_requests().await, 0);
    });
}
