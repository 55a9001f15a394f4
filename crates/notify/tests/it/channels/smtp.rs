//! Emails to a real SMTP server.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use notify::dispatcher::Transport;
use notify::email::{EmailError, Mailer, SmtpUrlError};
use notify::message_attempt::{MessageAttempt, MessageOutcome};
use notify::schedule::{AttemptReport, AttemptResult};
use serde_json::json;

use crate::channels::common::mail_server::{LOCALHOST, MailServer, Security, mailer, ports, ports_to, settings};
use crate::channels::common::{ManualTime, TIMEOUT, email};

const DELIVERED: MessageOutcome = MessageOutcome::Delivered;

async fn outcome(server: &MailServer, to: &str) -> MessageAttempt {
    server.mailer().send(&email(to)).await
}

#[tokio::test]
async fn email_arrives_with_headers_and_both_parts() {
    let mut server = MailServer::start(Security::None, &[]).await;
    let mut mail = email("ann@example.org");
    mail.to_name = Some("Ann Lee".to_owned());
    mail.content.list_unsubscribe = Some("https://alerts.example.com/unsubscribe?token=a-_b".to_owned());
    let attempt = server.mailer().send(&mail).await;
    assert_eq!(attempt.outcome, DELIVERED);
    assert_eq!(attempt.result(), AttemptResult::Delivered);
    assert_eq!(attempt.detail.as_deref(), Some("2.0.0 OK queued as 4bYhX2"));

    let message = server.message().await;
    let id = "0123456789ab4def8123456789abcdef";
    assert_eq!(
        message["headers"],
        json!([
            ["From", "Bellwether <alerts@example.com>"],
            ["To", "Ann Lee <ann@example.org>"],
            ["Subject", "Hello"],
            ["Date", "Fri, 06 Mar 2026 14:29:30 +0000"],
            ["Message-ID", "<01234567-89ab-4def-8123-456789abcdef@example.com>"],
            ["Auto-Submitted", "auto-generated"],
            ["X-Auto-Response-Suppress", "All"],
            ["List-Unsubscribe-Post", "List-Unsubscribe=One-Click"],
            [
                "List-Unsubscribe",
                "<https://alerts.example.com/unsubscribe?token=a-_b>"
            ],
            ["MIME-Version", "1.0"],
            ["Content-Type", format!("multipart/alternative; boundary=\"=_{id}\"")],
        ])
    );
    assert_eq!(
        message["types"],
        json!(["multipart/alternative", "text/plain", "text/html"])
    );
    assert_eq!(message["text"].as_str().unwrap().trim_end(), "A text.");
    assert_eq!(message["html"].as_str().unwrap().trim_end(), "<p>A text.</p>");
    assert_eq!(message["sender"], "alerts@example.com");
    assert_eq!(message["recipients"], json!(["ann@example.org"]));
    assert_eq!(message["hello"], "client.test");
    assert_eq!(message["secure"], false);
    assert_eq!(message["defects"], json!([]));
}

#[tokio::test]
async fn retry_sends_the_same_bytes() {
    let mut server = MailServer::start(Security::None, &[]).await;
    let mailer = server.mailer();
    let mut raw = Vec::new();
    for _ in 0..2 {
        assert_eq!(mailer.send(&email("ann@example.org")).await.outcome, DELIVERED);
        raw.push(server.message().await["raw"].clone());
    }
    assert_eq!(raw[0], raw[1]);
}

