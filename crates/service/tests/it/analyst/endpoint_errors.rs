//! Endpoints that are slow, broken, unreachable, or ask for a pause.

use std::sync::Arc;

use futures_util::FutureExt;
use jiff::SignedDuration;
use testkit::stub_server::{StubResponse, StubServer, response_bytes};
use tokio::task::JoinHandle;
use watchlist::analyst::StockAdvice;

use crate::analyst::fixture::{Fixture, TIMEOUT_S, assert_creatable, chat_completion, completion, valid_answer};

fn valid_answer_bytes() -> Vec<u8> {
    response_bytes("200 OK", "", &completion(&valid_answer().to_string()))
}

fn seconds(count: i64) -> SignedDuration {
    SignedDuration::from_secs(count)
}

/// Starts an analysis in the background, and waits for its request.
async fn start_analysis(fixture: &Arc<Fixture>) -> JoinHandle<StockAdvice> {
    let asking = tokio::spawn({
        let fixture = Arc::clone(fixture);
        async move { fixture.advise().await }
    });
    let _ = fixture.endpoint.next_request().await;
    asking
}

#[test]
fn slow_answer_is_used_until_the_timeout() {
    testkit::run(async {
        let fixture = Arc::new(Fixture::new(StubResponse::Held(valid_answer_bytes())).await);
        let slow = start_analysis(&fixture).await;
        fixture.app.clock.advance(seconds(TIMEOUT_S - 1));
        fixture.endpoint.release_response();
        Fixture::assert_model(&slow.await.unwrap());

        fixture.endpoint.set_response(StubResponse::NoResponse);
        let too_slow = start_analysis(&fixture).await;
        fixture.app.clock.advance(seconds(TIMEOUT_S));
        let advised = too_slow.await.unwrap();
        Fixture::assert_rules(&advised, "timed_out");
        fixture.endpoint.wait_for_disconnect().await;
        assert_creatable(&fixture.app, &fixture.ann, &advised).await;
    });
}

