//! One attempt against receivers of every kind.

use std::time::Duration;

use bytes::Bytes;
use jiff::SignedDuration;
use notify::client::{Attempt, Outcome, Signing, WebhookJob, WebhookTransport};
use notify::message::{ALERT_TRIGGERED, test_data, webhook_body};
use notify::signature::{Form, HeaderStyle, Secret, service, standard};
use notify::time::Time;
use tokio::net::TcpListener;
use uuid::Uuid;

use crate::common::receiver::{Behaviour, Received, Receiver, answer, ok};
use crate::common::world::{World, post};

#[tokio::test]
async fn a_signed_delivery_arrives_and_verifies() {
    let world = World::new();
    let receiver = Receiver::start(&world.time, &[ok()]).await;
    let secret = Secret::from_random([7; 32]);
    let id = Uuid::from_u128(7);
    let job = WebhookJob {
        account: Uuid::from_u128(9),
        url: receiver.url("http", "hooks.example"),
        event: ALERT_TRIGGERED,
        generated_at: world.time.now(),
        body: webhook_body(id, ALERT_TRIGGERED, world.time.now(), &test_data(id, world.time.now())),
        signing: Signing::Signed {
            secrets: secret.clone().into(),
            form: Form::Timestamped,
        },
    };
    world.time.advance(SignedDuration::from_secs(700));
    let transport = WebhookTransport::new(world.client(), HeaderStyle::default());
    let attempt = transport.deliver(id, &job).await;
    let expected = Attempt {
        url: Some(job.url.clone()),
        at: world.time.now(),
        duration_ms: 0,
        outcome: Outcome::Delivered { status: 200 },
        response: Some("ok".to_owned()),
    };
    assert_eq!(attempt, expected);
    let Received { line, headers, body } = receiver.requests().remove(0);
    assert_eq!(line, "POST /hook?a=1 HTTP/1.1");
    assert_eq!(body, job.body);
    assert_eq!(headers["host"], format!("hooks.example:{}", receiver.address.port()));
    assert_eq!(headers["content-type"], "application/json");
    assert!(headers["user-agent"].starts_with("Bellwether/"));
    let timestamp = &headers["x-service-timestamp"];
    assert_eq!(timestamp, "2026-03-06T14:30:00.000Z");
    for signature in [&headers["x-service-signature"], &headers["x-stockalert-signature"]] {
        assert!(service::verify(
            Form::Timestamped,
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
        world.time.now(),
    )
    .unwrap();
}

#[tokio::test]
async fn an_unsigned_delivery_has_no_signature_at_all() {
    let world = World::new();
    let receiver = Receiver::start(&world.time, &[ok()]).await;
    let job = WebhookJob {
        account: Uuid::from_u128(9),
        url: receiver.url("http", "hooks.example"),
        event: ALERT_TRIGGERED,
        generated_at: world.time.now(),
        body: Bytes::from_static(b"{}"),
        signing: Signing::Unsigned,
    };
    WebhookTransport::new(world.client(), HeaderStyle::default())
        .deliver(Uuid::nil(), &job)
        .await;
    let mut names: Vec<_> = receiver.requests().remove(0).headers.into_keys().collect();
    names.sort();
    assert_eq!(names, ["content-length", "content-type", "host", "user-agent"]);
}

#[tokio::test]
async fn each_status_has_its_outcome() {
    let world = World::new();
    let answered = |status, seconds: Option<u64>| Outcome::Answered {
        status,
        retry_after: seconds.map(Duration::from_secs),
    };
    for (status, headers, expected) in [
        ("200 OK", "", Outcome::Delivered { status: 200 }),
        ("204 No Content", "", Outcome::Delivered { status: 204 }),
        ("299 Fine", "retry-after: 7\r\n", Outcome::Delivered { status: 299 }),
        ("300 Choices", "", Outcome::Redirected { status: 300 }),
        ("304 Not Modified", "", Outcome::Redirected { status: 304 }),
        ("400 Bad Request", "", answered(400, None)),
        ("404 Not Found", "", answered(404, None)),
        ("410 Gone", "", Outcome::Gone),
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
            world.outcome(Behaviour::Answers(answer(status, headers, ""))).await,
            expected,
            "{status}"
        );
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let world = World::new();
    let behind = Receiver::start(&world.time, &[ok()]).await;
    for status in [
        "301 Moved",
        "302 Found",
        "303 See Other",
        "307 Temporary",
        "308 Permanent",
    ] {
        let location = format!("location: {}\r\n", behind.url("http", "127.0.0.1"));
        let outcome = world.outcome(Behaviour::Answers(answer(status, &location, ""))).await;
        assert_eq!(outcome.name(), "redirected");
    }
    assert_eq!(behind.seen.borrow().connections, 0);
}

#[tokio::test]
async fn what_is_no_whole_answer_is_none() {
    let world = World::new();
    for (behaviour, expected) in [
        (Behaviour::Closes, Outcome::ConnectionLost),
        (Behaviour::Resets, Outcome::ConnectionLost),
        (
            Behaviour::AnswersAndCloses("HTTP/1.1 200 OK\r\n".to_owned()),
            Outcome::ConnectionLost,
        ),
        (
            Behaviour::AnswersAndCloses("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok".to_owned()),
            Outcome::ConnectionLost,
        ),
        (
            Behaviour::Answers("220 mail.example ESMTP\r\n\r\n".to_owned()),
            Outcome::BadAnswer,
        ),
        (
            Behaviour::Answers("{\"status\": 200}\r\n\r\n".to_owned()),
            Outcome::BadAnswer,
        ),
        (
            Behaviour::Answers(format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "x".repeat(200_000))),
            Outcome::BadAnswer,
        ),
    ] {
        assert_eq!(world.outcome(behaviour.clone()).await, expected, "{behaviour:?}");
    }
}

#[tokio::test]
async fn an_answer_without_a_length_ends_with_its_connection() {
    let world = World::new();
    let text = "HTTP/1.1 200 OK\r\n\r\nfine".to_owned();
    let receiver = Receiver::start(&world.time, &[Behaviour::AnswersAndCloses(text)]).await;
    let attempt = world.post(&receiver.url("http", "hooks.example")).await;
    assert_eq!(
        (attempt.outcome, attempt.response.as_deref()),
        (Outcome::Delivered { status: 200 }, Some("fine"))
    );
}

#[tokio::test]
async fn who_is_not_there_has_failed_to_connect() {
    let world = World::new();
    let port = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap().port()
    };
    let attempt = world.post(&format!("http://127.0.0.1:{port}/")).await;
    assert_eq!(attempt.outcome, Outcome::ConnectionFailed);
    let attempt = world.post("http://nobody.example/").await;
    assert_eq!(attempt.outcome, Outcome::NameNotFound);
}