#[tokio::test]
async fn unicode_texts_arrive_unchanged() {
    let mut server = MailServer::start(Security::None, &[]).await;
    let mut mail = email("ann@example.org");
    let subject = "Zürich Insurance (苏黎世保险) 🚀 steigt über 500 CHF, so weit, daß eine Zeile dafür nicht reicht";
    mail.content.subject = subject.to_owned();
    mail.to_name = Some("Jörg \"the Bull\" O'Brien, 陳".to_owned());
    mail.content.text = "Größe: €\n\u{1f680}\n.\n..\nFrom here on: =C3=A4\n".to_owned();
    mail.content.html = "<p>Größe: € 🚀</p>".to_owned();
    assert_eq!(server.mailer().send(&mail).await.outcome, DELIVERED);
    let message = server.message().await;
    let headers = message["headers"].as_array().unwrap();
    assert!(headers.contains(&json!(["Subject", subject])), "{headers:?}");
    assert_eq!(
        message["to"],
        json!([["Jörg \"the Bull\" O'Brien, 陳", "ann@example.org"]])
    );
    assert_eq!(
        message["text"].as_str().unwrap().trim_end(),
        mail.content.text.trim_end()
    );
    assert_eq!(message["html"].as_str().unwrap().trim_end(), mail.content.html);
    assert!(message["raw"].as_str().unwrap().is_ascii());
    assert!(message["longest_line"].as_u64().unwrap() <= 78, "{}", message["raw"]);
    assert_eq!(message["defects"], json!([]));
}

#[tokio::test]
async fn non_ascii_address_requires_smtputf8() {
    let mut able = MailServer::start(Security::None, &["--utf8"]).await;
    assert_eq!(outcome(&able, "jörg@bücher.example").await.outcome, DELIVERED);
    let message = able.message().await;
    assert_eq!(message["recipients"], json!(["jörg@xn--bcher-kva.example"]));

    let mut unable = MailServer::start(Security::None, &[]).await;
    let mailer = unable.mailer();
    let attempt = mailer.send(&email("jörg@example.org")).await;
    assert_eq!(attempt.outcome, MessageOutcome::Unsendable);
    assert_eq!(attempt.result(), AttemptResult::Refused);
    // The connection is reused.
    assert_eq!(mailer.send(&email("ann@example.org")).await.outcome, DELIVERED);
    assert_eq!(unable.message().await["recipients"], json!(["ann@example.org"]));
}

#[tokio::test]
async fn all_tls_modes_work_with_credentials() {
    let auth = ["--user", "me@example.com", "--password", "p:a/s s+w%ö"];
    let credentials = "me%40example.com:p%3Aa%2Fs%20s+w%25%C3%B6@";
    for (security, is_secure) in [
        (Security::None, false),
        (Security::StartTls, true),
        (Security::Implicit, true),
    ] {
        let mut server = MailServer::start(security, &auth).await;
        let sent = mailer(server.settings(credentials))
            .send(&email("ann@example.org"))
            .await;
        assert_eq!(
            (sent.outcome, sent.detail.as_deref()),
            (DELIVERED, Some("2.0.0 OK queued as 4bYhX2"))
        );
        let message = server.message().await;
        assert_eq!(message["user"], "me@example.com");
        assert_eq!(message["secure"], is_secure);
    }
}

#[tokio::test]
async fn rejected_credentials_are_retried() {
    let server = MailServer::start(Security::StartTls, &["--user", "me", "--password", "right"]).await;
    for credentials in ["me:wrong@", ""] {
        let attempt = mailer(server.settings(credentials))
            .send(&email("ann@example.org"))
            .await;
        assert_eq!(attempt.outcome, MessageOutcome::NotAuthenticated, "{credentials}");
        assert_eq!(attempt.result(), AttemptResult::Failed { not_before: None });
        assert!(!format!("{attempt:?}").contains("wrong"));
    }
}

#[tokio::test]
async fn untrusted_server_gets_no_message() {
    use notify::client::TlsFailure;
    for security in [Security::StartTls, Security::Implicit] {
        let server = MailServer::start(security, &[]).await;
        // Its certificate authority is not trusted.
        let attempt = mailer(settings(&server.url(""))).send(&email("ann@example.org")).await;
        assert_eq!(attempt.outcome, MessageOutcome::TlsFailed(TlsFailure::UnknownIssuer));
        // Its certificate is for another name.
        let mut elsewhere = server.settings("");
        elsewhere.url = elsewhere.url.replace("localhost", "mail.test");
        let elsewhere = Mailer::new(elsewhere, ports_to(&[LOCALHOST])).unwrap();
        let attempt = elsewhere.send(&email("ann@example.org")).await;
        assert_eq!(attempt.outcome, MessageOutcome::TlsFailed(TlsFailure::WrongName));
    }
    // Implicit TLS to a server without TLS.
    let plain = MailServer::start(Security::None, &[]).await;
    let attempt = mailer(settings(&plain.url("").replace("smtp:", "smtps:")))
        .send(&email("ann@example.org"))
        .await;
    assert_eq!(attempt.outcome, MessageOutcome::TlsFailed(TlsFailure::Handshake));
    // STARTTLS to a server that does not offer it.
    let attempt = mailer(settings(&format!("{}?tls=starttls", plain.url(""))))
        .send(&email("ann@example.org"))
        .await;
    assert_eq!(attempt.outcome, MessageOutcome::TlsNotOffered);
}

