//! Text messages to a server that responds as in the Twilio documentation.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use notify::dispatcher::Transport;
use notify::message_attempt::{MessageAttempt, MessageOutcome};
use notify::schedule::{AttemptReport, AttemptResult};
use notify::sms::{Sms, SmsError, SmsSender, Twilio, TwilioConfig};
use uuid::Uuid;

use crate::channels::common::http::{Answer, Server, answer};
use crate::channels::common::{ManualTime, TIMEOUT};

const ACCOUNT: &str = "AC0123456789abcdef0123456789abcdef";
pub(crate) const SID: &str = "SM0123456789abcdef0123456789abcdef";

/// The example response of the Twilio documentation.
pub(crate) fn created(sid: &str) -> String {
    format!(
        r#"{{"account_sid":"{ACCOUNT}","api_version":"2010-04-01","body":"Hi there","date_created":"Thu, 24 Aug 2023 05:01:45 +0000",
        "date_sent":null,"date_updated":"Thu, 24 Aug 2023 05:01:45 +0000","direction":"outbound-api","error_code":null,
        "error_message":null,"from":"+15557122661","num_media":"0","num_segments":"1","price":null,"price_unit":null,
        "messaging_service_sid":null,"sid":"{sid}","status":"queued","subresource_uris":{{"media":"/2010-04-01/Media.json"}},
        "to":"+15558675310","uri":"/2010-04-01/Accounts/{ACCOUNT}/Messages/{sid}.json"}}"#
    )
}

fn refused(status: u16, code: u32, message: &str) -> String {
    format!(
        r#"{{"code":{code},"message":"{message}","more_info":"https://www.twilio.com/docs/errors/{code}","status":{status}}}"#
    )
}

pub(crate) fn settings(base_url: &str) -> TwilioConfig {
    TwilioConfig {
        account_sid: ACCOUNT.to_owned(),
        auth_token: "a-secret-token".to_owned(),
        sender: SmsSender::From("+15557122661".to_owned()),
        base_url: base_url.to_owned(),
        status_callback: Some("https://alerts.example.com/sms/status".to_owned()),
        extra_roots: Vec::new(),
        timeout: TIMEOUT,
    }
}

fn message() -> Sms {
    Sms {
        to: "+15558675310".to_owned(),
        text: "Bellwether: AAPL & co. = 201.50 €?".to_owned(),
    }
}

async fn attempt(answer: Answer) -> MessageAttempt {
    let server = Server::start(answer).await;
    let twilio = Twilio::new(
        settings(&format!("http://{}", server.address)),
        Arc::new(ManualTime::new()),
    )
    .unwrap();
    twilio.send(&message()).await
}

