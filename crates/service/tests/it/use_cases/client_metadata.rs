//! Client metadata documents, served by a local HTTPS server.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use accounts::oauth::{AuthorizationError, ClientOrigin};
use rustls::pki_types::PrivateKeyDer;
use serde_json::{Value, json};
use service::ServiceConfig;
use testkit::Database;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::support::{TestApp, settings};

const CALLBACK: &str = "https://app.example.com/callback";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const HERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
const ELSEWHERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2));

/// Response of the server; `None` never responds.
type Answer = Option<Vec<u8>>;

/// A local HTTPS server with a configurable response. It counts connections.
struct DocumentServer {
    address: SocketAddr,
    root: Vec<u8>,
    says: Arc<Mutex<Answer>>,
    asked: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
}

impl DocumentServer {
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
        let server = Self {
            address: listener.local_addr().unwrap(),
            root: made.cert.der().to_vec(),
            says: Arc::default(),
            asked: Arc::default(),
            connections: Arc::default(),
        };
        let (says, asked, connections) = (server.says.clone(), server.asked.clone(), server.connections.clone());
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
        server
    }

    fn url(&self) -> String {
        format!("https://{}/client.json", self.address)
    }

    fn says(&self, status: &str, headers: &str, body: &str) {
        let length = body.len();
        let answer = format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n{body}");
        *self.says.lock().unwrap() = Some(answer.into_bytes());
    }

    /// Returns a valid document with changes.
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

    /// A service that may connect to this machine and trusts the server.
    async fn app(&self) -> TestApp {
        self.app_with(|settings| settings.delivery.webhooks.allow_private = vec!["127.0.0.0/8".parse().unwrap()])
            .await
    }

    async fn app_with(&self, change: impl FnOnce(&mut ServiceConfig)) -> TestApp {
        let mut settings = settings();
        settings.delivery.webhooks.own_roots = vec![self.root.clone()];
        change(&mut settings);
        TestApp::with(Database::sqlite(), settings).await
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

/// Returns the error shown to the user.
async fn refusal(app: &TestApp, client: &str) -> String {
    match app.service.oauth.check_authorization(&params(client), HERE).await {
        Err(AuthorizationError::ShowToUser(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn client_is_described_by_its_document_and_host() {
    let server = DocumentServer::start().await;
    let app = server.app().await;
    server.says(
        "200 OK",
        "content-type: application/json\r\n",
        &server.document(&json!({})),
    );
    let asked = app
        .service
        .oauth
        .check_authorization(&params(&server.url()), HERE)
        .await
        .unwrap();
    assert_eq!((asked.client.id, asked.client.name), (server.url(), "Agent".to_owned()));
    assert_eq!(asked.client.origin, ClientOrigin::Host(server.address.to_string()));
    let head = server.asked.lock().unwrap()[0].to_lowercase();
    assert!(head.starts_with("get /client.json http/1.1\r\n"), "{head}");
    assert!(!head.contains("cookie") && !head.contains("authorization"), "{head}");
}

#[tokio::test]
async fn invalid_document_is_rejected() {
    let server = DocumentServer::start().await;
    let app = server.app().await;
    let right = server.document(&json!({}));
    let another = server.document(&json!({"client_id": format!("{}?x", server.url())}));
    let confidential = server.document(&json!({"token_endpoint_auth_method": "client_secret_post"}));
    let elsewhere = format!("location: {}\r\n", server.url());
    for (status, headers, body, expected) in [
        ("404 Not Found", "", right.as_str(), "the response is not 200"),
        ("302 Found", elsewhere.as_str(), "", "or a redirect"),
        ("204 No Content", "", "", "the response is not 200"),
        ("200 OK", "", "<html>", "not valid client metadata in JSON"),
        ("200 OK", "", &another, "has another client_id"),
        ("200 OK", "", &confidential, "client with a secret"),
        ("200 OK", "content-encoding: gzip\r\n", &right, "could not be fetched"),
    ] {
        server.says(status, headers, body);
        let why = refusal(&app, &server.url()).await;
        assert!(why.contains(expected), "{status}: {why}");
    }
    assert_eq!(
        server.connections(),
        7,
        "no redirect is followed, and no refusal is kept"
    );
    server.says("200 OK", "", &right);
    assert!(
        app.service
            .oauth
            .check_authorization(&params(&server.url()), HERE)
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn document_is_limited_to_five_kibibytes() {
    let server = DocumentServer::start().await;
    let app = server.app().await;
    let bare = server.document(&json!({"x": ""})).len();
    let padded = |bytes: usize| server.document(&json!({"x": "x".repeat(bytes - bare)}));
    server.says("200 OK", "", &padded(5 * 1024 + 1));
    assert!(refusal(&app, &server.url()).await.contains("larger than 5 KiB"));
    server.says("200 OK", "", &padded(5 * 1024));
    assert!(
        app.service
            .oauth
            .check_authorization(&params(&server.url()), HERE)
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn fetch_times_out_after_five_seconds() {
    let server = DocumentServer::start().await;
    let app = server.app().await;
    let (service, url) = (app.service.clone(), server.url());
    let waiting = tokio::spawn(async move { service.oauth.check_authorization(&params(&url), HERE).await });
    while server.asked.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    app.clock.advance(jiff::SignedDuration::from_millis(4_999));
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    app.clock.advance(jiff::SignedDuration::from_millis(1));
    match waiting.await.unwrap() {
        Err(AuthorizationError::ShowToUser(why)) => assert!(why.contains("within five seconds"), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn concurrent_requests_share_one_fetch() {
    let server = DocumentServer::start().await;
    let app = server.app().await;
    server.says("200 OK", "", &server.document(&json!({})));
    let (url, other) = (params(&server.url()), IpAddr::V4(Ipv4Addr::new(192, 0, 2, 3)));
    let all = [HERE, HERE, HERE, ELSEWHERE, ELSEWHERE, other];
    let all = all.map(|address| app.service.oauth.check_authorization(&url, address));
    for asked in futures_util::future::join_all(all).await {
        assert_eq!(asked.unwrap().client.id, server.url());
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn waiting_request_takes_over_dropped_fetch() {
    let server = DocumentServer::start().await;
    let app = server.app().await;
    let (service, url) = (app.service.clone(), server.url());
    let first = tokio::spawn(async move { service.oauth.check_authorization(&params(&url), HERE).await });
    while server.asked.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    let (service, url) = (app.service.clone(), server.url());
    let second = tokio::spawn(async move { service.oauth.check_authorization(&params(&url), ELSEWHERE).await });
    tokio::task::yield_now().await;
    server.says("200 OK", "", &server.document(&json!({})));
    first.abort();
    assert!(second.await.unwrap().is_ok());
}

#[tokio::test]
async fn third_concurrent_fetch_from_a_host_is_rejected() {
    let server = DocumentServer::start().await;
    let app = server.app().await;
    let waiting: Vec<_> = (0..2)
        .map(|number| {
            let (service, url) = (app.service.clone(), format!("{}?{number}", server.url()));
            tokio::spawn(async move { service.oauth.check_authorization(&params(&url), HERE).await })
        })
        .collect();
    while server.asked.lock().unwrap().len() < 2 {
        tokio::task::yield_now().await;
    }
    server.says("200 OK", "", &server.document(&json!({})));
    match app
        .service
        .oauth
        .check_authorization(&params(&server.url()), ELSEWHERE)
        .await
    {
        Err(AuthorizationError::ShowToUser(why)) => assert!(why.contains("too many apps are being checked"), "{why}"),
        other => panic!("{other:?}"),
    }
    app.clock.advance(jiff::SignedDuration::from_secs(5));
    for one in waiting {
        assert!(one.await.unwrap().is_err(), "it was never answered");
    }
    let params = params(&server.url());
    let asked = app.service.oauth.check_authorization(&params, ELSEWHERE);
    assert!(asked.await.is_ok(), "their turns are over");
}

#[tokio::test]
async fn document_is_cached_for_ten_minutes() {
    let server = DocumentServer::start().await;
    let app = server.app().await;
    let ask = async || {
        app.service
            .oauth
            .check_authorization(&params(&server.url()), HERE)
            .await
    };
    server.says("200 OK", "", &server.document(&json!({})));
    assert!(ask().await.is_ok());
    server.says(
        "200 OK",
        "",
        &server.document(&json!({"redirect_uris": ["https://app.example.com/new"]})),
    );
    app.clock.advance(jiff::SignedDuration::from_secs(599));
    assert!(ask().await.is_ok());
    assert_eq!(server.connections(), 1);
    app.clock.advance(jiff::SignedDuration::from_secs(1));
    let why = refusal(&app, &server.url()).await;
    assert!(why.contains("is not registered"), "{why}");
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn private_addresses_are_not_fetched() {
    let server = DocumentServer::start().await;
    let app = server.app_with(|_| ()).await;
    server.says("200 OK", "", &server.document(&json!({})));
    let why = refusal(&app, &server.url()).await;
    assert!(why.contains("not on the public internet"), "{why}");
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn untrusted_certificate_is_rejected() {
    let (server, other) = (DocumentServer::start().await, DocumentServer::start().await);
    let app = server
        .app_with(|settings| {
            settings.delivery.webhooks.allow_private = vec!["127.0.0.0/8".parse().unwrap()];
            settings.delivery.webhooks.own_roots = vec![other.root.clone()];
        })
        .await;
    server.says("200 OK", "", &server.document(&json!({})));
    assert!(refusal(&app, &server.url()).await.contains("could not be fetched"));
    assert!(server.asked.lock().unwrap().is_empty());
}
