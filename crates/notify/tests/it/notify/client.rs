//! Delivery attempts to receivers with all kinds of behaviour.

use std::time::Duration;

use bytes::Bytes;
use clock::Clock;
use jiff::SignedDuration;
use notify::client::{Signing, WebhookAttempt, WebhookJob, WebhookOutcome, WebhookTransport};
use notify::message::{ALERT_TRIGGERED, test_event_data, webhook_body};
use notify::signature::{HeaderStyle, SignatureFormat, SigningSecret, service, standard};
use tokio::net::TcpListener;
use uuid::Uuid;

use crate::notify::common::client_fixture::{ClientFixture, post};
use crate::notify::common::receiver::{Behaviour, Received, Receiver, answer, ok};

#[tokio::test]
async fn signed_delivery_arrives_and_verifies() {
    let fixture = ClientFixture::new();
    let receiver = Receiver::start(&fixture.time, &[ok()]).await;
    let secret = SigningSecret::from_random([7; 32]);
    let id = Uuid::from_u128(7);
    let job = WebhookJob {
        account: Uuid::from_u128(9),
        url: receiver.url("http", "hooks.example"),
        event: ALERT_TRIGGERED,
        generated_at: fixture.time.now(),
        body: webhook_body(
            id,
            ALERT_TRIGGERED,
            fixture.time.now(),
            &test_event_data(id, fixture.time.now()),
        ),
        signing: Signing::Signed {
            secrets: secret.clone().into(),
            format: SignatureFormat::Timestamped,
        },
    };
    fixture.time.advance(SignedDuration::from_secs(700));
    let transport = WebhookTransport::new(fixture.client(), HeaderStyle::default());
    let attempt = transport.deliver(id, &job).await;
    let expected = WebhookAttempt {
        url: Some(job.url.clone()),
        at: fixture.time.now(),
        duration_ms: 0,
        outcome: WebhookOutcome::Delivered { status: 200 },
        response: Some("ok".to_owned()),
    };
    assert_eq!(attempt, expected);
    let Received {
        line, headers, body, ..
    } = receiver.requests().remove(0);
    assert_eq!(line, "POST /hook?a=1 HTTP/1.1");
    assert_eq!(body, job.body);
    assert_eq!(headers["host"], format!("hooks.example:{}", receiver.address.port()));
    assert_eq!(headers["content-type"], "application/json");
    assert!(headers["user-agent"].starts_with("Bellwether/"));
    let timestamp = &headers["x-service-timestamp"];
    assert_eq!(timestamp, "2026-03-06T14:30:00.000Z");
    for signature in [&headers["x-service-signature"], &headers["x-stockalert-signature"]] {
        assert!(service::verify(
            SignatureFormat::Timestamped,
            &secret,
            timestamp,
            body.as_bytes(),
            signature
        ));
    }
    let (id, seconds) = (&headers["webhook-id"], &headers["webhook-timestamp"]);
    standard::verify(
        &secret,
        id,
        seconds,
        &headers["webhook-signature"],
        body.as_bytes(),
        fixture.time.now(),
    )
    .unwrap();
}

#[tokio::test]
async fn unsigned_delivery_has_no_signature_headers() {
    let fixture = ClientFixture::new();
    let receiver = Receiver::start(&fixture.time, &[ok()]).await;
    let job = WebhookJob {
        account: Uuid::from_u128(9),
        url: receiver.url("http", "hooks.example"),
        event: ALERT_TRIGGERED,
        generated_at: fixture.time.now(),
        body: Bytes::from_static(b"{}"),
        signing: Signing::Unsigned,
    };
    WebhookTransport::new(fixture.client(), HeaderStyle::default())
        .deliver(Uuid::nil(), &job)
        .await;
    let mut names: Vec<_> = receiver.requests().remove(0).headers.into_keys().collect();
    names.sort();
    assert_eq!(names, ["content-length", "content-type", "host", "user-agent"]);
}

#[tokio::test]
async fn http_statuses_map_to_outcomes() {
    let fixture = ClientFixture::new();
    let answered = |status, seconds: Option<u64>| WebhookOutcome::HttpError {
        status,
        retry_after: seconds.map(Duration::from_secs),
    };
    for (status, headers, expected) in [
        ("200 OK", "", WebhookOutcome::Delivered { status: 200 }),
        ("204 No Content", "", WebhookOutcome::Delivered { status: 204 }),
        (
            "299 Fine",
            "retry-after: 7\r\n",
            WebhookOutcome::Delivered { status: 299 },
        ),
        ("300 Choices", "", WebhookOutcome::Redirected { status: 300 }),
        ("304 Not Modified", "", WebhookOutcome::Redirected { status: 304 }),
        ("400 Bad Request", "", answered(400, None)),
        ("404 Not Found", "", answered(404, None)),
        ("410 Gone", "", WebhookOutcome::Gone),
        (
            "429 Too Many Requests",
            "retry-after: 120\r\n",
            answered(429, Some(120)),
        ),
        (
            "503 Later",
            "Retry-After: Fri, 06 Mar 2026 14:31:30 GMT\r\n",
            answered(503, Some(90)),
        ),
        ("503 Later", "retry-after: soon\r\n", answered(503, None)),
        ("500 Internal Server Error", "", answered(500, None)),
        ("999 Odd", "", answered(999, None)),
    ] {
        assert_eq!(
            fixture.outcome(Behaviour::Answers(answer(status, headers, ""))).await,
            expected,
            "{status}"
        );
    }
}