#[tokio::test]
async fn message_is_posted_as_a_form_and_returns_its_sid() {
    let mut server = Server::start(answer("201 CREATED", "", &created(SID))).await;
    let mut settings = settings(&format!("http://{}/", server.address));
    let transport = Twilio::new(settings.clone(), Arc::new(ManualTime::new())).unwrap();
    let attempt = transport.attempt(Uuid::nil(), &message()).await;
    assert_eq!(attempt.outcome, MessageOutcome::Delivered);
    assert_eq!(attempt.result(), AttemptResult::Delivered);
    assert_eq!(attempt.provider_id.as_deref(), Some(SID));

    let request = server.request().await;
    assert_eq!(
        request.line,
        format!("POST /2010-04-01/Accounts/{ACCOUNT}/Messages.json HTTP/1.1")
    );
    let credentials = base64::engine::general_purpose::STANDARD.encode(format!("{ACCOUNT}:a-secret-token"));
    assert_eq!(request.headers["authorization"], format!("Basic {credentials}"));
    assert_eq!(request.headers["content-type"], "application/x-www-form-urlencoded");
    let form = |sender: (&str, &str)| {
        [
            ("To", "+15558675310"),
            ("Body", "Bellwether: AAPL & co. = 201.50 €?"),
            sender,
            ("StatusCallback", "https://alerts.example.com/sms/status"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
    };
    assert_eq!(request.form, form(("From", "+15557122661")));

    settings.sender = SmsSender::MessagingService("MG1".to_owned());
    let twilio = Twilio::new(settings, Arc::new(ManualTime::new())).unwrap();
    twilio.send(&message()).await;
    assert_eq!(server.request().await.form, form(("MessagingServiceSid", "MG1")));
    assert!(!format!("{twilio:?}").contains("a-secret-token"));
}

#[tokio::test]
async fn twilio_error_codes_map_to_refused_or_retried() {
    let retried = AttemptResult::Failed { not_before: None };
    for (code, message, expected, result) in [
        (21211, "Invalid 'To' Phone Number", "refused", AttemptResult::Refused),
        (
            21610,
            "Attempt to send to unsubscribed recipient",
            "refused",
            AttemptResult::Refused,
        ),
        (
            21614,
            "'To' number is not a valid mobile number",
            "refused",
            AttemptResult::Refused,
        ),
        (
            21408,
            "Permission to send an SMS has not been enabled",
            "refused",
            AttemptResult::Refused,
        ),
        (
            21612,
            "Not reachable from this number",
            "refused",
            AttemptResult::Refused,
        ),
        (
            21611,
            "This 'From' number has exceeded the maximum number of queued messages",
            "deferred",
            retried,
        ),
        (
            21606,
            "The 'From' phone number is not valid for this account",
            "deferred",
            retried,
        ),
        (20003, "Authenticate", "authentication_failed", retried),
    ] {
        let attempt = attempt(answer("400 BAD REQUEST", "", &refused(400, code, message))).await;
        assert_eq!((attempt.outcome.name(), attempt.result()), (expected, result), "{code}");
        assert_eq!(attempt.detail.as_deref(), Some(message));
        assert!(attempt.outcome.code().is_none_or(|found| found == code));
        assert_eq!(attempt.provider_id, None);
    }
}

#[tokio::test]
async fn temporary_and_setup_errors_are_retried() {
    let wait = |seconds: i64| AttemptResult::Failed {
        not_before: Some(jiff::SignedDuration::from_secs(seconds)),
    };
    let retried = AttemptResult::Failed { not_before: None };
    for (given, expected, result) in [
        (
            answer(
                "429 TOO MANY REQUESTS",
                "Retry-After: 30\r\n",
                &refused(429, 20429, "Too Many Requests"),
            ),
            "deferred",
            wait(30),
        ),
        (answer("429 TOO MANY REQUESTS", "", ""), "deferred", retried),
        (
            answer(
                "503 SERVICE UNAVAILABLE",
                "Retry-After: Fri, 06 Mar 2026 14:31:00 GMT\r\n",
                "<html>",
            ),
            "deferred",
            wait(60),
        ),
        (
            answer(
                "500 INTERNAL SERVER ERROR",
                "",
                &refused(500, 20500, "Internal Server Error"),
            ),
            "deferred",
            retried,
        ),
        (
            answer("401 UNAUTHORIZED", "", &refused(401, 20003, "Authenticate")),
            "authentication_failed",
            retried,
        ),
        (answer("403 FORBIDDEN", "", "{}"), "authentication_failed", retried),
        (
            answer("404 NOT FOUND", "", &refused(404, 20404, "Not found")),
            "deferred",
            retried,
        ),
        (
            answer("302 FOUND", "Location: http://127.0.0.1:1/\r\n", ""),
            "bad_answer",
            retried,
        ),
        (
            Answer::Bytes("220 mail.test ESMTP\r\n\r\n".to_owned()),
            "bad_answer",
            retried,
        ),
        (Answer::Closes, "connection_lost", retried),
    ] {
        let attempt = attempt(given.clone()).await;
        assert_eq!(
            (attempt.outcome.name(), attempt.result()),
            (expected, result),
            "{given:?}"
        );
    }
}

#[tokio::test]
async fn accepted_message_is_delivered_even_with_an_unreadable_response() {
    let huge = format!("{{\"sid\":\"{SID}\",\"x\":\"{}\"}}", "x".repeat(100_000));
    let cut = Answer::Bytes(format!(
        "HTTP/1.1 201 CREATED\r\nContent-Length: 500\r\n\r\n{{\"sid\":\"{SID}\""
    ));
    for given in [
        answer("201 CREATED", "", "<html>not JSON</html>"),
        answer("201 CREATED", "", ""),
        answer("200 OK", "", "[]"),
        answer("201 CREATED", "", r#"{"sid": "no sid\r\n<b>"}"#),
        answer("201 CREATED", "", &huge),
        cut,
    ] {
        let attempt = attempt(given.clone()).await;
        assert_eq!(attempt.outcome, MessageOutcome::Delivered, "{given:?}");
        assert_eq!(attempt.provider_id, None, "{given:?}");
    }
    let malformed = attempt(answer("400 BAD REQUEST", "", "<html>")).await;
    assert_eq!(malformed.outcome, MessageOutcome::Refused { code: 400 });
}

#[tokio::test]
async fn hanging_server_times_out() {
    let mut server = Server::start(Answer::Hangs).await;
    let time = Arc::new(ManualTime::new());
    let twilio = Twilio::new(settings(&format!("http://{}", server.address)), time.clone()).unwrap();
    let sending = tokio::spawn(async move { twilio.send(&message()).await });
    server.request().await;
    time.advance(TIMEOUT);
    let attempt = sending.await.unwrap();
    assert_eq!(attempt.outcome, MessageOutcome::TimedOut);
    assert_eq!(
        attempt.duration_ms,
        u64::try_from(Duration::as_millis(&TIMEOUT)).unwrap()
    );
    assert_eq!(server.unread_requests(), 0);
}

#[tokio::test]
async fn unreachable_server_has_a_named_outcome() {
    let server = Server::start(Answer::Closes).await;
    for (base_url, expected) in [
        ("http://127.0.0.1:1".to_owned(), "connection_failed"),
        ("https://nobody.invalid".to_owned(), "name_not_found"),
        (format!("https://{}", server.address), "tls_failed"),
    ] {
        // The server reads the TLS handshake as a request head, and closes when the client does.
        if expected == "tls_failed" {
            continue;
        }
        let twilio = Twilio::new(settings(&base_url), Arc::new(ManualTime::new())).unwrap();
        assert_eq!(twilio.send(&message()).await.outcome.name(), expected, "{base_url}");
    }
}

#[tokio::test]
async fn invalid_phone_numbers_are_unsendable() {
    let mut server = Server::start(answer("201 CREATED", "", &created(SID))).await;
    let twilio = Twilio::new(
        settings(&format!("http://{}", server.address)),
        Arc::new(ManualTime::new()),
    )
    .unwrap();
    for to in [
        "",
        "15558675310",
        "+0155512345",
        "+1555",
        "+1 555 867 5310",
        "+15558675310,+15550000000",
        "whatsapp:+15558675310",
        "+1234567890123456",
    ] {
        let sms = Sms {
            to: to.to_owned(),
            text: "x".to_owned(),
        };
        let attempt = twilio.send(&sms).await;
        assert_eq!(
            (attempt.outcome, attempt.result()),
            (MessageOutcome::Unsendable, AttemptResult::Refused),
            "{to}"
        );
    }
    assert_eq!(server.unread_requests(), 0);
}

#[tokio::test]
async fn base_url_must_be_https_without_credentials() {
    let new = |change: fn(&mut TwilioConfig)| {
        let mut settings = settings("https://api.twilio.com");
        change(&mut settings);
        Twilio::new(settings, Arc::new(ManualTime::new()))
    };
    assert!(new(|_| ()).is_ok());
    assert!(matches!(
        new(|it| it.base_url = "http://api.twilio.com".to_owned()),
        Err(SmsError::BadBaseUrl)
    ));
    assert!(matches!(
        new(|it| it.base_url = "https://u:p@api.twilio.com".to_owned()),
        Err(SmsError::BadBaseUrl)
    ));
    assert!(matches!(
        new(|it| it.base_url = "ftp://api.twilio.com".to_owned()),
        Err(SmsError::BadBaseUrl)
    ));
    assert!(matches!(
        new(|it| it.account_sid = "../x".to_owned()),
        Err(SmsError::BadAccountSid)
    ));
    assert!(matches!(
        new(|it| it.extra_roots = vec![vec![1].into()]),
        Err(SmsError::Tls(_))
    ));
}
