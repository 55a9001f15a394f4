//! Rules for every channel: addresses, redirects, sizes, timeouts and secrets.

use notify::channels::{ChannelJob, ChannelTarget};
use notify::dispatcher::Transport;
use notify::message_attempt::MessageOutcome;
use notify::schedule::{AttemptReport, AttemptResult};
use testkit::RefusingPort;
use uuid::Uuid;

use super::common::{ChannelFixture, NewTarget, OWNER, RETRIED, TIMEOUT, attempt, message, secret_url};
use super::{apprise, discord, ntfy, pushover, slack, teams, telegram, web_push};
use crate::notify::common::policy_allowing;
use crate::notify::common::receiver::{Behaviour, Receiver, answer};

/// The channels whose URLs users choose.
const USER_URL_CHANNELS: [NewTarget; 6] = [
    slack::target,
    discord::target,
    teams::target,
    ntfy::target,
    apprise::target,
    web_push::target,
];
/// The channels whose base URLs the operator chooses.
const OPERATOR_CHANNELS: [NewTarget; 2] = [telegram::target, pushover::target];

fn all() -> impl Iterator<Item = NewTarget> {
    USER_URL_CHANNELS.into_iter().chain(OPERATOR_CHANNELS)
}

#[tokio::test]
async fn private_address_is_refused_on_each_attempt() {
    for new_target in USER_URL_CHANNELS {
        let fixture = ChannelFixture::new();
        let server = fixture.server(&[Behaviour::Answers(answer("200 OK", "", "ok"))]).await;
        // The name is permitted, and resolves to this machine, which is not.
        let client = fixture.client_with(&server, policy_allowing(&["10.0.0.0/8"]));
        for url in [
            secret_url(&server),
            format!("https://{}/secret-path-0123", server.address),
        ] {
            let target = new_target(&url);
            let found = client.send(OWNER, &target, &message()).await;
            assert_eq!(found.attempt.outcome, MessageOutcome::ConnectionFailed, "{target:?}");
            assert_eq!(
                (found.result(), found.http_status),
                (AttemptResult::Failed { not_before: None }, None)
            );
            let detail = found.attempt.detail.unwrap();
            assert!(
                detail.starts_with("The address of the channel is not public"),
                "{detail}"
            );
        }
        assert_eq!(server.seen.borrow().connections, 0);
    }
}

#[tokio::test]
async fn redirect_is_not_followed() {
    for new_target in all() {
        for (status, outcome, result) in [
            ("301 Moved Permanently", "refused", AttemptResult::Refused),
            ("308 Permanent Redirect", "refused", AttemptResult::Refused),
            ("302 Found", "bad_answer", RETRIED),
            ("307 Temporary Redirect", "bad_answer", RETRIED),
        ] {
            let fixture = ChannelFixture::new();
            let behind = fixture.server(&[Behaviour::Answers(answer("200 OK", "", "ok"))]).await;
            let location = format!("Location: http://{}/\r\n", behind.address);
            let server = fixture
                .server(&[Behaviour::Answers(answer(status, &location, ""))])
                .await;
            let target = new_target(&secret_url(&server));
            let found = fixture.client(&server).send(OWNER, &target, &message()).await;
            assert_eq!(
                (found.attempt.outcome.name(), found.result()),
                (outcome, result),
                "{target:?} {status}"
            );
            assert_eq!(behind.seen.borrow().connections, 0);
        }
    }
}

#[tokio::test]
async fn oversized_response_counts_by_its_status() {
    let long = "x".repeat(100_000);
    for new_target in all() {
        let found = attempt(new_target, Behaviour::Answers(answer("200 OK", "", &long)), &message()).await;
        assert_eq!(found.result(), AttemptResult::Delivered);
        assert_eq!(found.attempt.provider_id, None);
        let found = attempt(new_target, Behaviour::Answers(answer("500 Oh", "", &long)), &message()).await;
        assert_eq!((found.attempt.outcome.code(), found.attempt.detail), (Some(500), None));
        let found = attempt(new_target, Behaviour::Answers(answer("400 Bad", "", &long)), &message()).await;
        assert_eq!(found.attempt.outcome, MessageOutcome::Refused { code: 400 });
    }
}