#[tokio::test]
async fn redirect_is_not_followed() {
    let fixture = ClientFixture::new();
    let behind = Receiver::start(&fixture.time, &[ok()]).await;
    for status in [
        "301 Moved",
        "302 Found",
        "303 See Other",
        "307 Temporary",
        "308 Permanent",
    ] {
        let location = format!("location: {}\r\n", behind.url("http", "127.0.0.1"));
        let outcome = fixture.outcome(Behaviour::Answers(answer(status, &location, ""))).await;
        assert_eq!(outcome.name(), "redirected");
    }
    assert_eq!(behind.seen.borrow().connections, 0);
}

#[tokio::test]
async fn incomplete_and_invalid_responses_fail() {
    let fixture = ClientFixture::new();
    for (behaviour, expected) in [
        (Behaviour::Closes, WebhookOutcome::ConnectionLost),
        (Behaviour::Resets, WebhookOutcome::ConnectionLost),
        (
            Behaviour::AnswersAndCloses("HTTP/1.1 200 OK\r\n".to_owned()),
            WebhookOutcome::ConnectionLost,
        ),
        (
            Behaviour::AnswersAndCloses("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok".to_owned()),
            WebhookOutcome::ConnectionLost,
        ),
        (
            Behaviour::Answers("220 mail.example ESMTP\r\n\r\n".to_owned()),
            WebhookOutcome::InvalidResponse,
        ),
        (
            Behaviour::Answers("{\"status\": 200}\r\n\r\n".to_owned()),
            WebhookOutcome::InvalidResponse,
        ),
        (
            Behaviour::Answers(format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "x".repeat(200_000))),
            WebhookOutcome::InvalidResponse,
        ),
    ] {
        assert_eq!(fixture.outcome(behaviour.clone()).await, expected, "{behaviour:?}");
    }
}

#[tokio::test]
async fn response_without_length_ends_with_the_connection() {
    let fixture = ClientFixture::new();
    let text = "HTTP/1.1 200 OK\r\n\r\nfine".to_owned();
    let receiver = Receiver::start(&fixture.time, &[Behaviour::AnswersAndCloses(text)]).await;
    let attempt = fixture.post(&receiver.url("http", "hooks.example")).await;
    assert_eq!(
        (attempt.outcome, attempt.response.as_deref()),
        (WebhookOutcome::Delivered { status: 200 }, Some("fine"))
    );
}

#[tokio::test]
async fn unreachable_receiver_fails_to_connect() {
    let fixture = ClientFixture::new();
    let port = testkit::RefusingPort::bind();
    let attempt = fixture.post(&format!("http://{}/", port.address())).await;
    assert_eq!(attempt.outcome, WebhookOutcome::ConnectionFailed);
    let attempt = fixture.post("http://nobody.example/").await;
    assert_eq!(attempt.outcome, WebhookOutcome::NameNotFound);
}

#[tokio::test]
async fn stored_numeric_address_is_requested_in_normal_form() {
    let fixture = ClientFixture::new();
    let receiver = Receiver::start(&fixture.time, &[ok()]).await;
    let attempt = fixture.post(&receiver.url("http", "2130706433")).await;
    assert_eq!(attempt.outcome, WebhookOutcome::Delivered { status: 200 });
    let host = format!("127.0.0.1:{}", receiver.address.port());
    assert_eq!(receiver.requests().remove(0).headers["host"], host);
}

#[tokio::test]
async fn first_responding_address_is_used() {
    let fixture = ClientFixture::new();
    let receiver = Receiver::start(&fixture.time, &[ok()]).await;
    // There is no listener on the other addresses; the policy permits all of them.
    fixture
        .names
        .set("hooks.example", &["127.0.0.9", "127.0.0.8", "127.0.0.1"]);
    let attempt = fixture.post(&receiver.url("http", "hooks.example")).await;
    assert_eq!(attempt.outcome, WebhookOutcome::Delivered { status: 200 });
}

/// Makes an attempt. The clock advances second by second after the receiver has received the request.
async fn attempt_with_ticking_clock(fixture: &ClientFixture, behaviour: Behaviour) -> WebhookAttempt {
    let receiver = Receiver::start(&fixture.time, std::slice::from_ref(&behaviour)).await;
    let url = receiver.url("http", "hooks.example");
    let (attempt, ()) = tokio::join!(fixture.post(&url), async {
        for second in 1..=5 {
            let drips = if matches!(behaviour, Behaviour::Drips(_)) {
                second
            } else {
                0
            };
            receiver
                .until(|seen| seen.requests.len() == 1 && seen.drips >= drips)
                .await;
            fixture.time.advance(SignedDuration::from_secs(1));
        }
    });
    attempt
}

