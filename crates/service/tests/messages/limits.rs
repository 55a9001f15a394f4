//! Limits: what goes beyond them is not sent, and the history says why. Each number on both sides of its edge.

use std::net::{IpAddr, Ipv4Addr};

use alerts::Plan;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use service::identity::SignIn;
use service::messages::{Budget, OutboxMessage};
use service::{Actor, Clock, Settings};
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
    world
        .service
        .account_settings
        .subscription(actor)
        .await
        .unwrap()
        .sms_sent
}

#[test]
fn a_plan_has_fifty_text_messages_a_month_and_the_rest_comes_by_mail_whoever_sends_them() {
    testkit::run(on_each(PLENTY, async |world| {
        let ann = world.ann(Plan::Premium).await;
        world.verify_phone(&ann, NUMBER).await;
        // Two processes have the last places to give.
        let other = world.another_process().await;
        let alerts = world.fire(&ann, "sms", 53).await;
        assert_eq!(world.outcomes(&ann, &alerts).await, times(53, "sent"));
        assert_eq!(used(&world, &ann).await, 50);
        // The code is none of them.
        assert_eq!(world.outbox(NUMBER).await.len(), 51);
        world.nothing_waits().await;
        let mailed = subjects(&world, &ann).await;
        assert_eq!(mailed.iter().filter(|subject| subject.starts_with("AAPL: ")).count(), 3);
        assert_eq!(warnings(&mailed), [LOW, USED]);
        other.service.stop().await;

        world.clock.set(at("2024-03-31T23:59:00Z"));
        assert_eq!(used(&world, &ann).await, 50);
        world.clock.set(at("2024-04-01T14:00:00Z"));
        let next = world.fire(&ann, "sms", 1).await;
        assert_eq!(world.outcomes(&ann, &next).await, times(1, "sent"));
        assert_eq!(used(&world, &ann).await, 1);
        assert_eq!(subjects(&world, &ann).await.len(), 5);
    }));
}

const LOW: &str = "of your 50 text messages this month are used";
const USED: &str = "No text messages are left";

/// The subjects of the mail to somebody.
async fn subjects(world: &World, actor: &Actor) -> Vec<String> {
    let mailed = world.outbox(&actor.email).await.into_iter();
    mailed.map(|mail| mail.subject.unwrap_or_default()).collect()
}

/// Which warnings there are among these subjects.
fn warnings(subjects: &[String]) -> Vec<&'static str> {
    let mut found: Vec<_> = subjects
        .iter()
        .filter_map(|subject| [LOW, USED].into_iter().find(|warning| subject.contains(warning)))
        .collect();
    found.sort_by_key(|warning| *warning == USED);
    found
}

#[test]
fn owner_is_warned_once_a_month_at_80_percent_of_the_text_messages_and_once_at_100_percent() {
    testkit::run(on_each(PLENTY, async |world| {
        let ann = world.ann(Plan::Premium).await;
        world.verify_phone(&ann, NUMBER).await;
        for (more, expected) in [
            (39, &[][..]),
            (1, &[LOW][..]),
            (9, &[LOW][..]),
            (1, &[LOW, USED][..]),
            (2, &[LOW, USED][..]),
        ] {
            let alerts = world.fire(&ann, "sms", more).await;
            assert_eq!(world.outcomes(&ann, &alerts).await.len(), alerts.len());
            world.nothing_waits().await;
            assert_eq!(warnings(&subjects(&world, &ann).await), expected, "{more} more");
        }
        world.clock.set(at("2024-04-01T14:00:00Z"));
        let alerts = world.fire(&ann, "sms", 40).await;
        assert_eq!(world.outcomes(&ann, &alerts).await, times(40, "sent"));
        world.nothing_waits().await;
        assert_eq!(warnings(&subjects(&world, &ann).await), [LOW, LOW, USED]);
    }));
}

