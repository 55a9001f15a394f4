//! A running service with an operator who pushes market data, and accounts.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::{ApiClient, CheckedResponse, RunningService, ServiceSetup};

/// Every existing scope, separated by commas.
pub const ALL_SCOPES: &str = "alerts:read,alerts:write,watchlist:read,watchlist:write,webhooks:read,webhooks:write,\
                              stocks:read,market:write,outbox:read";

/// The email address of the operator.
pub const OPERATOR: &str = "operator@example.com";

/// A running service, an operator who pushes market data, and accounts.
#[derive(Debug)]
pub struct TestEnvironment {
    /// Database and settings of the service.
    pub setup: ServiceSetup,
    /// The process of the service.
    pub server: RunningService,
    /// The operator's client: a premium account and a key with every scope.
    pub operator: ApiClient,
    accounts: AtomicU32,
}

impl TestEnvironment {
    pub(crate) async fn start(setup: ServiceSetup) -> Self {
        setup.create_user(OPERATOR, "premium", &["--operator"]).await;
        let key = setup.create_key(OPERATOR, Some(ALL_SCOPES)).await;
        let server = setup.start().await;
        let operator = server.anonymous_client().with_key(&key);
        Self::from_running(setup, server, operator)
    }

    /// Creates an environment from a running service.
    #[must_use]
    pub const fn from_running(setup: ServiceSetup, server: RunningService, operator: ApiClient) -> Self {
        Self {
            setup,
            server,
            operator,
            accounts: AtomicU32::new(0),
        }
    }

    /// Kills the service and starts it again.
    pub async fn restart(self) -> Self {
        self.server.kill().await;
        let server = self.setup.start().await;
        let operator = self.operator.with_origin(&server.origin);
        Self {
            server,
            operator,
            ..self
        }
    }

    /// Creates an account and returns its client with a key that has all public scopes.
    pub async fn account(&self, plan: &str) -> ApiClient {
        let email = format!("{plan}{}@example.com", self.accounts.fetch_add(1, Ordering::Relaxed));
        self.setup.create_user(&email, plan, &[]).await;
        let key = self.setup.create_key(&email, None).await;
        self.operator.with_key(&key)
    }

    /// Returns a client of the operator with a key that has only these scopes.
    pub async fn operator_with_scopes(&self, scopes: &str) -> ApiClient {
        self.operator
            .with_key(&self.setup.create_key(OPERATOR, Some(scopes)).await)
    }

    /// Returns a new key of the operator with every scope, for programs outside this process.
    pub async fn operator_key(&self) -> String {
        self.setup.create_key(OPERATOR, Some(ALL_SCOPES)).await
    }

    /// Pushes market data and asserts that the service accepts all of it.
    ///
    /// # Panics
    /// If the service rejects an element.
    pub async fn ingest(&self, batch: Value) -> CheckedResponse {
        ingest(&self.operator, batch).await
    }

    /// Adds stocks to the catalog.
    pub async fn stocks(&self, symbols: &[&str]) {
        let stocks: Vec<_> = symbols
            .iter()
            .map(|symbol| json!({"symbol": symbol, "name": format!("{symbol} Company")}))
            .collect();
        self.ingest(json!({ "stocks": stocks })).await;
    }

    /// Pushes a quote.
    pub async fn quote(&self, symbol: &str, price: f64) {
        self.ingest(json!({"quotes": [{"symbol": symbol, "price": price}]}))
            .await;
    }

    /// Adds a stock and pushes a quote for it.
    pub async fn stock_at(&self, symbol: &str, price: f64) {
        self.stocks(&[symbol]).await;
        self.quote(symbol, price).await;
    }

    /// Returns the status of an alert.
    pub async fn status_of(&self, id: &str) -> String {
        let alert = self.operator.get(&format!("/alerts/{id}")).await.expect_ok(200);
        alert.text_of("status").to_owned()
    }

    /// Returns the `triggered` entries in an alert's history, newest first.
    pub async fn firings_of(&self, id: &str) -> Vec<Value> {
        let history = self
            .operator
            .get(&format!("/alerts/{id}/history?limit=200"))
            .await
            .expect_ok(200);
        let fired = history
            .items()
            .iter()
            .filter(|entry| entry["action_type"] == "triggered");
        fired.cloned().collect()
    }
}

/// Pushes market data and asserts that the service accepts all of it.
///
/// # Panics
/// If the service rejects an element.
pub async fn ingest(client: &ApiClient, batch: Value) -> CheckedResponse {
    let response = client.post("/market/ingest", &batch).await.expect_ok_without_limit(200);
    assert_eq!(response.data()["rejected"], json!([]), "{response}");
    for (kind, rows) in batch.as_object().unwrap() {
        let count = rows.as_array().unwrap().len();
        assert_eq!(response.data()["accepted"][kind], count, "{response}");
    }
    response
}
