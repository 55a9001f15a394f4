//! A world of its own for each test: a service on an empty database, a clock that stands still, a market that is open.

use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::{Router, http};
use bytes::Bytes;
use contract::Contract;
use http::HeaderMap;
use jiff::SignedDuration;
use serde_json::{Value, json};
use server::layers::client::Peer;
use server::{App, Settings};
use service::access::{NewKey, NewUser};
use service::{Chance, Scope, Service};
use sources::ManualClock;
use store::{Options, Store};
use testkit::{Database, Drawn};
use tower::ServiceExt;

/// A Friday, half an hour after the open.
pub(crate) const OPEN: &str = "2024-03-08T15:00:00Z";

pub(crate) struct World {
    pub(crate) app: App,
    pub(crate) router: Router,
    pub(crate) service: Service,
    pub(crate) clock: Arc<ManualClock>,
    /// A key of an operator on the premium plan.
    pub(crate) key: String,
    pub(crate) database: Arc<Database>,
    /// The secrets that were made up.
    pub(crate) drawn: Drawn,
    settings: Settings,
    house: service::Settings,
}

/// Chance by a number.
fn chance(seed: u64) -> Arc<Chance> {
    Arc::new(Chance::new(Box::new(testkit::chance(seed).0)))
}

fn house() -> service::Settings {
    service::Settings {
        calendar: market::Calendar::nyse(),
        engine: alerts::engine::Settings::default(),
        benchmark: "SPY".parse().unwrap(),
        missing_feeds: Vec::new(),
        follow_every: SignedDuration::from_secs(1),
        compare_every: SignedDuration::from_mins(5),
        webhooks: service::webhooks::Settings::default(),
        public_url: "https://alerts.example.com".to_owned(),
        identity: service::identity::Settings::default(),
        messages: service::messages::Settings::default(),
        analyst: service::analyst::Settings::default(),
    }
}

async fn service_on(
    database: &Database,
    clock: &Arc<ManualClock>,
    seed: u64,
    house: service::Settings,
) -> (Service, Drawn) {
    let (generator, drawn) = testkit::chance(seed);
    let ports = service::Ports {
        store: Store::open(Options::new(database.url())).await.unwrap(),
        clock: Arc::clone(clock) as Arc<dyn service::Clock>,
        chance: Arc::new(Chance::new(Box::new(generator))),
        vault: Arc::new(service::vault::Vault::new(b"a key for tests")),
        network: service::webhooks::Network::by_clock(&(Arc::clone(clock) as Arc<dyn service::Clock>)),
    };
    (Service::start(ports, house).await.unwrap(), drawn)
}

