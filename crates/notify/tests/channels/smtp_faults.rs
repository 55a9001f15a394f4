//! Servers that no sound SMTP server is like.

use std::sync::Arc;

use notify::email::Mailer;
use notify::message_attempt::MessageOutcome;
use notify::schedule::{Report, Verdict};
use tokio::net::TcpListener;

use crate::common::mail_server::{mailer, settings};
use crate::common::scripted::Step::{Closes, Hangs, Hears, Says};
use crate::common::scripted::{Scripted, Step};
use crate::common::{ManualTime, TIMEOUT, email};

const EHLO: &[Step] = &[
    Says("220 mail.test ESMTP\r\n"),
    Hears("EHLO client.test\r\n"),
    Says("250 mail.test\r\n"),
];

fn after_ehlo(steps: &[Step]) -> Vec<Step> {
    [EHLO, steps].concat()
}

async fn attempt(scripts: &[&[Step]]) -> notify::message_attempt::MessageAttempt {
    let server = Scripted::start(scripts).await;
    mailer(settings(&format!("smtp://{}", server.address)))
        .send(&email("ann@example.org"))
        .await
}

#[tokio::test]
async fn whatever_goes_wrong_on_the_way_has_a_name_and_is_tried_again() {
    let deferred = |code| MessageOutcome::Deferred {
        code,
        retry_after: None,
    };
    let mail = Hears("MAIL FROM:<alerts@example.com>\r\n");
    for (script, expected) in [
        (vec![Closes], MessageOutcome::ConnectionLost),
        (
            vec![Says("HTTP/1.1 400 Bad Request\r\n\r\n"), Closes],
            MessageOutcome::BadAnswer,
        ),
        (vec![Says("554 no mail from you\r\n"), Closes], deferred(554)),
        (vec![Says("421 too busy\r\n"), Closes], deferred(421)),
        (
            vec![
                Says("220 mail.test\r\n"),
                Hears("EHLO"),
                Says("502 what?\r\n"),
                Hears("QUIT"),
                Closes,
            ],
            deferred(502),
        ),
        (
            vec![
                Says("220 mail.test\r\n"),
                Hears("EHLO"),
                Says("250-mail.test\r\n"),
                Closes,
            ],
            MessageOutcome::ConnectionLost,
        ),
        (after_ehlo(&[mail, Closes]), MessageOutcome::ConnectionLost),
        (after_ehlo(&[mail, Says("hello?\r\n")]), MessageOutcome::BadAnswer),
        (
            after_ehlo(&[mail, Says("530 5.7.0 Authentication required\r\n")]),
            MessageOutcome::NotAuthenticated,
        ),
        (after_ehlo(&[mail, Says("452 4.3.1 No space\r\n")]), deferred(452)),
        (
            after_ehlo(&[
                mail,
                Says("250 OK\r\n"),
                Hears("RCPT TO:<ann@example.org>\r\n"),
                Says("250 OK\r\n"),
                Hears("DATA\r\n"),
                Closes,
            ]),
            MessageOutcome::ConnectionLost,
        ),
        (
            after_ehlo(&[
                mail,
                Says("250 OK\r\n"),
                Hears("RCPT"),
                Says("250 OK\r\n"),
                Hears("DATA\r\n"),
                Says("354 go on\r\n"),
                Hears("\r\n.\r\n"),
                Closes,
            ]),
            MessageOutcome::ConnectionLost,
        ),
    ] {
        let attempt = attempt(&[&script]).await;
        assert_eq!(attempt.outcome, expected, "{script:?}");
        assert!(matches!(attempt.verdict(), Verdict::Failed { .. }), "{script:?}");
    }
}

#[tokio::test]
async fn a_sender_that_is_refused_is_refused_for_good() {
    let script = after_ehlo(&[Hears("MAIL"), Says("553-5.7.1 Sender\r\n553 5.7.1 not allowed\r\n")]);
    let attempt = attempt(&[&script]).await;
    assert_eq!(attempt.outcome, MessageOutcome::Refused { code: 553 });
    assert_eq!(attempt.detail.as_deref(), Some("5.7.1 Sender not allowed"));
}

#[tokio::test]
async fn the_deadline_ends_an_exchange_wherever_it_hangs() {
    let mail = [
        Hears("MAIL"),
        Says("250 OK\r\n"),
        Hears("RCPT"),
        Says("250 OK\r\n"),
        Hears("DATA\r\n"),
    ];
    for script in [
        vec![Hangs],
        vec![Says("220-mail.test\r\n"), Hangs],
        after_ehlo(&[Hears("MAIL"), Hangs]),
        after_ehlo(&[&mail[..], &[Says("354 go on\r\n"), Hears("\r\n.\r\n"), Hangs]].concat()),
    ] {
        let mut server = Scripted::start(&[&script]).await;
        let time = Arc::new(ManualTime::new());
        let mailer = Mailer::new(settings(&format!("smtp://{}", server.address)), time.clone()).unwrap();
        let sending = tokio::spawn(async move { mailer.send(&email("ann@example.org")).await });
        server.is_silent().await;
        time.advance(TIMEOUT);
        assert_eq!(sending.await.unwrap().outcome, MessageOutcome::TimedOut, "{script:?}");
    }
}

#[tokio::test]
async fn an_idle_connection_that_is_closed_with_421_costs_no_attempt() {
    let taken = [
        Hears("MAIL"),
        Says("250 OK\r\n"),
        Hears("RCPT"),
        Says("250 OK\r\n"),
        Hears("DATA\r\n"),
        Says("354 go on\r\n"),
        Hears("\r\n.\r\n"),
        Says("250 OK\r\n"),
    ];
    let first = after_ehlo(&[&taken[..], &[Says("421 idle too long\r\n"), Closes]].concat());
    let second = after_ehlo(&taken);
    let server = Scripted::start(&[&first, &second]).await;
    let mailer = mailer(settings(&format!("smtp://{}", server.address)));
    for _ in 0..2 {
        assert_eq!(
            mailer.send(&email("ann@example.org")).await.outcome,
            MessageOutcome::Delivered
        );
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_has_a_name_for_that_too() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    for (url, expected) in [
        (format!("smtp://{address}"), MessageOutcome::ConnectionFailed),
        ("smtp://nobody.invalid".to_owned(), MessageOutcome::NameNotFound),
    ] {
        assert_eq!(
            mailer(settings(&url)).send(&email("ann@example.org")).await.outcome,
            expected
        );
    }
}