#[test]
fn malformed_http_response_is_no_answer() {
    testkit::run(async {
        let fixture = Fixture::new(StubResponse::Bytes(Vec::new())).await;
        let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{\"choices\": [".to_vec();
        let cases = [
            ("closes", StubResponse::Bytes(Vec::new())),
            ("is no HTTP", StubResponse::Bytes(b"SSH-2.0-OpenSSH_9.9\r\n".to_vec())),
            ("is cut off in its body", StubResponse::Bytes(cut)),
            (
                "is cut off in its head",
                StubResponse::Bytes(b"HTTP/1.1 200 OK\r\nContent-".to_vec()),
            ),
        ];
        for (case, say) in cases {
            fixture.endpoint.set_response(say);
            let advised = fixture.advise().await;
            assert_eq!(
                advised.fallback.as_ref().map(|why| why.name()),
                Some("unreachable"),
                "{case}"
            );
            Fixture::assert_rules(&advised, "unreachable");
        }
    });
}

#[test]
fn unreachable_endpoint_differs_from_a_bad_answer() {
    testkit::run(async {
        let port = testkit::RefusingPort::bind();
        let fixture = Fixture::with(StubResponse::NoResponse, |model| {
            model.base_url = format!("http://{}/v1", port.address())
        })
        .await;
        Fixture::assert_rules(&fixture.advise().await, "unreachable");
    });
}

#[test]
fn oversized_body_is_not_read_completely() {
    testkit::run(async {
        let huge = completion(&"x".repeat(300 * 1024));
        let fixture = Fixture::new(StubResponse::complete("200 OK", "", &huge)).await;
        Fixture::assert_rules(&fixture.advise().await, "bad_answer");
        let endless = [
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec(),
            b"10000\r\n"
                .iter()
                .copied()
                .chain([b' '; 0x10000])
                .chain(*b"\r\n")
                .collect::<Vec<_>>()
                .repeat(8),
        ];
        fixture.endpoint.set_response(StubResponse::Bytes(endless.concat()));
        Fixture::assert_rules(&fixture.advise().await, "bad_answer");
    });
}

#[test]
fn error_status_determines_the_fallback_reason() {
    testkit::run(async {
        let fixture = Fixture::new(StubResponse::NoResponse).await;
        for (status, why) in [
            ("400 Bad Request", "http_error"),
            ("401 Unauthorized", "not_authenticated"),
            ("403 Forbidden", "not_authenticated"),
            ("404 Not Found", "http_error"),
            ("429 Too Many Requests", "rate_limited"),
            ("500 Internal Server Error", "http_error"),
            ("503 Service Unavailable", "http_error"),
        ] {
            // A valid answer with an error status is not used.
            fixture.endpoint.set_response(StubResponse::complete(
                status,
                "",
                &completion(&valid_answer().to_string()),
            ));
            let advised = fixture.advise().await;
            assert_eq!(fixture.endpoint.pending_requests().await, 1, "{status}");
            assert_eq!(advised.fallback.as_ref().map(|fell| fell.name()), Some(why), "{status}");
            Fixture::assert_rules(&advised, why);
        }
    });
}

#[test]
fn retry_after_pauses_requests_to_the_endpoint() {
    testkit::run(async {
        let fixture = Fixture::new(StubResponse::complete(
            "429 Too Many Requests",
            "Retry-After: 120\r\n",
            "{}",
        ))
        .await;
        Fixture::assert_rules(&fixture.advise().await, "rate_limited");
        assert_eq!(fixture.endpoint.pending_requests().await, 1);
        fixture.endpoint.set_response(chat_completion(&valid_answer()));
        fixture.app.clock.advance(seconds(119));
        Fixture::assert_rules(&fixture.advise().await, "resting");
        assert_eq!(fixture.endpoint.pending_requests().await, 0);
        fixture.app.clock.advance(seconds(1));
        Fixture::assert_model(&fixture.advise().await);

        // The pause is at most an hour.
        fixture.endpoint.set_response(StubResponse::complete(
            "503 Service Unavailable",
            "Retry-After: 99999999\r\n",
            "",
        ));
        Fixture::assert_rules(&fixture.advise().await, "http_error");
        fixture.endpoint.set_response(chat_completion(&valid_answer()));
        fixture.app.clock.advance(seconds(3_599));
        Fixture::assert_rules(&fixture.advise().await, "resting");
        fixture.app.clock.advance(seconds(1));
        Fixture::assert_model(&fixture.advise().await);
    });
}

#[test]
fn redirect_is_not_followed() {
    testkit::run(async {
        let elsewhere = StubServer::start(chat_completion(&valid_answer())).await;
        for status in [
            "301 Moved Permanently",
            "302 Found",
            "307 Temporary Redirect",
            "308 Permanent Redirect",
        ] {
            let to = format!("Location: {}/v1/chat/completions\r\n", elsewhere.origin());
            let fixture = Fixture::new(StubResponse::complete(status, &to, "")).await;
            Fixture::assert_rules(&fixture.advise().await, "http_error");
        }
        assert_eq!(elsewhere.pending_requests().await, 0);
    });
}

#[test]
fn cancelled_wait_falls_back_to_the_rules_and_closes_the_connection() {
    testkit::run(async {
        let fixture = Arc::new(Fixture::new(StubResponse::NoResponse).await);
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let waiting = tokio::spawn({
            let fixture = Arc::clone(&fixture);
            async move {
                let request = fixture.request().await;
                let stop = async { drop(stopped.await) };
                fixture.app.service.analysis.advise(request, stop).await.unwrap()
            }
        });
        let _ = fixture.endpoint.next_request().await;
        stop.send(()).unwrap();
        Fixture::assert_rules(&waiting.await.unwrap(), "stopping");
        fixture.endpoint.wait_for_disconnect().await;
    });
}

/// On one thread, so that no permit is released before the check.
#[tokio::test]
async fn questions_wait_for_their_turn_and_not_for_longer_than_an_answer_may_take() {
    let fixture = Arc::new(Fixture::new(StubResponse::NoResponse).await);
    let mut asked = Vec::new();
    for _ in 0..8 {
        asked.push(start_analysis(&fixture).await);
    }
    let look = fixture
        .app
        .service
        .analysis
        .analyze_by_rules(fixture.request().await)
        .await
        .unwrap();
    let mut ninth = Box::pin(fixture.app.service.analysis.advise_on(look, std::future::pending()));
    assert!((&mut ninth).now_or_never().is_none(), "it waits");
    fixture.app.clock.advance(seconds(TIMEOUT_S));
    Fixture::assert_rules(&ninth.now_or_never().unwrap(), "busy");
    for one in asked {
        Fixture::assert_rules(&one.await.unwrap(), "timed_out");
    }
    assert_eq!(
        fixture.endpoint.pending_requests().await,
        0,
        "what waited in vain was not asked"
    );
}
