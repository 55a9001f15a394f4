//! Limits: what goes beyond them is not sent, and the history says why. Each number on both sides of its edge.

use alerts::Plan;
use jiff::SignedDuration;
use serde_json::json;
use service::messages::Budget;
use service::{Actor, Settings};
use testkit::Database;

use crate::post::times;
use crate::support::{PASSWORD, World, at, settings};

/// Nobody is in anybody's way.
const PLENTY: Budget = Budget {
    in_all: 1_000,
    letters: 1_000,
    letters_to_each: 1_000,
    alerts_to_each: 1_000,
};

const NUMBER: &str = "+14155550123";

async fn on_each(budget: Budget, test: impl AsyncFn(World)) {
    for database in testkit::fresh_databases().await {
        test(with(database, budget).await).await;
    }
}

async fn with(database: Database, budget: Budget) -> World {
    let mut settings: Settings = settings();
    settings.messages.email.budget = budget;
    settings.messages.sms.budget = budget;
    World::with(database, settings).await
}

/// What is sent is sent, the rest is refused so.
fn sent_and(sent: usize, refused: usize, why: &str) -> Vec<String> {
    [times(refused, why), times(sent, "sent")].concat()
}

async fn used(world: &World, actor: &Actor) -> u64 {
    world.service.subscription(actor).await.unwrap().sms_sent
}

#[test]
fn a_plan_has_fifty_text_messages_a_month_and_no_more_whoever_sends_them() {
    testkit::run(on_each(PLENTY, async |world| {
        let ann = world.ann(Plan::Premium).await;
        world.verify_phone(&ann, NUMBER).await;
        // Two processes have the last places to give.
        let other = world.another_process().await;
        let alerts = world.fire(&ann, "sms", 53).await;
        assert_eq!(world.outcomes(&ann, &alerts).await, sent_and(50, 3, "over_quota"));
        assert_eq!(used(&world, &ann).await, 50);
        // The code is none of them.
        assert_eq!(world.outbox(NUMBER).await.len(), 51);
        other.service.stop().await;

        world.clock.set(at("2024-03-31T23:59:00Z"));
        assert_eq!(used(&world, &ann).await, 50);
        world.clock.set(at("2024-04-01T14:00:00Z"));
        let next = world.fire(&ann, "sms", 1).await;
        assert_eq!(world.outcomes(&ann, &next).await, times(1, "sent"));
        assert_eq!(used(&world, &ann).await, 1);
    }));
}

#[test]
fn an_address_gets_so_much_news_a_day() {
    let budget = Budget {
        alerts_to_each: 3,
        ..PLENTY
    };
    testkit::run(on_each(budget, async |world| {
        let (ann, bob) = (world.ann(Plan::Premium).await, world.bob(Plan::Premium).await);
        let alerts = world.fire(&ann, "email", 5).await;
        assert_eq!(
            world.outcomes(&ann, &alerts).await,
            ["over_limit", "over_limit", "sent", "sent", "sent"]
        );
        // Others, and letters, are not concerned; the next day is another one.
        let bobs = world.fire(&bob, "email", 1).await;
        assert_eq!(world.outcomes(&bob, &bobs).await, times(1, "sent"));
        world.clock.set(at("2024-03-09T00:00:00Z"));
        world.clock.set(at("2024-03-11T14:00:00Z"));
        let next = world.fire(&ann, "email", 1).await;
        assert_eq!(world.outcomes(&ann, &next).await, times(1, "sent"));
    }));
}

#[test]
fn an_address_gets_so_many_letters_a_day_however_it_is_written() {
    let budget = Budget {
        letters_to_each: 2,
        ..PLENTY
    };
    testkit::run(on_each(budget, async |world| {
        for email in [
            "mallory@example.com",
            "Mallory@Example.com",
            "MALLORY@example.com",
            "mallory@EXAMPLE.com",
        ] {
            let body = json!({"email": email, "password": PASSWORD});
            world.service.register(&body).await.unwrap();
        }
        // Whoever is mailed after her shows that her letters are done with.
        let body = json!({"email": "trent@example.com", "password": PASSWORD});
        world.service.register(&body).await.unwrap();
        world.mailed("trent@example.com", 1).await;
        world.nothing_waits().await;
        assert_eq!(world.outbox("mallory@example.com").await.len(), 2);
        // News of her alerts is another matter.
        let ann = world.ann(Plan::Basic).await;
        let alerts = world.fire(&ann, "email", 3).await;
        assert_eq!(world.outcomes(&ann, &alerts).await, times(3, "sent"));
    }));
}

#[test]
fn a_number_gets_so_many_codes_a_day_whoever_asks() {
    let budget = Budget {
        letters_to_each: 2,
        ..PLENTY
    };
    testkit::run(on_each(budget, async |world| {
        let (ann, bob) = (world.ann(Plan::Premium).await, world.bob(Plan::Premium).await);
        for actor in [&ann, &bob, &ann] {
            let body = json!({"phone": NUMBER, "sms_consent": true});
            world.service.request_phone(actor, &body).await.unwrap();
        }
        world.nothing_waits().await;
        assert_eq!(world.outbox(NUMBER).await.len(), 2);
    }));
}

#[test]
fn an_account_causes_so_many_letters_a_day_whoever_they_go_to() {
    let budget = Budget {
        letters_to_each: 2,
        ..PLENTY
    };
    testkit::run(on_each(budget, async |world| {
        let ann = world.ann(Plan::Premium).await;
        let numbers = ["+14155550101", "+14155550102", "+14155550103"];
        for number in numbers {
            let body = json!({"phone": number, "sms_consent": true});
            world.service.request_phone(&ann, &body).await.unwrap();
        }
        world.nothing_waits().await;
        let mut sent = 0;
        for number in numbers {
            sent += world.outbox(number).await.len();
        }
        assert_eq!(sent, 2);
    }));
}

#[test]
fn the_operator_pays_for_so_many_messages_a_day() {
    let budget = Budget {
        in_all: 3,
        letters: 1,
        ..PLENTY
    };
    testkit::run(on_each(budget, async |world| {
        // Letters leave something for news.
        for email in ["one@example.com", "two@example.com"] {
            let body = json!({"email": email, "password": PASSWORD});
            world.service.register(&body).await.unwrap();
            world.nothing_waits().await;
        }
        let letters = [
            world.outbox("one@example.com").await.len(),
            world.outbox("two@example.com").await.len(),
        ];
        assert_eq!(letters, [1, 0]);
        let (ann, bob) = (world.ann(Plan::Premium).await, world.bob(Plan::Premium).await);
        let anns = world.fire(&ann, "email", 1).await;
        assert_eq!(world.outcomes(&ann, &anns).await, times(1, "sent"));
        let bobs = world.fire(&bob, "email", 3).await;
        assert_eq!(world.outcomes(&bob, &bobs).await, sent_and(1, 2, "over_budget"));
        world.clock.advance(SignedDuration::from_hours(9));
        let body = json!({"email": "three@example.com", "password": PASSWORD});
        world.service.register(&body).await.unwrap();
        world.mailed("three@example.com", 1).await;
    }));
}
