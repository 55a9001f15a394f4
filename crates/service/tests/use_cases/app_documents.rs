//! Programs that go by the URL of a document about them, on an https server of their own.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rustls::pki_types::PrivateKeyDer;
use serde_json::{Value, json};
use service::Settings;
use service::oauth::{NotAsked, Origin};
use testkit::Database;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::support::{World, settings};

const CALLBACK: &str = "https://app.example.com/callback";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const HERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
const ELSEWHERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2));

/// What the server answers with; nothing, for ever, if there is none.
type Answer = Option<Vec<u8>>;

/// An https server on this machine that says what a test wants, and counts who asks.
struct Site {
    address: SocketAddr,
    root: Vec<u8>,
    says: Arc<Mutex<Answer>>,
    asked: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
}

impl Site {
    async fn start() -> Self {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let tls = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let site = Self {
            address: listener.local_addr().unwrap(),
            root: made.cert.der().to_vec(),
            says: Arc::default(),
            asked: Arc::default(),
            connections: Arc::default(),
        };
        let (says, asked, connections) = (site.says.clone(), site.asked.clone(), site.connections.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::SeqCst);
                let (tls, says, asked) = (tls.clone(), says.clone(), asked.clone());
                tokio::spawn(async move {
                    let Ok(mut stream) = tls.accept(stream).await else {
                        return;
                    };
                    let mut head = Vec::new();
                    while !head.ends_with(b"\r\n\r\n") {
                        if stream.read_buf(&mut head).await.unwrap_or(0) == 0 {
                            return;
                        }
                    }
                    asked.lock().unwrap().push(String::from_utf8(head).unwrap());
                    let answer = says.lock().unwrap().clone();
                    match answer {
                        Some(bytes) => {
                            let _ = stream.write_all(&bytes).await;
                            let _ = stream.shutdown().await;
                        }
                        None => std::future::pending().await,
                    }
                });
            }
        });
        site
    }

    fn url(&self) -> String {
        format!("https://{}/client.json", self.address)
    }

    fn says(&self, status: &str, headers: &str, body: &str) {
        let length = body.len();
        let answer = format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n{body}");
        *self.says.lock().unwrap() = Some(answer.into_bytes());
    }

    /// A document that is right but for what is changed.
    fn document(&self, change: &Value) -> String {
        let mut document = json!({
            "client_id": self.url(),
            "client_name": "Agent",
            "redirect_uris": [CALLBACK],
            "token_endpoint_auth_method": "none",
        });
        document
            .as_object_mut()
            .unwrap()
            .extend(change.as_object().unwrap().clone());
        document.to_string()
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// A world that may call this machine, and trusts the server.
    async fn world(&self) -> World {
        self.world_with(|settings| settings.webhooks.allow_private = vec!["127.0.0.0/8".parse().unwrap()])
            .await
    }

    async fn world_with(&self, change: impl FnOnce(&mut Settings)) -> World {
        let mut settings = settings();
        settings.webhooks.own_roots = vec![self.root.clone()];
        change(&mut settings);
        World::with(Database::sqlite(), settings).await
    }
}