#[tokio::test]
async fn endless_response_is_not_read_completely() {
    for new_target in all() {
        let fixture = ChannelFixture::new();
        let server = fixture.server(&[Behaviour::Floods(100 << 20)]).await;
        let target = new_target(&secret_url(&server));
        let found = fixture.client(&server).send(OWNER, &target, &message()).await;
        assert_eq!(found.result(), AttemptResult::Delivered);
        let seen = server.until(|seen| seen.closed == 1).await;
        assert!(seen.flooded < 32 << 20, "{} bytes were taken", seen.flooded);
    }
}

#[tokio::test]
async fn slow_server_times_out() {
    for new_target in all() {
        let fixture = ChannelFixture::new();
        let server = fixture.server(&[Behaviour::Hangs]).await;
        let client = fixture.client(&server);
        let target = new_target(&secret_url(&server));
        let message = message();
        let (found, ()) = tokio::join!(client.send(OWNER, &target, &message), async {
            server.until(|seen| seen.requests.len() == 1).await;
            fixture.clients.time.advance(TIMEOUT);
        });
        assert_eq!(
            (found.attempt.outcome, found.attempt.duration_ms),
            (MessageOutcome::TimedOut, 5_000)
        );
    }
}

#[tokio::test]
async fn unreachable_server_has_a_named_outcome() {
    for new_target in USER_URL_CHANNELS {
        let fixture = ChannelFixture::new();
        let port = RefusingPort::bind();
        let server = fixture.server(&[Behaviour::Closes]).await;
        let client = fixture.client(&server);
        for (url, expected) in [
            (
                format!("http://{}/secret-path-0123", port.address()),
                "connection_failed",
            ),
            ("http://nobody.example/secret-path-0123".to_owned(), "name_not_found"),
            (secret_url(&server), "connection_lost"),
        ] {
            let found = client.send(OWNER, &new_target(&url), &message()).await;
            assert_eq!((found.attempt.outcome.name(), found.result()), (expected, RETRIED));
        }
    }
    for new_target in OPERATOR_CHANNELS {
        let found = attempt(new_target, Behaviour::Closes, &message()).await;
        assert_eq!(
            (found.attempt.outcome.name(), found.result()),
            ("connection_lost", RETRIED)
        );
    }
}

/// Returns the secrets of a channel of these tests.
fn secrets(target: &ChannelTarget) -> &'static [&'static str] {
    match target {
        ChannelTarget::Ntfy(_) => &["tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2"],
        ChannelTarget::Telegram(_) => &["ABC-DEF1234ghIkl-zyx57W2v1u123ew11"],
        ChannelTarget::Pushover(_) => &["uQiRzpo4DXghDmr9QzzfQu27cmVRsG", "KzGDORePKggMaC0QOYAMyEEuzJnyUi"],
        ChannelTarget::WebPush(_) => &["secret-path-0123", web_push::AUTH, web_push::P256DH],
        _ => &["secret-path-0123"],
    }
}

/// Returns an error in the form of each service that repeats this text.
fn error_with(text: &str) -> String {
    let body = serde_json::json!({
        "message": text, "error": text, "description": text, "errors": [text], "code": 40_400, "error_code": 400,
    });
    answer("400 Bad Request", "", &body.to_string())
}

#[tokio::test]
async fn attempt_and_debug_output_have_no_secret() {
    for new_target in all() {
        let fixture = ChannelFixture::new();
        let probe = fixture.server(&[Behaviour::Answers(answer("200 OK", "", ""))]).await;
        let target = new_target(&secret_url(&probe));
        let all_of = secrets(&target).join(" and ");
        let of_message = "https://alerts.example.com/acknowledge?t=ack-token-0123456789 ack-data-0123";
        let repeating = error_with(&format!("no {all_of} {of_message} /services/T0/secret-path-0123"));
        let behaviours = [Behaviour::Answers(repeating), Behaviour::Closes, Behaviour::Hangs];
        for behaviour in behaviours {
            let server: Receiver = fixture.server(&[behaviour]).await;
            let client = fixture.client(&server);
            let target = new_target(&secret_url(&server));
            let job = ChannelJob {
                account: Uuid::nil(),
                target: target.clone(),
                message: message(),
            };
            let (found, ()) = tokio::join!(client.attempt(Uuid::nil(), &job), async {
                server.until(|seen| seen.requests.len() == 1).await;
                fixture.clients.time.advance(TIMEOUT);
            });
            let output = format!("{found:?} {job:?} {client:?} {:?}", client.telegram());
            for secret in secrets(&target)
                .iter()
                .chain(&["ack-token-0123456789", "ack-data-0123"])
            {
                assert!(!output.contains(secret), "{secret} in {output}");
            }
        }
    }
}
