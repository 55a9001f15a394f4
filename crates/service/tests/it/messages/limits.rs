//! Message limits: messages beyond them are not sent, and the history records the reason. Tests cover both sides of
//! each limit.

use std::net::{IpAddr, Ipv4Addr};

use accounts::identity::SignInResult;
use alerts::Plan;
use clock::Clock;
use delivery::messages::{DailyMessageLimits, OutboxMessage};
use foundation::Actor;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use service::ServiceConfig;
use testkit::Database;

use crate::messages::helpers::times;
use crate::support::{PASSWORD, TestApp, at, settings};

/// Limits that no test reaches.
const UNLIMITED: DailyMessageLimits = DailyMessageLimits {
    max_total: 1_000,
    max_account_messages: 1_000,
    max_account_messages_per_recipient: 1_000,
    max_alert_messages_per_recipient: 1_000,
};

const NUMBER: &str = "+14155550123";

async fn on_each(limits: DailyMessageLimits, test: impl AsyncFn(TestApp)) {
    for database in testkit::fresh_databases().await {
        test(with(database, limits).await).await;
    }
}

async fn with(database: Database, limits: DailyMessageLimits) -> TestApp {
    let mut settings: ServiceConfig = settings();
    settings.delivery.messages.email.daily_limits = limits;
    settings.delivery.messages.sms.daily_limits = limits;
    // Each firing has its own message.
    settings.delivery.channels.burst_limit = 1_000;
    TestApp::with(database, settings).await
}

/// Returns the outcomes of `sent` sent and `refused` rejected messages, sorted.
fn outcomes_of(sent: usize, refused: usize, why: &str) -> Vec<String> {
    [times(refused, why), times(sent, "sent")].concat()
}

async fn used(app: &TestApp, actor: &Actor) -> u64 {
    app.service.account_settings.subscription(actor).await.unwrap().sms_sent
}

#[test]
fn text_messages_beyond_monthly_quota_are_sent_by_email() {
    testkit::run(on_each(UNLIMITED, async |app| {
        let ann = app.ann(Plan::Premium).await;
        app.verify_phone(&ann, NUMBER).await;
        // Two processes compete for the last messages.
        let other = app.another_process().await;
        let alerts = app.fire(&ann, "sms", 53).await;
        assert_eq!(app.outcomes(&ann, &alerts).await, times(53, "sent"));
        assert_eq!(used(&app, &ann).await, 50);
        // The code does not count.
        assert_eq!(app.outbox(NUMBER).await.len(), 51);
        app.nothing_waits().await;
        let mailed = subjects(&app, &ann).await;
        assert_eq!(mailed.iter().filter(|subject| subject.starts_with("AAPL: ")).count(), 3);
        assert_eq!(warnings(&mailed), [LOW, USED]);
        other.service.stop().await;

        app.clock.set(at("2024-03-31T23:59:00Z"));
        assert_eq!(used(&app, &ann).await, 50);
        app.clock.set(at("2024-04-01T14:00:00Z"));
        let next = app.fire(&ann, "sms", 1).await;
        assert_eq!(app.outcomes(&ann, &next).await, times(1, "sent"));
        assert_eq!(used(&app, &ann).await, 1);
        assert_eq!(subjects(&app, &ann).await.len(), 5);
    }));
}

const LOW: &str = "of your 50 text messages this month are used";
const USED: &str = "No text messages are left";

/// Returns the subjects of the emails to an account.
async fn subjects(app: &TestApp, actor: &Actor) -> Vec<String> {
    let mailed = app.outbox(&actor.email).await.into_iter();
    mailed.map(|mail| mail.subject.unwrap_or_default()).collect()
}

/// Returns the quota warnings among these subjects.
fn warnings(subjects: &[String]) -> Vec<&'static str> {
    let mut found: Vec<_> = subjects
        .iter()
        .filter_map(|subject| [LOW, USED].into_iter().find(|warning| subject.contains(warning)))
        .collect();
    found.sort_by_key(|warning| *warning == USED);
    found
}

