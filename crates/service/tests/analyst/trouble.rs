//! What an endpoint does: slow, broken, gone, in a hurry to be left alone.

use std::sync::Arc;

use futures_util::FutureExt;
use jiff::SignedDuration;
use service::analyst::Advised;
use testkit::stub_server::{StubResponse, StubServer, response_bytes};
use tokio::task::JoinHandle;

use crate::stage::{Stage, TIMEOUT_S, assert_usable, completion, good, says};

fn good_bytes() -> Vec<u8> {
    response_bytes("200 OK", "", &completion(&good().to_string()))
}

fn seconds(count: i64) -> SignedDuration {
    SignedDuration::from_secs(count)
}

/// Asks in the background, and is asked.
async fn asking(stage: &Arc<Stage>) -> JoinHandle<Advised> {
    let asking = tokio::spawn({
        let stage = Arc::clone(stage);
        async move { stage.advise().await }
    });
    let _ = stage.endpoint.next_request().await;
    asking
}

#[test]
fn a_model_that_is_in_time_is_waited_for_and_one_that_is_not_is_hung_up_on() {
    testkit::run(async {
        let stage = Arc::new(Stage::of(StubResponse::Held(good_bytes())).await);
        let slow = asking(&stage).await;
        stage.world.clock.advance(seconds(TIMEOUT_S - 1));
        stage.endpoint.release_response();
        Stage::assert_model(&slow.await.unwrap());

        stage.endpoint.set_response(StubResponse::NoResponse);
        let too_slow = asking(&stage).await;
        stage.world.clock.advance(seconds(TIMEOUT_S));
        let advised = too_slow.await.unwrap();
        Stage::assert_rules(&advised, "timed_out");
        stage.endpoint.wait_for_disconnect().await;
        assert_usable(&stage.world, &stage.ann, &advised).await;
    });
}

#[test]
fn what_is_no_answer_is_none() {
    testkit::run(async {
        let stage = Stage::of(StubResponse::Bytes(Vec::new())).await;
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
            stage.endpoint.set_response(say);
            let advised = stage.advise().await;
            assert_eq!(
                advised.fell_back.as_ref().map(|why| why.name()),
                Some("unreachable"),
                "{case}"
            );
            Stage::assert_rules(&advised, "unreachable");
        }
    });
}

#[test]
fn nobody_at_the_address_is_told_apart_from_a_bad_answer() {
    testkit::run(async {
        // Nobody listens there any more.
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        let stage = Stage::with(StubResponse::NoResponse, |model| {
            model.base_url = format!("http://{port}/v1")
        })
        .await;
        Stage::assert_rules(&stage.advise().await, "unreachable");
    });
}

#[test]
fn a_body_that_is_too_large_is_not_read_to_its_end() {
    testkit::run(async {
        let huge = completion(&"x".repeat(300 * 1024));
        let stage = Stage::of(StubResponse::complete("200 OK", "", &huge)).await;
        Stage::assert_rules(&stage.advise().await, "bad_answer");
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
        stage.endpoint.set_response(StubResponse::Bytes(endless.concat()));
        Stage::assert_rules(&stage.advise().await, "bad_answer");
    });
}

#[test]
fn a_status_says_what_is_the_matter() {
    testkit::run(async {
        let stage = Stage::of(StubResponse::NoResponse).await;
        for (status, why) in [
            ("400 Bad Request", "http_error"),
            ("401 Unauthorized", "not_authenticated"),
            ("403 Forbidden", "not_authenticated"),
            ("404 Not Found", "http_error"),
            ("429 Too Many Requests", "rate_limited"),
            ("500 Internal Server Error", "http_error"),
            ("503 Service Unavailable", "http_error"),
        ] {
            // A good answer under a bad status is none.
            stage
                .endpoint
                .set_response(StubResponse::complete(status, "", &completion(&good().to_string())));
            let advised = stage.advise().await;
            assert_eq!(stage.endpoint.pending_requests().await, 1, "{status}");
            assert_eq!(
                advised.fell_back.as_ref().map(|fell| fell.name()),
                Some(why),
                "{status}"
            );
            Stage::assert_rules(&advised, why);
        }
    });
}

