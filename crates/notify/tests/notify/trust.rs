//! Whom the client speaks to: certificates that are good, and addresses that are open.

use std::sync::Arc;
use std::time::Duration;

use notify::address::{LookupOwner, NameLookups, Resolve, UrlRules};
use notify::client::{Attempt, Outcome, TlsFault};
use notify::time::Time;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::common::opening;
use crate::common::receiver::{Authority, Behaviour, Receiver, answer, ok};
use crate::common::world::{World, post};

#[tokio::test]
async fn certificates_are_verified() {
    let world = World::new();
    let years = [2025, 2027];
    let stranger = Authority::new("stranger");
    for (host, server, expected) in [
        (
            "hooks.example",
            world.authority.server(&["hooks.example"], years),
            Outcome::Delivered { status: 200 },
        ),
        (
            "127.0.0.1",
            world.authority.server(&["127.0.0.1"], years),
            Outcome::Delivered { status: 200 },
        ),
        (
            "localhost",
            world.authority.server(&["localhost"], years),
            Outcome::Delivered { status: 200 },
        ),
        (
            "hooks.example",
            stranger.server(&["hooks.example"], years),
            Outcome::TlsFailed(TlsFault::UnknownIssuer),
        ),
        (
            "hooks.example",
            world.authority.server(&["other.example"], years),
            Outcome::TlsFailed(TlsFault::WrongName),
        ),
        (
            "127.0.0.1",
            world.authority.server(&["hooks.example"], years),
            Outcome::TlsFailed(TlsFault::WrongName),
        ),
        (
            "hooks.example",
            world.authority.server(&["hooks.example"], [2024, 2026]),
            Outcome::TlsFailed(TlsFault::Expired),
        ),
        (
            "hooks.example",
            world.authority.server(&["hooks.example"], [2027, 2028]),
            Outcome::TlsFailed(TlsFault::Expired),
        ),
    ] {
        let receiver = Receiver::start_tls(&world.time, &[ok()], server).await;
        let attempt = world.post(&receiver.url("https", host)).await;
        assert_eq!(attempt.outcome, expected);
        let arrived = usize::from(expected.name() == "delivered");
        assert_eq!(receiver.requests().len(), arrived, "{expected:?}");
    }
}

#[tokio::test]
async fn who_speaks_no_tls_is_not_spoken_to() {
    let world = World::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://hooks.example:{}/", listener.local_addr().unwrap().port());
    // As servers do that are spoken to in TLS on a port that is for plain HTTP.
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut hello = [0; 1];
        stream.read_exact(&mut hello).await.unwrap();
        let answer = answer("400 Bad Request", "", "plain HTTP");
        stream.write_all(answer.as_bytes()).await.unwrap();
        stream
    });
    let attempt = world.post(&url).await;
    assert_eq!(attempt.outcome, Outcome::TlsFailed(TlsFault::Handshake));
    server.await.unwrap();
}

#[tokio::test]
async fn bad_receivers_behind_tls_come_to_the_same() {
    let world = World::new();
    for (behaviour, expected) in [
        (Behaviour::Closes, Outcome::ConnectionLost),
        (Behaviour::Resets, Outcome::ConnectionLost),
        (Behaviour::Floods(1 << 20), Outcome::Delivered { status: 200 }),
    ] {
        let server = world.authority.server(&["hooks.example"], [2025, 2027]);
        let receiver = Receiver::start_tls(&world.time, &[behaviour], server).await;
        let attempt = world.post(&receiver.url("https", "hooks.example")).await;
        assert_eq!(attempt.outcome, expected);
    }
}

#[tokio::test]
async fn no_disguise_of_a_refused_address_is_dialled() {
    let world = World::new();
    let receiver = Receiver::start(&world.time, &[ok()]).await;
    // Nothing is open to this client, or something else is.
    for rules in [UrlRules::default(), opening(&["10.0.0.0/8", "127.0.0.2/32"])] {
        let client = world.client_with(rules);
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
                let refused = Attempt {
                    url: Some(url),
                    at: world.time.now(),
                    duration_ms: 0,
                    outcome: Outcome::AddressRefused,
                    response: None,
                };
                assert_eq!(attempt, refused, "{scheme}://{host}");
            }
        }
    }
    assert_eq!(receiver.seen.borrow().connections, 0);
}

#[tokio::test]
async fn a_name_that_changes_between_check_and_dial_is_refused_on_dial() {
    let world = World::new();
    let rules = UrlRules::default();
    let receiver = Receiver::start(&world.time, &[ok()]).await;
    let url = receiver.url("https", "rebound.example");
    world.names.set("rebound.example", &["8.8.8.8"]);
    let lookups = NameLookups::new(Arc::clone(&world.names) as Arc<dyn Resolve>);
    let judged = rules.check_resolved(&url, &lookups, LookupOwner::Anonymous, &*world.time);
    judged.await.unwrap();
    world
        .names
        .set("rebound.example", &["127.0.0.1", "::1", "::ffff:127.0.0.1"]);
    let attempt = post(&world.client_with(rules), &url).await;
    assert_eq!((attempt.outcome, attempt.response), (Outcome::AddressRefused, None));
    assert_eq!(receiver.seen.borrow().connections, 0);
}

#[tokio::test]
async fn a_name_is_looked_up_once_for_a_connection() {
    let world = World::new();
    let receiver = Receiver::start(&world.time, &[ok()]).await;
    let client = world.client();
    for _ in 0..3 {
        post(&client, &receiver.url("http", "hooks.example")).await;
    }
    assert_eq!(*world.names.asked.lock().unwrap(), ["hooks.example"]);
}

#[tokio::test]
async fn of_mixed_addresses_only_the_open_ones_are_dialled() {
    let world = World::new();
    let open = Receiver::start(&world.time, &[ok()]).await;
    world.names.set("mixed.example", &["127.0.0.2", "127.0.0.1"]);
    let client = world.client_with(opening(&["127.0.0.1/32"]));
    // On the same port of the shut address somebody listens, too.
    let shut = TcpListener::bind(("127.0.0.2", open.address.port())).await.unwrap();
    let attempt = post(&client, &open.url("http", "mixed.example")).await;
    assert_eq!(attempt.outcome, Outcome::Delivered { status: 200 });
    let knocked = tokio::time::timeout(Duration::from_millis(1), shut.accept()).await;
    assert!(knocked.is_err());
}