#[test]
fn quota_warnings_are_sent_once_at_80_and_at_100_percent() {
    testkit::run(on_each(UNLIMITED, async |app| {
        let ann = app.ann(Plan::Premium).await;
        app.verify_phone(&ann, NUMBER).await;
        for (more, expected) in [
            (39, &[][..]),
            (1, &[LOW][..]),
            (9, &[LOW][..]),
            (1, &[LOW, USED][..]),
            (2, &[LOW, USED][..]),
        ] {
            let alerts = app.fire(&ann, "sms", more).await;
            assert_eq!(app.outcomes(&ann, &alerts).await.len(), alerts.len());
            app.nothing_waits().await;
            assert_eq!(warnings(&subjects(&app, &ann).await), expected, "{more} more");
        }
        app.clock.set(at("2024-04-01T14:00:00Z"));
        let alerts = app.fire(&ann, "sms", 40).await;
        assert_eq!(app.outcomes(&ann, &alerts).await, times(40, "sent"));
        app.nothing_waits().await;
        assert_eq!(warnings(&subjects(&app, &ann).await), [LOW, LOW, USED]);
    }));
}

#[test]
fn text_message_alerts_are_emailed_after_downgrade() {
    testkit::run(on_each(UNLIMITED, async |app| {
        let ann = app.ann(Plan::Premium).await;
        app.verify_phone(&ann, NUMBER).await;
        app.quote("AAPL", 100.0).await;
        let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 110, "notification": "sms"});
        let alert = app.create(&ann, body).await.stored.alert.id;
        assert_eq!(
            app.service.account_settings.sms_quota(&ann).await.unwrap().remaining(),
            50
        );
        app.service.accounts.set_plan(&ann.email, Plan::Basic).await.unwrap();
        assert_eq!(
            app.service.account_settings.sms_quota(&ann).await.unwrap().remaining(),
            0
        );
        app.quote("AAPL", 111.0).await;
        assert_eq!(app.outcomes(&ann, &[alert]).await, times(1, "sent"));
        app.nothing_waits().await;
        let mailed = app.outbox(&ann.email).await;
        let fired = mailed
            .iter()
            .find(|mail| mail.text.contains("is at or above 110.00"))
            .unwrap();
        assert!(fired.text.contains("sent by email because"), "{}", fired.text);
        assert_eq!(warnings(&subjects(&app, &ann).await), [USED]);
        assert_eq!(app.outbox(NUMBER).await.len(), 1);
    }));
}

#[test]
fn alert_emails_per_address_are_limited_per_day() {
    let limits = DailyMessageLimits {
        max_alert_messages_per_recipient: 3,
        ..UNLIMITED
    };
    testkit::run(on_each(limits, async |app| {
        let (ann, bob) = (app.ann(Plan::Premium).await, app.bob(Plan::Premium).await);
        let alerts = app.fire(&ann, "email", 5).await;
        assert_eq!(
            app.outcomes(&ann, &alerts).await,
            ["over_limit", "over_limit", "sent", "sent", "sent"]
        );
        // Other recipients and account emails are not affected; the next day starts at zero.
        let bobs = app.fire(&bob, "email", 1).await;
        assert_eq!(app.outcomes(&bob, &bobs).await, times(1, "sent"));
        app.clock.set(at("2024-03-09T00:00:00Z"));
        app.clock.set(at("2024-03-11T14:00:00Z"));
        let next = app.fire(&ann, "email", 1).await;
        assert_eq!(app.outcomes(&ann, &next).await, times(1, "sent"));
    }));
}

#[test]
fn account_emails_per_normalized_address_are_limited_per_day() {
    let limits = DailyMessageLimits {
        max_account_messages_per_recipient: 2,
        ..UNLIMITED
    };
    testkit::run(on_each(limits, async |app| {
        for email in [
            "mallory@example.com",
            "Mallory@Example.com",
            "MALLORY@example.com",
            "mallory@EXAMPLE.com",
        ] {
            let body = json!({"email": email, "password": PASSWORD});
            app.service.identity.register(&body).await.unwrap();
        }
        // An email to a later recipient shows that hers are finished.
        let body = json!({"email": "trent@example.com", "password": PASSWORD});
        app.service.identity.register(&body).await.unwrap();
        app.mailed_at_least("trent@example.com", 1).await;
        app.nothing_waits().await;
        assert_eq!(app.outbox("mallory@example.com").await.len(), 2);
        // Emails about her alerts count separately.
        let ann = app.ann(Plan::Basic).await;
        let alerts = app.fire(&ann, "email", 3).await;
        assert_eq!(app.outcomes(&ann, &alerts).await, times(3, "sent"));
    }));
}

