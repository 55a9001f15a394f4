//! SMTP servers that misbehave.

use std::sync::Arc;

use notify::email::Mailer;
use notify::message_attempt::MessageOutcome;
use notify::schedule::{AttemptReport, AttemptResult};
use tokio::net::TcpListener;

use crate::channels::common::mail_server::{mailer, ports, settings};
use crate::channels::common::scripted::Step::{Closes, Expects, Hangs, Sends};
use crate::channels::common::scripted::{ScriptedServer, Step};
use crate::channels::common::{ManualTime, TIMEOUT, email};

const EHLO: &[Step] = &[
    Sends("220 mail.test ESMTP\r\n"),
    Expects("EHLO client.test\r\n"),
    Sends("250 mail.test\r\n"),
];

fn after_ehlo(steps: &[Step]) -> Vec<Step> {
    [EHLO, steps].concat()
}

async fn attempt(scripts: &[&[Step]]) -> notify::message_attempt::MessageAttempt {
    let server = ScriptedServer::start(scripts).await;
    mailer(settings(&format!("smtp://{}", server.address)))
        .send(&email("ann@example.org"))
        .await
}

#[tokio::test]
async fn protocol_failures_have_named_outcomes_and_are_retried() {
    let deferred = |code| MessageOutcome::Deferred {
        code,
        retry_after: None,
    };
    let mail = Expects("MAIL FROM:<alerts@example.com>\r\n");
    for (script, expected) in [
        (vec![Closes], MessageOutcome::ConnectionLost),
        (
            vec![Sends("HTTP/1.1 400 Bad Request\r\n\r\n"), Closes],
            MessageOutcome::InvalidResponse,
        ),
        (vec![Sends("554 no mail from you\r\n"), Closes], deferred(554)),
        (vec![Sends("421 too busy\r\n"), Closes], deferred(421)),
        (
            vec![
                Sends("220 mail.test\r\n"),
                Expects("EHLO"),
                Sends("502 what?\r\n"),
                Expects("QUIT"),
                Closes,
            ],
            deferred(502),
        ),
        (
            vec![
                Sends("220 mail.test\r\n"),
                Expects("EHLO"),
                Sends("250-mail.test\r\n"),
                Closes,
            ],
            MessageOutcome::ConnectionLost,
        ),
        (after_ehlo(&[mail, Closes]), MessageOutcome::ConnectionLost),
        (
            after_ehlo(&[mail, Sends("hello?\r\n")]),
            MessageOutcome::InvalidResponse,
        ),
        (
            after_ehlo(&[mail, Sends("530 5.7.0 Authentication required\r\n")]),
            MessageOutcome::NotAuthenticated,
        ),
        (after_ehlo(&[mail, Sends("452 4.3.1 No space\r\n")]), deferred(452)),
        (
            after_ehlo(&[
                mail,
                Sends("250 OK\r\n"),
                Expects("RCPT TO:<ann@example.org>\r\n"),
                Sends("250 OK\r\n"),
                Expects("DATA\r\n"),
                Closes,
            ]),
            MessageOutcome::ConnectionLost,
        ),
        (
            after_ehlo(&[
                mail,
                Sends("250 OK\r\n"),
                Expects("RCPT"),
                Sends("250 OK\r\n"),
                Expects("DATA\r\n"),
                Sends("354 go on\r\n"),
                Expects("\r\n.\r\n"),
                Closes,
            ]),
            MessageOutcome::ConnectionLost,
        ),
    ] {
        let attempt = attempt(&[&script]).await;
        assert_eq!(attempt.outcome, expected, "{script:?}");
        assert!(matches!(attempt.result(), AttemptResult::Failed { .. }), "{script:?}");
    }
}

#[tokio::test]
async fn rejected_sender_is_refused_for_good() {
    let script = after_ehlo(&[Expects("MAIL"), Sends("553-5.7.1 Sender\r\n553 5.7.1 not allowed\r\n")]);
    let attempt = attempt(&[&script]).await;
    assert_eq!(attempt.outcome, MessageOutcome::Refused { code: 553 });
    assert_eq!(attempt.detail.as_deref(), Some("5.7.1 Sender not allowed"));
}

#[tokio::test]
async fn timeout_applies_to_every_step() {
    let mail = [
        Expects("MAIL"),
        Sends("250 OK\r\n"),
        Expects("RCPT"),
        Sends("250 OK\r\n"),
        Expects("DATA\r\n"),
    ];
    for script in [
        vec![Hangs],
        vec![Sends("220-mail.test\r\n"), Hangs],
        after_ehlo(&[Expects("MAIL"), Hangs]),
        after_ehlo(&[&mail[..], &[Sends("354 go on\r\n"), Expects("\r\n.\r\n"), Hangs]].concat()),
    ] {
        let mut server = ScriptedServer::start(&[&script]).await;
        let time = Arc::new(ManualTime::new());
        let mailer = Mailer::new(settings(&format!("smtp://{}", server.address)), ports(time.clone())).unwrap();
        let sending = tokio::spawn(async move { mailer.send(&email("ann@example.org")).await });
        server.is_silent().await;
        time.advance(TIMEOUT);
        assert_eq!(sending.await.unwrap().outcome, MessageOutcome::TimedOut, "{script:?}");
    }
}

#[tokio::test]
async fn idle_connection_closed_with_421_does_not_fail_an_attempt() {
    let taken = [
        Expects("MAIL"),
        Sends("250 OK\r\n"),
        Expects("RCPT"),
        Sends("250 OK\r\n"),
        Expects("DATA\r\n"),
        Sends("354 go on\r\n"),
        Expects("\r\n.\r\n"),
        Sends("250 OK\r\n"),
    ];
    let first = after_ehlo(&[&taken[..], &[Sends("421 idle too long\r\n"), Closes]].concat());
    let second = after_ehlo(&taken);
    let server = ScriptedServer::start(&[&first, &second]).await;
    let mailer = mailer(settings(&format!("smtp://{}", server.address)));
    for _ in 0..2 {
        assert_eq!(
            mailer.send(&email("ann@example.org")).await.outcome,
            MessageOutcome::Delivered
        );
    }
}

#[tokio::test]
async fn unreachable_server_has_a_named_outcome() {
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
