//! Certificate checks and address checks of the client.

use std::sync::Arc;
use std::time::Duration;

use clock::Clock;
use notify::address::{LookupOwner, NameLookups, Resolver, UrlPolicy};
use notify::client::{TlsFailure, WebhookAttempt, WebhookOutcome};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::notify::common::client_fixture::{ClientFixture, post};
use crate::notify::common::policy_allowing;
use crate::notify::common::receiver::{Authority, Behaviour, Receiver, answer, ok};

#[tokio::test]
async fn certificates_are_verified() {
    let fixture = ClientFixture::new();
    let years = [2025, 2027];
    let untrusted = Authority::new("untrusted");
    for (host, server, expected) in [
        (
            "hooks.example",
            fixture.authority.server(&["hooks.example"], years),
            WebhookOutcome::Delivered { status: 200 },
        ),
        (
            "127.0.0.1",
            fixture.authority.server(&["127.0.0.1"], years),
            WebhookOutcome::Delivered { status: 200 },
        ),
        (
            "localhost",
            fixture.authority.server(&["localhost"], years),
            WebhookOutcome::Delivered { status: 200 },
        ),
        (
            "hooks.example",
            untrusted.server(&["hooks.example"], years),
            WebhookOutcome::TlsFailed(TlsFailure::UnknownIssuer),
        ),
        (
            "hooks.example",
            fixture.authority.server(&["other.example"], years),
            WebhookOutcome::TlsFailed(TlsFailure::WrongName),
        ),
        (
            "127.0.0.1",
            fixture.authority.server(&["hooks.example"], years),
            WebhookOutcome::TlsFailed(TlsFailure::WrongName),
        ),
        (
            "hooks.example",
            fixture.authority.server(&["hooks.example"], [2024, 2026]),
            WebhookOutcome::TlsFailed(TlsFailure::Expired),
        ),
        (
            "hooks.example",
            fixture.authority.server(&["hooks.example"], [2027, 2028]),
            WebhookOutcome::TlsFailed(TlsFailure::Expired),
        ),
    ] {
        let receiver = Receiver::start_tls(&fixture.time, &[ok()], server).await;
        let attempt = fixture.post(&receiver.url("https", host)).await;
        assert_eq!(attempt.outcome, expected);
        let arrived = usize::from(expected.name() == "delivered");
        assert_eq!(receiver.requests().len(), arrived, "{expected:?}");
    }
}

#[tokio::test]
async fn plain_http_server_on_an_https_url_fails_the_handshake() {
    let fixture = ClientFixture::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://hooks.example:{}/", listener.local_addr().unwrap().port());
    // The response of many servers to a TLS handshake on an HTTP port.
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut hello = [0; 1];
        stream.read_exact(&mut hello).await.unwrap();
        let answer = answer("400 Bad Request", "", "plain HTTP");
        stream.write_all(answer.as_bytes()).await.unwrap();
        stream
    });
    let attempt = fixture.post(&url).await;
    assert_eq!(attempt.outcome, WebhookOutcome::TlsFailed(TlsFailure::Handshake));
    server.await.unwrap();
}

#[tokio::test]
async fn outcomes_are_the_same_with_tls() {
    let fixture = ClientFixture::new();
    for (behaviour, expected) in [
        (Behaviour::Closes, WebhookOutcome::ConnectionLost),
        (Behaviour::Resets, WebhookOutcome::ConnectionLost),
        (Behaviour::Floods(1 << 20), WebhookOutcome::Delivered { status: 200 }),
    ] {
        let server = fixture.authority.server(&["hooks.example"], [2025, 2027]);
        let receiver = Receiver::start_tls(&fixture.time, &[behaviour], server).await;
        let attempt = fixture.post(&receiver.url("https", "hooks.example")).await;
        assert_eq!(attempt.outcome, expected);
    }
}

#[tokio::test]
async fn disguised_forbidden_addresses_are_not_connected_to() {
    let fixture = ClientFixture::new();
    let receiver = Receiver::start(&fixture.time, &[ok()]).await;
    // The policy permits no private addresses, or others.
    for rules in [UrlPolicy::default(), policy_allowing(&["10.0.0.0/8", "127.0.0.2/32"])] {
        let client = fixture.client_with(rules);
        for host in [
            "127.0.0.1",
            "2130706433",
            "0x7f.1",
            "0177.0.0.1",
            "127.1",
            "0",
            "①②⑦.0.0.1",
            "[::ffff:127.0.0.1]",
            "[64:ff9b::7f00:1]",
            "[::1]",
            "user@127.0.0.1",
            "127.0.0.1.",
            "[::1%25lo]",
            "hooks.example",
        ] {
            for scheme in ["http", "https"] {
                let url = receiver.url(scheme, host);
                let attempt = post(&client, &url).await;
                let refused = WebhookAttempt {
                    url: Some(url),
                    at: fixture.time.now(),
                    duration_ms: 0,
                    outcome: WebhookOutcome::AddressRefused,
                    response: None,
                };
                assert_eq!(attempt, refused, "{scheme}://{host}");
            }
        }
    }
    assert_eq!(receiver.seen.borrow().connections, 0);
}

#[tokio::test]
async fn changed_dns_record_is_rejected_on_connect() {
    let fixture = ClientFixture::new();
    let rules = UrlPolicy::default();
    let receiver = Receiver::start(&fixture.time, &[ok()]).await;
    let url = receiver.url("https", "rebound.example");
    fixture.names.set("rebound.example", &["8.8.8.8"]);
    let lookups = NameLookups::new(Arc::clone(&fixture.names) as Arc<dyn Resolver>);
    let checked = rules.check_resolved(&url, &lookups, LookupOwner::Anonymous, &*fixture.time);
    checked.await.unwrap();
    fixture
        .names
        .set("rebound.example", &["127.0.0.1", "::1", "::ffff:127.0.0.1"]);
    let attempt = post(&fixture.client_with(rules), &url).await;
    assert_eq!(
        (attempt.outcome, attempt.response),
        (WebhookOutcome::AddressRefused, None)
    );
    assert_eq!(receiver.seen.borrow().connections, 0);
}

#[tokio::test]
async fn name_is_resolved_once_per_connection() {
    let fixture = ClientFixture::new();
    let receiver = Receiver::start(&fixture.time, &[ok()]).await;
    let client = fixture.client();
    for _ in 0..3 {
        post(&client, &receiver.url("http", "hooks.example")).await;
    }
    assert_eq!(*fixture.names.asked.lock().unwrap(), ["hooks.example"]);
}

#[tokio::test]
async fn only_permitted_addresses_of_a_name_are_connected_to() {
    let fixture = ClientFixture::new();
    let permitted = Receiver::start(&fixture.time, &[ok()]).await;
    fixture.names.set("mixed.example", &["127.0.0.2", "127.0.0.1"]);
    let client = fixture.client_with(policy_allowing(&["127.0.0.1/32"]));
    // There is also a listener on the same port of the forbidden address.
    let forbidden = TcpListener::bind(("127.0.0.2", permitted.address.port()))
        .await
        .unwrap();
    let attempt = post(&client, &permitted.url("http", "mixed.example")).await;
    assert_eq!(attempt.outcome, WebhookOutcome::Delivered { status: 200 });
    let connected = tokio::time::timeout(Duration::from_millis(1), forbidden.accept()).await;
    assert!(connected.is_err());
}