#[tokio::test]
async fn one_timeout_covers_the_whole_exchange() {
    let slow_head = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_owned();
    let hint = "HTTP/1.1 103 Early Hints\r\n\r\n".to_owned();
    for behaviour in [Behaviour::Hangs, Behaviour::Drips(slow_head), Behaviour::Drips(hint)] {
        let attempt = attempt_with_ticking_clock(&ClientFixture::new(), behaviour).await;
        assert_eq!(
            (attempt.outcome, attempt.duration_ms),
            (WebhookOutcome::TimedOut, 5_000)
        );
        assert_eq!(attempt.response, None);
    }
}

#[tokio::test]
async fn incomplete_body_times_out() {
    let fixture = ClientFixture::new();
    // The head arrives at once, but the body is incomplete.
    let head = Behaviour::Answers("HTTP/1.1 200 OK\r\ncontent-length: 60\r\n\r\nbegun".to_owned());
    let receiver = Receiver::start(&fixture.time, &[head]).await;
    let url = receiver.url("http", "hooks.example");
    let (attempt, ()) = tokio::join!(fixture.post(&url), async {
        receiver.until(|seen| seen.requests.len() == 1).await;
        fixture.time.advance(SignedDuration::from_secs(5));
    });
    assert_eq!(
        (attempt.outcome, attempt.duration_ms),
        (WebhookOutcome::TimedOut, 5_000)
    );
    assert_eq!(attempt.response, None);
    receiver.until(|seen| seen.closed == 1).await;
}

#[tokio::test]
async fn silent_tls_server_times_out() {
    let fixture = ClientFixture::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://127.0.0.1:{}/", listener.local_addr().unwrap().port());
    let (attempt, _stream) = tokio::join!(fixture.post(&url), async {
        let stream = listener.accept().await.unwrap();
        fixture.time.advance(SignedDuration::from_secs(5));
        stream
    });
    assert_eq!(attempt.outcome, WebhookOutcome::TimedOut);
}

#[tokio::test]
async fn response_text_has_no_control_characters() {
    let fixture = ClientFixture::new();
    let body = Behaviour::Answers(answer("500 Oh", "", "a\x00b\x1b[2Jc\u{202e}\r\n"));
    let receiver = Receiver::start(&fixture.time, &[body]).await;
    let attempt = fixture.post(&receiver.url("http", "hooks.example")).await;
    assert_eq!(attempt.response.as_deref(), Some("ab[2Jc\u{202e}\n"));
}

#[tokio::test]
async fn connections_are_reused_within_the_idle_timeout() {
    let fixture = ClientFixture::new();
    let receiver = Receiver::start(&fixture.time, &[ok()]).await;
    let client = fixture.client();
    let url = receiver.url("http", "hooks.example");
    for _ in 0..10 {
        assert_eq!(
            post(&client, &url).await.outcome,
            WebhookOutcome::Delivered { status: 200 }
        );
    }
    assert_eq!(receiver.seen.borrow().connections, 1);
    fixture.time.advance(SignedDuration::from_secs(29));
    post(&client, &url).await;
    assert_eq!(receiver.seen.borrow().connections, 1);
    fixture.time.advance(SignedDuration::from_secs(30));
    post(&client, &url).await;
    assert_eq!(receiver.seen.borrow().connections, 2);
    // Another name of the same receiver uses another connection.
    fixture.names.set("other.example", &["127.0.0.1"]);
    post(&client, &receiver.url("http", "other.example")).await;
    assert_eq!(receiver.seen.borrow().connections, 3);
}

#[tokio::test]
async fn closed_idle_connection_does_not_fail_a_delivery() {
    let fixture = ClientFixture::new();
    let closing = Behaviour::AnswersAndCloses(answer("200 OK", "", "bye"));
    let receiver = Receiver::start(&fixture.time, &[closing]).await;
    let client = fixture.client();
    for count in 1..=10 {
        let attempt = post(&client, &receiver.url("http", "hooks.example")).await;
        assert_eq!(attempt.outcome, WebhookOutcome::Delivered { status: 200 });
        receiver.until(|seen| seen.closed == count).await;
    }
    assert_eq!(receiver.requests().len(), 10);
}

#[tokio::test]
async fn request_is_not_repeated_after_it_was_sent() {
    let fixture = ClientFixture::new();
    let receiver = Receiver::start(&fixture.time, &[ok(), Behaviour::Closes]).await;
    let client = fixture.client();
    post(&client, &receiver.url("http", "hooks.example")).await;
    let attempt = post(&client, &receiver.url("http", "hooks.example")).await;
    assert_eq!(attempt.outcome, WebhookOutcome::ConnectionLost);
    assert_eq!(receiver.requests().len(), 2);
}