#[test]
fn after_a_downgrade_alerts_by_text_message_come_by_mail() {
    testkit::run(on_each(PLENTY, async |world| {
        let ann = world.ann(Plan::Premium).await;
        world.verify_phone(&ann, NUMBER).await;
        world.quote("AAPL", 100.0).await;
        let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 110, "notification": "sms"});
        let alert = world.create(&ann, body).await.stored.alert.id;
        assert_eq!(
            world
                .service
                .account_settings
                .sms_quota(&ann)
                .await
                .unwrap()
                .remaining(),
            50
        );
        world.service.accounts.set_plan(&ann.email, Plan::Basic).await.unwrap();
        assert_eq!(
            world
                .service
                .account_settings
                .sms_quota(&ann)
                .await
                .unwrap()
                .remaining(),
            0
        );
        world.quote("AAPL", 111.0).await;
        assert_eq!(world.outcomes(&ann, &[alert]).await, times(1, "sent"));
        world.nothing_waits().await;
        let mailed = world.outbox(&ann.email).await;
        let fired = mailed
            .iter()
            .find(|mail| mail.text.contains("is at or above 110.00"))
            .unwrap();
        assert!(fired.text.contains("sent by email because"), "{}", fired.text);
        assert_eq!(warnings(&subjects(&world, &ann).await), [USED]);
        assert_eq!(world.outbox(NUMBER).await.len(), 1);
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
            world.service.identity.register(&body).await.unwrap();
        }
        // Whoever is mailed after her shows that her letters are done with.
        let body = json!({"email": "trent@example.com", "password": PASSWORD});
        world.service.identity.register(&body).await.unwrap();
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
            world
                .service
                .account_settings
                .request_phone(actor, &body)
                .await
                .unwrap();
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
            world.service.account_settings.request_phone(&ann, &body).await.unwrap();
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
            world.service.identity.register(&body).await.unwrap();
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
        world.service.identity.register(&body).await.unwrap();
        world.mailed("three@example.com", 1).await;
    }));
}

/// When those of the messages were sent whose subject begins so.
fn when(messages: &[OutboxMessage], subject: &str) -> Vec<Timestamp> {
    let of_subject = messages
        .iter()
        .filter(|message| message.subject.as_deref().is_some_and(|text| text.starts_with(subject)));
    of_subject.map(|message| message.created_at).collect()
}

#[test]
fn whoever_asks_for_links_in_somebodys_name_all_day_keeps_them_neither_out_nor_in_the_dark() {
    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let budget = Budget {
        letters_to_each: 20,
        ..PLENTY
    };
    testkit::run(on_each(budget, async |world| {
        let ann = world.ann(Plan::Basic).await;
        let (begin, service) = (at("2024-03-09T00:00:00Z"), &world.service);
        let (email, end) = (ann.email.as_str(), at("2024-03-10T00:00:00Z"));
        world.clock.set(begin);
        for _ in 0..6 {
            let body = json!({"email": email, "password": PASSWORD});
            service.identity.register(&body).await.unwrap();
        }
        while world.clock.now() < end - SignedDuration::from_mins(5) {
            let link = json!({"email": email, "type": "magic_link"});
            service.identity.sign_in(&link, HERE).await.unwrap();
            service.identity.request_reset(&json!({"email": email})).await.unwrap();
            world.nothing_waits().await;
            world.advance(5);
        }
        let sent = world.outbox(email).await;
        for (subject, most) in [
            ("Sign in to", 14),
            ("Choose a new password", 14),
            ("You already have", 5),
        ] {
            let times = when(&sent, subject);
            assert!(times.len() <= most, "{subject}: {times:?}");
            if most > 5 {
                let with_end = times.iter().copied().chain([end]);
                let longest = times
                    .iter()
                    .zip(with_end.skip(1))
                    .map(|(one, next)| next.duration_since(*one));
                let longest = longest.max().unwrap();
                assert!(longest <= SignedDuration::from_hours(4), "{subject}: {times:?}");
            }
        }
        let signed_in = service
            .identity
            .sign_in(&json!({"email": email, "password": PASSWORD}), HERE)
            .await
            .unwrap();
        let SignIn::Done(signed_in) = signed_in else {
            panic!("{signed_in:?}");
        };
        let ann = service
            .authenticator
            .authenticate_token(&signed_in.access_token)
            .await
            .unwrap();
        let body = json!({"current_password": PASSWORD, "new_password": "battery staple"});
        service
            .account_settings
            .change_password(&ann, HERE, &body)
            .await
            .unwrap();
        world.nothing_waits().await;
        let told = world.outbox(email).await;
        assert_eq!(when(&told, "The password of your").len(), 1, "{told:?}");
    }));
}
