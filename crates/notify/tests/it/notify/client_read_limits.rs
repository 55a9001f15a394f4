//! Limits on the bytes that a delivery attempt reads.

use notify::client::WebhookOutcome;

use crate::notify::common::client_fixture::{ClientFixture, post};
use crate::notify::common::receiver::{Behaviour, Receiver, answer};

#[tokio::test]
async fn large_body_is_not_read_completely() {
    let fixture = ClientFixture::new();
    let receiver = Receiver::start(&fixture.time, &[Behaviour::Floods(100 << 20)]).await;
    let attempt = fixture.post(&receiver.url("http", "hooks.example")).await;
    assert_eq!(attempt.outcome, WebhookOutcome::Delivered { status: 200 });
    assert_eq!(attempt.response, Some("x".repeat(1_024)));
    let seen = receiver.until(|seen| seen.closed == 1).await;
    // This includes bytes in the socket buffers.
    assert!(seen.flooded < 32 << 20, "{} bytes were taken", seen.flooded);
}

/// Returns informational heads with this total number of bytes.
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
async fn informational_heads_count_towards_the_64_kib_limit() {
    let fixture = ClientFixture::new();
    let last = answer("200 OK", "", "");
    let available = 64 * 1024 - last.len();
    for (bytes, expected) in [
        (1_000, WebhookOutcome::Delivered { status: 200 }),
        (available, WebhookOutcome::Delivered { status: 200 }),
        (available + 1, WebhookOutcome::InvalidResponse),
        (1 << 20, WebhookOutcome::InvalidResponse),
    ] {
        let answer = format!("{}{last}", hints(bytes));
        assert_eq!(
            fixture.outcome(Behaviour::Answers(answer)).await,
            expected,
            "{bytes} bytes"
        );
    }
}

#[tokio::test]
async fn endless_informational_heads_are_rejected() {
    for tls in [false, true] {
        let fixture = ClientFixture::new();
        let flood = [Behaviour::Repeats(hints(10_000))];
        let (scheme, receiver) = if tls {
            let server = fixture.authority.server(&["hooks.example"], [2025, 2027]);
            ("https", Receiver::start_tls(&fixture.time, &flood, server).await)
        } else {
            ("http", Receiver::start(&fixture.time, &flood).await)
        };
        let attempt = fixture.post(&receiver.url(scheme, "hooks.example")).await;
        assert_eq!(attempt.outcome, WebhookOutcome::InvalidResponse, "{scheme}");
        receiver.until(|seen| seen.closed == 1).await;
    }
}

#[tokio::test]
async fn head_limit_applies_per_response_on_a_reused_connection() {
    let fixture = ClientFixture::new();
    let hinted = Behaviour::Answers(format!("{}{}", hints(40_000), answer("200 OK", "", "ok")));
    let receiver = Receiver::start(&fixture.time, &[hinted]).await;
    let client = fixture.client();
    for _ in 0..4 {
        let attempt = post(&client, &receiver.url("http", "hooks.example")).await;
        assert_eq!(attempt.outcome, WebhookOutcome::Delivered { status: 200 });
    }
    assert_eq!(receiver.seen.borrow().connections, 1);
}

#[tokio::test]
async fn body_in_one_byte_chunks_is_read_up_to_the_raw_limit() {
    let fixture = ClientFixture::new();
    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let endless = [Behaviour::Repeats(format!("{head}{}", "1\r\nx\r\n".repeat(1 << 20)))];
    let receiver = Receiver::start(&fixture.time, &endless).await;
    let attempt = fixture.post(&receiver.url("http", "hooks.example")).await;
    assert_eq!(attempt.outcome, WebhookOutcome::Delivered { status: 200 });
    assert_eq!(attempt.response, Some("x".repeat(1_024)));
    receiver.until(|seen| seen.closed == 1).await;
}
