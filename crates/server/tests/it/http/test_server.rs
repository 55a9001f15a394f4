//! A separate server for each test: a service on an empty database, with a manual clock, while the market is open.

use std::net::SocketAddr;
use std::sync::Arc;

use accounts::access::{ApiKeyParams, NewAccount};
use axum::body::{Body, BodyDataStream, to_bytes};
use axum::extract::Request;
use axum::{Router, http};
use bytes::Bytes;
use clock::ManualClock;
use foundation::{Random, Scope};
use http::HeaderMap;
use jiff::SignedDuration;
use serde_json::{Value, json};
use server::layers::client::Peer;
use server::{App, HttpConfig};
use service::Service;
use store::{Store, StoreOptions};
use testkit::{Database, GeneratedSecrets};
use tower::ServiceExt;

use crate::http::contract_check::{check_contract, is_dashboard};

/// A Friday, half an hour after the open.
pub(crate) const OPEN: &str = "2024-03-08T15:00:00Z";

pub(crate) struct TestServer {
    pub(crate) app: App,
    pub(crate) router: Router,
    pub(crate) service: Service,
    pub(crate) clock: Arc<ManualClock>,
    /// A key of an operator on the premium plan.
    pub(crate) key: String,
    pub(crate) database: Arc<Database>,
    /// The store of the service.
    pub(crate) store: Store,
    /// The secrets that the service generated.
    pub(crate) generated_secrets: GeneratedSecrets,
    settings: HttpConfig,
    service_settings: service::ServiceConfig,
}

/// Seeded random numbers.
fn random(seed: u64) -> Arc<Random> {
    Arc::new(Random::new(Box::new(testkit::seeded_random(seed).0)))
}

fn default_service_settings() -> service::ServiceConfig {
    service::ServiceConfig {
        evaluation: evaluation::EvaluationConfig {
            calendar: market::Calendar::nyse(),
            engine: alerts::engine::EngineConfig::default(),
            benchmark: "SPY".parse().unwrap(),
            missing_feeds: Vec::new(),
            follow_every: SignedDuration::from_secs(1),
            compare_every: SignedDuration::from_mins(5),
        },
        delivery: delivery::DeliveryConfig {
            public_url: "https://alerts.example.com".to_owned(),
            messages: delivery::messages::MessagesConfig::default(),
            channels: delivery::notification_channels::ChannelServicesConfig::default(),
            webhooks: delivery::webhooks::WebhooksConfig::default(),
        },
        identity: accounts::identity::IdentityConfig::default(),
        analyst: watchlist::analyst::AnalystConfig::default(),
        cluster: None,
    }
}

async fn service_on(
    database: &Database,
    clock: &Arc<ManualClock>,
    seed: u64,
    service_settings: service::ServiceConfig,
) -> (Service, Store, GeneratedSecrets) {
    let (generator, generated_secrets) = testkit::seeded_random(seed);
    let store = Store::open(StoreOptions::new(database.url())).await.unwrap();
    let ports = foundation::Ports {
        store: store.clone(),
        clock: Arc::clone(clock) as Arc<dyn clock::Clock>,
        random: Arc::new(Random::new(Box::new(generator))),
        vault: Arc::new(foundation::vault::Vault::new(b"a key for tests")),
        network: foundation::Network::new(clock.clone()),
    };
    let service = Service::start(ports, service_settings).await.unwrap();
    (service, store, generated_secrets)
}

fn app_on(service: &Service, clock: &Arc<ManualClock>, settings: HttpConfig, seed: u64) -> App {
    let ports = server::AppDependencies {
        service: service.clone(),
        clock: Arc::clone(clock) as Arc<dyn clock::Clock>,
        random: random(seed),
        metrics: Arc::new(|| "# TYPE up gauge\nup 1\n".to_owned()),
    };
    App::new(ports, settings)
}

impl TestServer {
    pub(crate) async fn new() -> Self {
        Self::with_config(HttpConfig::default()).await
    }