#[tokio::test]
async fn an_address_that_was_stored_as_a_number_is_called_in_its_normal_form() {
    let world = World::new();
    let receiver = Receiver::start(&world.time, &[ok()]).await;
    let attempt = world.post(&receiver.url("http", "2130706433")).await;
    assert_eq!(attempt.outcome, Outcome::Delivered { status: 200 });
    let host = format!("127.0.0.1:{}", receiver.address.port());
    assert_eq!(receiver.requests().remove(0).headers["host"], host);
}

#[tokio::test]
async fn the_first_address_that_answers_is_taken() {
    let world = World::new();
    let receiver = Receiver::start(&world.time, &[ok()]).await;
    // Nobody listens on the others; the test's rules would let them all pass.
    world
        .names
        .set("hooks.example", &["127.0.0.9", "127.0.0.8", "127.0.0.1"]);
    let attempt = world.post(&receiver.url("http", "hooks.example")).await;
    assert_eq!(attempt.outcome, Outcome::Delivered { status: 200 });
}

/// The attempt, and the time that it took by the world's clock, which is set on second by second once the receiver has
/// seen the request.
async fn in_time(world: &World, behaviour: Behaviour) -> Attempt {
    let receiver = Receiver::start(&world.time, std::slice::from_ref(&behaviour)).await;
    let url = receiver.url("http", "hooks.example");
    let (attempt, ()) = tokio::join!(world.post(&url), async {
        for second in 1..=5 {
            let drips = if matches!(behaviour, Behaviour::Drips(_)) {
                second
            } else {
                0
            };
            receiver
                .until(|seen| seen.requests.len() == 1 && seen.drips >= drips)
                .await;
            world.time.advance(SignedDuration::from_secs(1));
        }
    });
    attempt
}