fn app_on(service: &Service, clock: &Arc<ManualClock>, settings: Settings, seed: u64) -> App {
    let ports = server::Ports {
        service: service.clone(),
        clock: Arc::clone(clock) as Arc<dyn service::Clock>,
        chance: chance(seed),
        metrics: Arc::new(|| "# TYPE up gauge\nup 1\n".to_owned()),
    };
    App::new(ports, settings)
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(Settings::default()).await
    }

    pub(crate) async fn with(settings: Settings) -> Self {
        Self::on(Database::sqlite(), settings, |_| ()).await
    }

    /// On that database, with the service as it is changed.
    pub(crate) async fn on(
        database: Database,
        settings: Settings,
        change: impl FnOnce(&mut service::Settings),
    ) -> Self {
        let clock = Arc::new(ManualClock::new(OPEN.parse().unwrap()));
        let mut house = house();
        change(&mut house);
        let (service, drawn) = service_on(&database, &clock, 1, house.clone()).await;
        let app = app_on(&service, &clock, settings.clone(), 2);
        let mut world = Self {
            router: server::router(&app, true),
            app,
            service,
            clock,
            key: String::new(),
            database: Arc::new(database),
            drawn,
            settings,
            house,
        };
        world.key = world
            .account("operator@example.com", alerts::Plan::Premium, true, Scope::ALL)
            .await;
        world
    }

    /// The world after a restart.
    pub(crate) async fn restarted(self) -> Self {
        self.service.stop().await;
        let (service, drawn) = service_on(&self.database, &self.clock, 3, self.house.clone()).await;
        let app = app_on(&service, &self.clock, self.settings.clone(), 4);
        Self {
            router: server::router(&app, true),
            app,
            service,
            drawn,
            ..self
        }
    }

    /// A key of a new account.
    pub(crate) async fn account(&self, email: &str, plan: alerts::Plan, is_operator: bool, scopes: &[Scope]) -> String {
        let user = NewUser {
            email: email.to_owned(),
            password: "correct horse".to_owned(),
            plan,
            is_operator,
            is_verified: true,
        };
        self.service.accounts.create_user(user).await.unwrap();
        self.another_key(email, scopes).await
    }

    pub(crate) async fn another_key(&self, email: &str, scopes: &[Scope]) -> String {
        let key = NewKey {
            name: "test".to_owned(),
            scopes: scopes.to_vec(),
        };
        self.service.accounts.create_key_for(email, key).await.unwrap().secret
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> Sending<'_> {
        Sending {
            router: &self.router,
            builder: Request::builder().method(method).uri(path),
            body: Body::empty(),
            json: None,
            peer: "192.0.2.1:4711".parse().unwrap(),
        }
        .header("x-api-key", &self.key)
    }

    /// A request without a key.
    pub(crate) fn stranger(&self, method: &str, path: &str) -> Sending<'_> {
        Sending {
            router: &self.router,
            builder: Request::builder().method(method).uri(path),
            body: Body::empty(),
            json: None,
            peer: "192.0.2.1:4711".parse().unwrap(),
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.request("GET", path).send().await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.request("POST", path).json(&body).send().await
    }

    /// Makes a stock known with a price.
    pub(crate) async fn stock_at(&self, symbol: &str, price: f64) {
        let body = json!({
            "stocks": [{"symbol": symbol, "name": format!("{symbol} Company")}],
            "quotes": [{"symbol": symbol, "price": price}],
        });
        let answer = self.post("/v1/market/ingest", body).await;
        assert_eq!(answer.body["data"]["rejected"], json!([]), "{answer:?}");
    }

    /// The id of a new alert on AAPL.
    pub(crate) async fn alert(&self, threshold: i64) -> String {
        let answer = self.post("/v1/alerts", above(threshold)).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.body["data"]["id"].as_str().unwrap().to_owned()
    }
}

pub(crate) fn above(threshold: i64) -> Value {
    json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold})
}

/// A request that is being made up.
pub(crate) struct Sending<'a> {
    router: &'a Router,
    builder: http::request::Builder,
    body: Body,
    /// The body, if it is JSON and not written by hand.
    json: Option<String>,
    peer: SocketAddr,
}

impl Sending<'_> {
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

    pub(crate) async fn send(self) -> Answer {
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
        // A test that asks for a compressed answer compares it with the one that is not compressed.
        if !parts.headers.contains_key("content-encoding") {
            check_contract(&exchange);
        }
        Answer {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: serde_json::from_slice(&bytes).unwrap_or_default(),
            text: String::from_utf8_lossy(&bytes).into_owned(),
            bytes,
        }
    }
}

/// Every exchange of every test is one that the OpenAPI document describes.
#[track_caller]
fn check_contract(exchange: &contract::Exchange<'_>) {
    static CONTRACT: LazyLock<Contract> = LazyLock::new(|| Contract::new(server::document::Document::value()).unwrap());
    if let Err(violation) = CONTRACT.check(exchange) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().take(2_000).collect::<String>();
        panic!(
            "{violation}\n{} {} {}\n{} {}",
            exchange.method,
            exchange.path,
            text(exchange.request_body),
            exchange.status,
            text(exchange.response_body),
        );
    }
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
    pub(crate) text: String,
    pub(crate) bytes: Bytes,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name).unwrap_or_else(|| panic!("no {name}: {self:?}"));
        value.to_str().unwrap()
    }

    /// A refusal in the envelope, with that status and code.
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