#[tokio::test]
async fn next_address_is_tried_if_one_refuses_the_connection() {
    let mut server = MailServer::start(Security::None, &[]).await;
    let mut settings = server.settings("");
    settings.url = format!("{}?tls=none", settings.url.replace("localhost", "mail.test"));
    // Linux routes all of 127.0.0.0/8 to this machine, but the server listens on one address only.
    let refusing = Ipv4Addr::new(127, 0, 0, 2);
    for (addresses, outcome) in [
        (&[refusing, LOCALHOST][..], DELIVERED),
        (&[refusing][..], MessageOutcome::ConnectionFailed),
    ] {
        let mailer = Mailer::new(settings.clone(), ports_to(addresses)).unwrap();
        let attempt = mailer.send(&email("ann@example.org")).await;
        assert_eq!(attempt.outcome, outcome);
    }
    server.message().await;
}

#[tokio::test]
async fn smtp_reply_codes_map_to_refused_or_retried() {
    let mut server = MailServer::start(Security::None, &[]).await;
    let mailer = server.mailer();
    let deferred = |code| MessageOutcome::Deferred {
        code,
        retry_after: None,
    };
    for (to, expected, result, detail) in [
        (
            "refused@example.org",
            MessageOutcome::Refused { code: 550 },
            AttemptResult::Refused,
            "5.1.1 No such mailbox here",
        ),
        (
            "full@example.org",
            MessageOutcome::Refused { code: 552 },
            AttemptResult::Refused,
            "5.2.2 Mailbox full",
        ),
        (
            "greylisted@example.org",
            deferred(451),
            AttemptResult::Failed { not_before: None },
            "4.7.1 Greylisted, come back later",
        ),
        (
            "closing@example.org",
            deferred(421),
            AttemptResult::Failed { not_before: None },
            "4.3.2 Closing for maintenance",
        ),
        (
            "cut@example.org",
            MessageOutcome::ConnectionLost,
            AttemptResult::Failed { not_before: None },
            "",
        ),
    ] {
        let attempt = mailer.send(&email(to)).await;
        assert_eq!(attempt.outcome, expected, "{to}");
        assert_eq!(attempt.result(), result, "{to}");
        assert_eq!(attempt.detail.unwrap_or_default(), detail, "{to}");
        // It does not affect the next email.
        assert_eq!(mailer.send(&email("ann@example.org")).await.outcome, DELIVERED);
        assert_eq!(server.message().await["recipients"], json!(["ann@example.org"]));
    }
}

#[tokio::test]
async fn connections_are_reused_for_a_minute_and_replaced_when_closed() {
    let mut server = MailServer::start(Security::StartTls, &[]).await;
    let time = Arc::new(ManualTime::new());
    let mailer = Mailer::new(server.settings(""), ports(time.clone())).unwrap();
    let mut peers = Vec::new();
    for to in [
        "ann@example.org",
        "refused@example.org",
        "bob@example.org",
        "last@example.org",
    ] {
        let attempt = mailer.send(&email(to)).await;
        if attempt.outcome == DELIVERED {
            peers.push(server.message().await["peer"].clone());
        }
    }
    assert!(peers.iter().all(|peer| *peer == peers[0]), "one connection: {peers:?}");
    assert_eq!(server.next().await["event"], "closed");
    assert_eq!(mailer.send(&email("ann@example.org")).await.outcome, DELIVERED);
    let second = server.message().await["peer"].clone();
    assert_ne!(second, peers[0]);
    time.advance(Duration::from_secs(59));
    assert_eq!(mailer.send(&email("ann@example.org")).await.outcome, DELIVERED);
    assert_eq!(server.message().await["peer"], second);
    time.advance(Duration::from_secs(60));
    assert_eq!(mailer.send(&email("ann@example.org")).await.outcome, DELIVERED);
    assert_ne!(server.message().await["peer"], second);
}