#[tokio::test]
async fn one_deadline_spans_the_whole_exchange() {
    let slow_head = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_owned();
    let hint = "HTTP/1.1 103 Early Hints\r\n\r\n".to_owned();
    for behaviour in [Behaviour::Hangs, Behaviour::Drips(slow_head), Behaviour::Drips(hint)] {
        let attempt = in_time(&World::new(), behaviour).await;
        assert_eq!((attempt.outcome, attempt.duration_ms), (Outcome::TimedOut, 5_000));
        assert_eq!(attempt.response, None);
    }
}

#[tokio::test]
async fn a_body_that_drips_is_within_the_deadline_or_late() {
    let world = World::new();
    // The head comes at once, the body a byte a second.
    let head = Behaviour::Answers("HTTP/1.1 200 OK\r\ncontent-length: 60\r\n\r\nbegun".to_owned());
    let receiver = Receiver::start(&world.time, &[head]).await;
    let url = receiver.url("http", "hooks.example");
    let (attempt, ()) = tokio::join!(world.post(&url), async {
        receiver.until(|seen| seen.requests.len() == 1).await;
        world.time.advance(SignedDuration::from_secs(5));
    });
    assert_eq!((attempt.outcome, attempt.duration_ms), (Outcome::TimedOut, 5_000));
    assert_eq!(attempt.response, None);
    receiver.until(|seen| seen.closed == 1).await;
}

#[tokio::test]
async fn who_accepts_and_does_not_speak_tls_is_waited_for_no_longer() {
    let world = World::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://127.0.0.1:{}/", listener.local_addr().unwrap().port());
    let (attempt, _stream) = tokio::join!(world.post(&url), async {
        let stream = listener.accept().await.unwrap();
        world.time.advance(SignedDuration::from_secs(5));
        stream
    });
    assert_eq!(attempt.outcome, Outcome::TimedOut);
}

#[tokio::test]
async fn a_hundred_megabytes_are_not_read() {
    let world = World::new();
    let receiver = Receiver::start(&world.time, &[Behaviour::Floods(100 << 20)]).await;
    let attempt = world.post(&receiver.url("http", "hooks.example")).await;
    assert_eq!(attempt.outcome, Outcome::Delivered { status: 200 });
    assert_eq!(attempt.response, Some("x".repeat(1_024)));
    let seen = receiver.until(|seen| seen.closed == 1).await;
    // What lies in the machine's own buffers was sent, too.
    assert!(seen.flooded < 32 << 20, "{} bytes were taken", seen.flooded);
}

/// Informational heads of so many bytes in all, then a final one.
fn hints(bytes: usize) -> String {
    let hint = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n";
    let count = bytes / hint.len() - 1;
    let rest = format!(
        "HTTP/1.1 103 Early Hints\r\nx: {}\r\n\r\n",
        "x".repeat(bytes - count * hint.len() - 33)
    );
    let hints = format!("{}{rest}", hint.repeat(count));
    assert_eq!(hints.len(), bytes);
    hints
}

#[tokio::test]
async fn heads_before_the_final_one_count_with_it_towards_64_kib() {
    let world = World::new();
    let last = answer("200 OK", "", "");
    let room = 64 * 1024 - last.len();
    for (bytes, expected) in [
        (1_000, Outcome::Delivered { status: 200 }),
        (room, Outcome::Delivered { status: 200 }),
        (room + 1, Outcome::BadAnswer),
        (1 << 20, Outcome::BadAnswer),
    ] {
        let answer = format!("{}{last}", hints(bytes));
        assert_eq!(
            world.outcome(Behaviour::Answers(answer)).await,
            expected,
            "{bytes} bytes"
        );
    }
}

#[tokio::test]
async fn heads_before_the_final_one_are_not_read_for_ever() {
    for tls in [false, true] {
        let world = World::new();
        let flood = [Behaviour::Repeats(hints(10_000))];
        let (scheme, receiver) = if tls {
            let server = world.authority.server(&["hooks.example"], [2025, 2027]);
            ("https", Receiver::start_tls(&world.time, &flood, server).await)
        } else {
            ("http", Receiver::start(&world.time, &flood).await)
        };
        let attempt = world.post(&receiver.url(scheme, "hooks.example")).await;
        assert_eq!(attempt.outcome, Outcome::BadAnswer, "{scheme}");
        receiver.until(|seen| seen.closed == 1).await;
    }
}