fn params(client: &str) -> Vec<(String, String)> {
    [
        ("response_type", "code"),
        ("client_id", client),
        ("redirect_uri", CALLBACK),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec()
}

/// Why only the person is told.
async fn refusal(world: &World, client: &str) -> String {
    match world.service.oauth.check_authorization(&params(client), HERE).await {
        Err(NotAsked::Shown(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_client_is_who_its_document_says_and_is_known_by_its_host() {
    let site = Site::start().await;
    let world = site.world().await;
    site.says(
        "200 OK",
        "content-type: application/json\r\n",
        &site.document(&json!({})),
    );
    let asked = world
        .service
        .oauth
        .check_authorization(&params(&site.url()), HERE)
        .await
        .unwrap();
    assert_eq!((asked.client.id, asked.client.name), (site.url(), "Agent".to_owned()));
    assert_eq!(asked.client.origin, Origin::Host(site.address.to_string()));
    let head = site.asked.lock().unwrap()[0].to_lowercase();
    assert!(head.starts_with("get /client.json http/1.1\r\n"), "{head}");
    assert!(!head.contains("cookie") && !head.contains("authorization"), "{head}");
}

#[tokio::test]
async fn a_document_that_is_not_right_makes_no_client() {
    let site = Site::start().await;
    let world = site.world().await;
    let right = site.document(&json!({}));
    let another = site.document(&json!({"client_id": format!("{}?x", site.url())}));
    let confidential = site.document(&json!({"token_endpoint_auth_method": "client_secret_post"}));
    let elsewhere = format!("location: {}\r\n", site.url());
    for (status, headers, body, expected) in [
        ("404 Not Found", "", right.as_str(), "did not answer with 200"),
        ("302 Found", elsewhere.as_str(), "", "leads elsewhere"),
        ("204 No Content", "", "", "did not answer with 200"),
        ("200 OK", "", "<html>", "is not JSON"),
        ("200 OK", "", &another, "about another one"),
        ("200 OK", "", &confidential, "client with a secret"),
        ("200 OK", "content-encoding: gzip\r\n", &right, "could not be fetched"),
    ] {
        site.says(status, headers, body);
        let why = refusal(&world, &site.url()).await;
        assert!(why.contains(expected), "{status}: {why}");
    }
    assert_eq!(site.connections(), 7, "no redirect is followed, and no refusal is kept");
    site.says("200 OK", "", &right);
    assert!(
        world
            .service
            .oauth
            .check_authorization(&params(&site.url()), HERE)
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn a_document_has_five_kibibytes_and_not_one_more() {
    let site = Site::start().await;
    let world = site.world().await;
    let bare = site.document(&json!({"x": ""})).len();
    let padded = |bytes: usize| site.document(&json!({"x": "x".repeat(bytes - bare)}));
    site.says("200 OK", "", &padded(5 * 1024 + 1));
    assert!(refusal(&world, &site.url()).await.contains("larger than 5 KiB"));
    site.says("200 OK", "", &padded(5 * 1024));
    assert!(
        world
            .service
            .oauth
            .check_authorization(&params(&site.url()), HERE)
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn a_document_is_waited_for_five_seconds() {
    let site = Site::start().await;
    let world = site.world().await;
    let (service, url) = (world.service.clone(), site.url());
    let waiting = tokio::spawn(async move { service.oauth.check_authorization(&params(&url), HERE).await });
    while site.asked.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    world.clock.advance(jiff::SignedDuration::from_millis(4_999));
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    world.clock.advance(jiff::SignedDuration::from_millis(1));
    match waiting.await.unwrap() {
        Err(NotAsked::Shown(why)) => assert!(why.contains("within five seconds"), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_document_that_many_want_at_once_is_fetched_once() {
    let site = Site::start().await;
    let world = site.world().await;
    site.says("200 OK", "", &site.document(&json!({})));
    let (url, other) = (params(&site.url()), IpAddr::V4(Ipv4Addr::new(192, 0, 2, 3)));
    let all = [HERE, HERE, HERE, ELSEWHERE, ELSEWHERE, other];
    let all = all.map(|address| world.service.oauth.check_authorization(&url, address));
    for asked in futures_util::future::join_all(all).await {
        assert_eq!(asked.unwrap().client.id, site.url());
    }
    assert_eq!(site.connections(), 1);
}

#[tokio::test]
async fn whoever_waits_fetches_it_if_the_first_one_goes_away() {
    let site = Site::start().await;
    let world = site.world().await;
    let (service, url) = (world.service.clone(), site.url());
    let first = tokio::spawn(async move { service.oauth.check_authorization(&params(&url), HERE).await });
    while site.asked.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    let (service, url) = (world.service.clone(), site.url());
    let second = tokio::spawn(async move { service.oauth.check_authorization(&params(&url), ELSEWHERE).await });
    tokio::task::yield_now().await;
    site.says("200 OK", "", &site.document(&json!({})));
    first.abort();
    assert!(second.await.unwrap().is_ok());
}

#[tokio::test]
async fn of_one_host_two_documents_are_fetched_at_once_and_the_third_one_has_to_come_again() {
    let site = Site::start().await;
    let world = site.world().await;
    let waiting: Vec<_> = (0..2)
        .map(|number| {
            let (service, url) = (world.service.clone(), format!("{}?{number}", site.url()));
            tokio::spawn(async move { service.oauth.check_authorization(&params(&url), HERE).await })
        })
        .collect();
    while site.asked.lock().unwrap().len() < 2 {
        tokio::task::yield_now().await;
    }
    site.says("200 OK", "", &site.document(&json!({})));
    match world
        .service
        .oauth
        .check_authorization(&params(&site.url()), ELSEWHERE)
        .await
    {
        Err(NotAsked::Shown(why)) => assert!(why.contains("too many apps are being looked at"), "{why}"),
        other => panic!("{other:?}"),
    }
    world.clock.advance(jiff::SignedDuration::from_secs(5));
    for one in waiting {
        assert!(one.await.unwrap().is_err(), "it was never answered");
    }
    let params = params(&site.url());
    let asked = world.service.oauth.check_authorization(&params, ELSEWHERE);
    assert!(asked.await.is_ok(), "their turns are over");
}

#[tokio::test]
async fn what_was_fetched_is_kept_for_ten_minutes() {
    let site = Site::start().await;
    let world = site.world().await;
    let ask = async || {
        world
            .service
            .oauth
            .check_authorization(&params(&site.url()), HERE)
            .await
    };
    site.says("200 OK", "", &site.document(&json!({})));
    assert!(ask().await.is_ok());
    site.says(
        "200 OK",
        "",
        &site.document(&json!({"redirect_uris": ["https://app.example.com/new"]})),
    );
    world.clock.advance(jiff::SignedDuration::from_secs(599));
    assert!(ask().await.is_ok());
    assert_eq!(site.connections(), 1);
    world.clock.advance(jiff::SignedDuration::from_secs(1));
    let why = refusal(&world, &site.url()).await;
    assert!(why.contains("has not registered"), "{why}");
    assert_eq!(site.connections(), 2);
}

#[tokio::test]
async fn nobody_makes_this_service_call_its_own_network() {
    let site = Site::start().await;
    let world = site.world_with(|_| ()).await;
    site.says("200 OK", "", &site.document(&json!({})));
    let why = refusal(&world, &site.url()).await;
    assert!(why.contains("not on the public internet"), "{why}");
    assert_eq!(site.connections(), 0);
}

#[tokio::test]
async fn a_server_that_nobody_vouches_for_is_not_believed() {
    let (site, other) = (Site::start().await, Site::start().await);
    let world = site
        .world_with(|settings| {
            settings.webhooks.allow_private = vec!["127.0.0.0/8".parse().unwrap()];
            settings.webhooks.own_roots = vec![other.root.clone()];
        })
        .await;
    site.says("200 OK", "", &site.document(&json!({})));
    assert!(refusal(&world, &site.url()).await.contains("could not be fetched"));
    assert!(site.asked.lock().unwrap().is_empty());
}