    pub(crate) async fn with_config(settings: HttpConfig) -> Self {
        Self::with_database(Database::sqlite(), settings, |_| ()).await
    }

    /// Starts a server on a database, with changed service settings.
    pub(crate) async fn with_database(
        database: Database,
        settings: HttpConfig,
        change: impl FnOnce(&mut service::ServiceConfig),
    ) -> Self {
        let mut server = Self::without_accounts(database, settings, change).await;
        server.key = server
            .account("operator@example.com", alerts::Plan::Premium, true, Scope::ALL)
            .await;
        server
    }

    /// Starts a server that has no account yet.
    pub(crate) async fn without_accounts(
        database: Database,
        settings: HttpConfig,
        change: impl FnOnce(&mut service::ServiceConfig),
    ) -> Self {
        let clock = Arc::new(ManualClock::new(OPEN.parse().unwrap()));
        let mut service_settings = default_service_settings();
        change(&mut service_settings);
        let (service, store, generated_secrets) = service_on(&database, &clock, 1, service_settings.clone()).await;
        let app = app_on(&service, &clock, settings.clone(), 2);
        Self {
            router: server::router(&app, true),
            app,
            service,
            clock,
            key: String::new(),
            database: Arc::new(database),
            store,
            generated_secrets,
            settings,
            service_settings,
        }
    }

    /// Restarts the server.
    pub(crate) async fn restarted(self) -> Self {
        self.service.stop().await;
        self.another_process().await
    }

    /// Starts another process on the same database and clock.
    pub(crate) async fn another_process(&self) -> Self {
        let (service, store, generated_secrets) =
            service_on(&self.database, &self.clock, 3, self.service_settings.clone()).await;
        let app = app_on(&service, &self.clock, self.settings.clone(), 4);
        Self {
            router: server::router(&app, true),
            app,
            service,
            clock: Arc::clone(&self.clock),
            key: self.key.clone(),
            database: Arc::clone(&self.database),
            store,
            generated_secrets,
            settings: self.settings.clone(),
            service_settings: self.service_settings.clone(),
        }
    }

    /// Creates an account and returns its API key.
    pub(crate) async fn account(&self, email: &str, plan: alerts::Plan, is_operator: bool, scopes: &[Scope]) -> String {
        let user = NewAccount {
            email: email.to_owned(),
            password: "correct horse".to_owned(),
            plan,
            is_operator,
            is_verified: true,
        };
        self.service.accounts.create_account(user).await.unwrap();
        self.another_key(email, scopes).await
    }

    pub(crate) async fn another_key(&self, email: &str, scopes: &[Scope]) -> String {
        let key = ApiKeyParams {
            name: "test".to_owned(),
            scopes: scopes.to_vec(),
        };
        self.service
            .accounts
            .create_api_key_for_email(email, key)
            .await
            .unwrap()
            .secret
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> TestRequest<'_> {
        TestRequest {
            router: &self.router,
            builder: Request::builder().method(method).uri(path),
            body: Body::empty(),
            json: None,
            peer: "192.0.2.1:4711".parse().unwrap(),
        }
        .header("x-api-key", &self.key)
    }

    /// Creates a request without credentials.
    pub(crate) fn anonymous(&self, method: &str, path: &str) -> TestRequest<'_> {
        TestRequest {
            router: &self.router,
            builder: Request::builder().method(method).uri(path),
            body: Body::empty(),
            json: None,
            peer: "192.0.2.1:4711".parse().unwrap(),
        }
    }

    pub(crate) async fn get(&self, path: &str) -> TestResponse {
        self.request("GET", path).send().await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> TestResponse {
        self.request("POST", path).json(&body).send().await
    }

    /// Adds a stock and sets its price.
    pub(crate) async fn set_price(&self, symbol: &str, price: f64) {
        let body = json!({
            "stocks": [{"symbol": symbol, "name": format!("{symbol} Company")}],
            "quotes": [{"symbol": symbol, "price": price}],
        });
        let response = self.post("/v1/market/ingest", body).await;
        assert_eq!(response.body["data"]["rejected"], json!([]), "{response:?}");
    }

    /// Creates an alert on AAPL and returns its id.
    pub(crate) async fn create_alert(&self, threshold: i64) -> String {
        let response = self.post("/v1/alerts", above(threshold)).await;
        assert_eq!(response.status, 201, "{response:?}");
        response.body["data"]["id"].as_str().unwrap().to_owned()
    }
}