#[test]
fn an_endpoint_that_asks_to_be_left_alone_is_for_so_long() {
    testkit::run(async {
        let stage = Stage::of(StubResponse::complete(
            "429 Too Many Requests",
            "Retry-After: 120\r\n",
            "{}",
        ))
        .await;
        Stage::assert_rules(&stage.advise().await, "rate_limited");
        assert_eq!(stage.endpoint.pending_requests().await, 1);
        stage.endpoint.set_response(says(&good()));
        stage.world.clock.advance(seconds(119));
        Stage::assert_rules(&stage.advise().await, "resting");
        assert_eq!(stage.endpoint.pending_requests().await, 0);
        stage.world.clock.advance(seconds(1));
        Stage::assert_model(&stage.advise().await);

        // However long it asks for, an hour is the most.
        stage.endpoint.set_response(StubResponse::complete(
            "503 Service Unavailable",
            "Retry-After: 99999999\r\n",
            "",
        ));
        Stage::assert_rules(&stage.advise().await, "http_error");
        stage.endpoint.set_response(says(&good()));
        stage.world.clock.advance(seconds(3_599));
        Stage::assert_rules(&stage.advise().await, "resting");
        stage.world.clock.advance(seconds(1));
        Stage::assert_model(&stage.advise().await);
    });
}

#[test]
fn a_redirect_is_not_followed_and_the_key_goes_nowhere_else() {
    testkit::run(async {
        let elsewhere = StubServer::start(says(&good())).await;
        for status in [
            "301 Moved Permanently",
            "302 Found",
            "307 Temporary Redirect",
            "308 Permanent Redirect",
        ] {
            let to = format!("Location: {}/v1/chat/completions\r\n", elsewhere.origin());
            let stage = Stage::of(StubResponse::complete(status, &to, "")).await;
            Stage::assert_rules(&stage.advise().await, "http_error");
        }
        assert_eq!(elsewhere.pending_requests().await, 0);
    });
}

#[test]
fn whoever_wants_to_wait_no_longer_gets_the_rules_and_the_model_is_hung_up_on() {
    testkit::run(async {
        let stage = Arc::new(Stage::of(StubResponse::NoResponse).await);
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let waiting = tokio::spawn({
            let stage = Arc::clone(&stage);
            async move {
                let wish = stage.wish().await;
                let stop = async { drop(stopped.await) };
                stage.world.service.analysis.advise(wish, stop).await.unwrap()
            }
        });
        let _ = stage.endpoint.next_request().await;
        stop.send(()).unwrap();
        Stage::assert_rules(&waiting.await.unwrap(), "stopping");
        stage.endpoint.wait_for_disconnect().await;
    });
}

/// On one thread, so that nobody gives a turn up before we look.
#[tokio::test]
async fn questions_wait_for_their_turn_and_not_for_longer_than_an_answer_may_take() {
    let stage = Arc::new(Stage::of(StubResponse::NoResponse).await);
    let mut asked = Vec::new();
    for _ in 0..8 {
        asked.push(asking(&stage).await);
    }
    let look = stage.world.service.analysis.look_at(stage.wish().await).await.unwrap();
    let mut ninth = Box::pin(stage.world.service.analysis.advise_on(look, std::future::pending()));
    assert!((&mut ninth).now_or_never().is_none(), "it waits");
    stage.world.clock.advance(seconds(TIMEOUT_S));
    Stage::assert_rules(&ninth.now_or_never().unwrap(), "busy");
    for one in asked {
        Stage::assert_rules(&one.await.unwrap(), "timed_out");
    }
    assert_eq!(
        stage.endpoint.pending_requests().await,
        0,
        "what waited in vain was not asked"
    );
}