#[test]
fn codes_per_number_are_limited_per_day() {
    let limits = DailyMessageLimits {
        max_account_messages_per_recipient: 2,
        ..UNLIMITED
    };
    testkit::run(on_each(limits, async |app| {
        let (ann, bob) = (app.ann(Plan::Premium).await, app.bob(Plan::Premium).await);
        for actor in [&ann, &bob, &ann] {
            let body = json!({"phone": NUMBER, "sms_consent": true});
            app.service.account_settings.request_phone(actor, &body).await.unwrap();
        }
        app.nothing_waits().await;
        assert_eq!(app.outbox(NUMBER).await.len(), 2);
    }));
}

#[test]
fn account_emails_per_account_are_limited_per_day() {
    let limits = DailyMessageLimits {
        max_account_messages_per_recipient: 2,
        ..UNLIMITED
    };
    testkit::run(on_each(limits, async |app| {
        let ann = app.ann(Plan::Premium).await;
        let numbers = ["+14155550101", "+14155550102", "+14155550103"];
        for number in numbers {
            let body = json!({"phone": number, "sms_consent": true});
            app.service.account_settings.request_phone(&ann, &body).await.unwrap();
        }
        app.nothing_waits().await;
        let mut sent = 0;
        for number in numbers {
            sent += app.outbox(number).await.len();
        }
        assert_eq!(sent, 2);
    }));
}

#[test]
fn total_messages_are_limited_per_day() {
    let limits = DailyMessageLimits {
        max_total: 3,
        max_account_messages: 1,
        ..UNLIMITED
    };
    testkit::run(on_each(limits, async |app| {
        // Account emails leave a share for alert emails.
        for email in ["one@example.com", "two@example.com"] {
            let body = json!({"email": email, "password": PASSWORD});
            app.service.identity.register(&body).await.unwrap();
            app.nothing_waits().await;
        }
        let emails = [
            app.outbox("one@example.com").await.len(),
            app.outbox("two@example.com").await.len(),
        ];
        assert_eq!(emails, [1, 0]);
        let (ann, bob) = (app.ann(Plan::Premium).await, app.bob(Plan::Premium).await);
        let anns = app.fire(&ann, "email", 1).await;
        assert_eq!(app.outcomes(&ann, &anns).await, times(1, "sent"));
        let bobs = app.fire(&bob, "email", 3).await;
        assert_eq!(app.outcomes(&bob, &bobs).await, outcomes_of(1, 2, "over_budget"));
        app.clock.advance(SignedDuration::from_hours(9));
        let body = json!({"email": "three@example.com", "password": PASSWORD});
        app.service.identity.register(&body).await.unwrap();
        app.mailed_at_least("three@example.com", 1).await;
    }));
}

/// Returns the times of the messages with this subject prefix.
fn when(messages: &[OutboxMessage], subject: &str) -> Vec<Timestamp> {
    let of_subject = messages
        .iter()
        .filter(|message| message.subject.as_deref().is_some_and(|text| text.starts_with(subject)));
    of_subject.map(|message| message.created_at).collect()
}

#[test]
fn link_requests_by_others_do_not_lock_out_the_owner() {
    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let limits = DailyMessageLimits {
        max_account_messages_per_recipient: 20,
        ..UNLIMITED
    };
    testkit::run(on_each(limits, async |app| {
        let ann = app.ann(Plan::Basic).await;
        let (begin, service) = (at("2024-03-09T00:00:00Z"), &app.service);
        let (email, end) = (ann.email.as_str(), at("2024-03-10T00:00:00Z"));
        app.clock.set(begin);
        for _ in 0..6 {
            let body = json!({"email": email, "password": PASSWORD});
            service.identity.register(&body).await.unwrap();
        }
        while app.clock.now() < end - SignedDuration::from_mins(5) {
            let link = json!({"email": email, "type": "magic_link"});
            service.identity.sign_in(&link, HERE).await.unwrap();
            service.identity.request_reset(&json!({"email": email})).await.unwrap();
            app.nothing_waits().await;
            app.advance(5);
        }
        let sent = app.outbox(email).await;
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
        let SignInResult::SignedIn(signed_in) = signed_in else {
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
        app.nothing_waits().await;
        let told = app.outbox(email).await;
        assert_eq!(when(&told, "The password of your").len(), 1, "{told:?}");
    }));
}