pub(crate) fn above(threshold: i64) -> Value {
    json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold})
}

/// A request under construction.
pub(crate) struct TestRequest<'a> {
    router: &'a Router,
    builder: http::request::Builder,
    body: Body,
    /// The body, if it was set with `json`.
    json: Option<String>,
    peer: SocketAddr,
}

impl TestRequest<'_> {
    pub(crate) fn header(self, name: &str, value: &str) -> Self {
        Self {
            builder: self.builder.header(name, value),
            ..self
        }
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        Self {
            body: Body::from(body.to_string()),
            json: Some(body.to_string()),
            ..self.header("content-type", "application/json")
        }
    }

    pub(crate) fn body(self, body: impl Into<Body>) -> Self {
        Self {
            body: body.into(),
            ..self
        }
    }

    pub(crate) fn at_address(self, peer: &str) -> Self {
        Self {
            peer: SocketAddr::new(peer.parse().unwrap(), 4711),
            ..self
        }
    }

    /// Sends the request and returns the body as a stream. The response must be 200.
    pub(crate) async fn stream(self) -> BodyDataStream {
        let mut request = self.builder.body(self.body).unwrap();
        request.extensions_mut().insert(Peer(self.peer));
        let response = self.router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        response.into_body().into_data_stream()
    }

    pub(crate) async fn send(self) -> TestResponse {
        let mut request = self.builder.body(self.body).unwrap();
        let (method, path) = (request.method().to_string(), request.uri().to_string());
        request.extensions_mut().insert(Peer(self.peer));
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap();
        let json = self.json.as_deref();
        let exchange = contract::Exchange {
            method: &method,
            path: &path,
            request_type: json.map(|_| "application/json"),
            request_body: json.unwrap_or_default().as_bytes(),
            is_raw: false,
            status: parts.status.as_u16(),
            response_type: parts.headers.get("content-type").map(|kind| kind.to_str().unwrap()),
            response_body: &bytes,
        };
        // Tests of compression compare the compressed response with the uncompressed one. The document does not describe the
        // dashboard.
        if !parts.headers.contains_key("content-encoding") && !is_dashboard(&path) {
            check_contract(&exchange);
        }
        TestResponse {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: serde_json::from_slice(&bytes).unwrap_or_default(),
            text: String::from_utf8_lossy(&bytes).into_owned(),
            bytes,
        }
    }
}

#[derive(Debug)]
pub(crate) struct TestResponse {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
    pub(crate) text: String,
    pub(crate) bytes: Bytes,
}

impl TestResponse {
    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name).unwrap_or_else(|| panic!("no {name}: {self:?}"));
        value.to_str().unwrap()
    }

    /// Asserts an error envelope with this status and code.
    #[track_caller]
    pub(crate) fn refused(self, status: u16, code: &str) -> Self {
        assert_eq!(
            (self.status, &self.body["error"]["code"]),
            (status, &json!(code)),
            "{self:?}"
        );
        assert_eq!(self.body["success"], false);
        assert_eq!(self.header("content-type"), "application/json");
        assert!(!self.header("x-request-id").is_empty());
        self
    }

    #[track_caller]
    pub(crate) fn ok(self, status: u16) -> Self {
        assert_eq!((self.status, &self.body["success"]), (status, &json!(true)), "{self:?}");
        self
    }
}