#[tokio::test]
async fn hanging_server_times_out_and_its_connection_is_dropped() {
    let mut server = MailServer::start(Security::None, &[]).await;
    let time = Arc::new(ManualTime::new());
    let mailer = Arc::new(Mailer::new(server.settings(""), ports(time.clone())).unwrap());
    let sending = tokio::spawn({
        let mailer = mailer.clone();
        async move { mailer.send(&email("hangs@example.org")).await }
    });
    assert_eq!(server.next().await["event"], "hangs");
    time.advance(TIMEOUT);
    let attempt = sending.await.unwrap();
    assert_eq!(attempt.outcome, MessageOutcome::TimedOut);
    assert_eq!(attempt.result(), AttemptResult::Failed { not_before: None });
    assert_eq!(attempt.duration_ms, 20_000);
    assert_eq!(mailer.send(&email("ann@example.org")).await.outcome, DELIVERED);
    assert_eq!(server.message().await["recipients"], json!(["ann@example.org"]));
}

#[tokio::test]
async fn email_transport_sends_and_reports_internal_errors() {
    let mut server = MailServer::start(Security::None, &[]).await;
    let transport = server.mailer();
    let mail = email("ann@example.org");
    assert_eq!(transport.attempt(mail.message_id, &mail).await.outcome, DELIVERED);
    assert_eq!(server.message().await["sender"], "alerts@example.com");
    let broken = MessageAttempt::internal_error(Timestamp::UNIX_EPOCH);
    assert_eq!(
        (broken.outcome.name(), broken.result()),
        ("internal_error", AttemptResult::Failed { not_before: None })
    );
}

#[tokio::test]
async fn invalid_settings_are_rejected_without_the_password() {
    let time = || Arc::new(ManualTime::new());
    let mut bad_url = settings("smtp://me:hunter2@/");
    assert!(!format!("{bad_url:?}").contains("hunter2"));
    let error = Mailer::new(bad_url.clone(), ports(time())).unwrap_err();
    assert!(
        matches!(
            error,
            EmailError::BadUrl(SmtpUrlError::NoHost | SmtpUrlError::Unreadable)
        ),
        "{error:?}"
    );
    assert!(!error.to_string().contains("hunter2") && !format!("{error:?}").contains("hunter2"));
    bad_url.url = "smtp://localhost".to_owned();
    for from in [
        "",
        "Bellwether",
        "a@b@c.example",
        "Bell\r\nBcc: x@example.com <alerts@example.com>",
        "a@example.com, b@example.com",
    ] {
        let mut bad = bad_url.clone();
        bad.from = from.to_owned();
        assert!(
            matches!(Mailer::new(bad, ports(time())).unwrap_err(), EmailError::BadFrom),
            "{from:?}"
        );
    }
    for hello in ["", "two words", "evil\r\nMAIL FROM:<a@b.example>", "a..b"] {
        let mut bad = bad_url.clone();
        bad.hello_name = Some(hello.to_owned());
        assert!(
            matches!(Mailer::new(bad, ports(time())).unwrap_err(), EmailError::BadHelloName),
            "{hello:?}"
        );
    }
    let mut bad = bad_url.clone();
    bad.url = "smtps://mail..example".to_owned();
    let error = Mailer::new(bad, ports(time())).unwrap_err();
    assert!(matches!(error, EmailError::BadUrl(SmtpUrlError::BadHost)), "{error}");
    let mut bad = bad_url.clone();
    bad.extra_roots = vec![vec![1, 2, 3].into()];
    assert!(matches!(
        Mailer::new(bad, ports(time())).unwrap_err(),
        EmailError::Tls(_)
    ));
}