#[tokio::test]
async fn each_answer_on_a_kept_connection_has_64_kib_for_its_heads() {
    let world = World::new();
    let hinted = Behaviour::Answers(format!("{}{}", hints(40_000), answer("200 OK", "", "ok")));
    let receiver = Receiver::start(&world.time, &[hinted]).await;
    let client = world.client();
    for _ in 0..4 {
        let attempt = post(&client, &receiver.url("http", "hooks.example")).await;
        assert_eq!(attempt.outcome, Outcome::Delivered { status: 200 });
    }
    assert_eq!(receiver.seen.borrow().connections, 1);
}

#[tokio::test]
async fn a_body_in_chunks_of_one_byte_is_read_as_far_as_its_framing_lets_it() {
    let world = World::new();
    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let endless = [Behaviour::Repeats(format!("{head}{}", "1\r\nx\r\n".repeat(1 << 20)))];
    let receiver = Receiver::start(&world.time, &endless).await;
    let attempt = world.post(&receiver.url("http", "hooks.example")).await;
    assert_eq!(attempt.outcome, Outcome::Delivered { status: 200 });
    assert_eq!(attempt.response, Some("x".repeat(1_024)));
    receiver.until(|seen| seen.closed == 1).await;
}

#[tokio::test]
async fn nothing_of_an_answer_can_do_harm_where_it_is_shown() {
    let world = World::new();
    let body = Behaviour::Answers(answer("500 Oh", "", "a\x00b\x1b[2Jc\u{202e}\r\n"));
    let receiver = Receiver::start(&world.time, &[body]).await;
    let attempt = world.post(&receiver.url("http", "hooks.example")).await;
    assert_eq!(attempt.response.as_deref(), Some("ab[2Jc\u{202e}\n"));
}

#[tokio::test]
async fn connections_are_used_again_while_they_are_fresh() {
    let world = World::new();
    let receiver = Receiver::start(&world.time, &[ok()]).await;
    let client = world.client();
    let url = receiver.url("http", "hooks.example");
    for _ in 0..10 {
        assert_eq!(post(&client, &url).await.outcome, Outcome::Delivered { status: 200 });
    }
    assert_eq!(receiver.seen.borrow().connections, 1);
    world.time.advance(SignedDuration::from_secs(29));
    post(&client, &url).await;
    assert_eq!(receiver.seen.borrow().connections, 1);
    world.time.advance(SignedDuration::from_secs(30));
    post(&client, &url).await;
    assert_eq!(receiver.seen.borrow().connections, 2);
    // The same receiver under another name is another one.
    world.names.set("other.example", &["127.0.0.1"]);
    post(&client, &receiver.url("http", "other.example")).await;
    assert_eq!(receiver.seen.borrow().connections, 3);
}

#[tokio::test]
async fn a_connection_that_the_receiver_has_closed_costs_no_delivery() {
    let world = World::new();
    let closing = Behaviour::AnswersAndCloses(answer("200 OK", "", "bye"));
    let receiver = Receiver::start(&world.time, &[closing]).await;
    let client = world.client();
    for count in 1..=10 {
        let attempt = post(&client, &receiver.url("http", "hooks.example")).await;
        assert_eq!(attempt.outcome, Outcome::Delivered { status: 200 });
        receiver.until(|seen| seen.closed == count).await;
    }
    assert_eq!(receiver.requests().len(), 10);
}

#[tokio::test]
async fn a_receiver_that_closes_in_the_midst_is_not_asked_twice_in_one_attempt() {
    let world = World::new();
    let receiver = Receiver::start(&world.time, &[ok(), Behaviour::Closes]).await;
    let client = world.client();
    post(&client, &receiver.url("http", "hooks.example")).await;
    let attempt = post(&client, &receiver.url("http", "hooks.example")).await;
    assert_eq!(attempt.outcome, Outcome::ConnectionLost);
    assert_eq!(receiver.requests().len(), 2);
}
