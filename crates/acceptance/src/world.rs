//! A running program, an operator who feeds it, and accounts.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::{Answer, Client, Server, Setup};

/// Every scope that there is.
pub const ALL_SCOPES: &str = "alerts:read,alerts:write,watchlist:read,watchlist:write,webhooks:read,webhooks:write,\
                              stocks:read,market:write,outbox:read";

const OPERATOR: &str = "operator@example.com";

/// A running program, an operator who feeds it, and accounts.
#[derive(Debug)]
pub struct World {
    /// What the program was started with.
    pub setup: Setup,
    /// The program.
    pub server: Server,
    /// The operator, whose account is premium and whose key can do everything.
    pub me: Client,
    accounts: AtomicU32,
}

impl World {
    pub(crate) async fn start(setup: Setup) -> Self {
        setup.create_user(OPERATOR, "premium", &["--operator"]).await;
        let key = setup.create_key(OPERATOR, Some(ALL_SCOPES)).await;
        let server = setup.start().await;
        let me = server.anybody().with_key(&key);
        Self::of(setup, server, me)
    }

    /// A world of what is there already.
    #[must_use]
    pub const fn of(setup: Setup, server: Server, me: Client) -> Self {
        Self {
            setup,
            server,
            me,
            accounts: AtomicU32::new(0),
        }
    }

    /// Kills the program and starts it again.
    pub async fn restart(self) -> Self {
        self.server.kill().await;
        let server = self.setup.start().await;
        let me = self.me.at(&server.origin);
        Self { server, me, ..self }
    }

    /// Somebody with a new account and a key with all public scopes.
    pub async fn account(&self, plan: &str) -> Client {
        let email = format!("{plan}{}@example.com", self.accounts.fetch_add(1, Ordering::Relaxed));
        self.setup.create_user(&email, plan, &[]).await;
        let key = self.setup.create_key(&email, None).await;
        self.me.with_key(&key)
    }

    /// The operator with a key that has only these scopes.
    pub async fn me_with(&self, scopes: &str) -> Client {
        self.me.with_key(&self.setup.create_key(OPERATOR, Some(scopes)).await)
    }

    /// Tells the program what became known; all of it must be taken.
    ///
    /// # Panics
    /// If it is not.
    pub async fn ingest(&self, batch: Value) -> Answer {
        ingest(&self.me, batch).await
    }

    /// Puts stocks into the catalog.
    pub async fn stocks(&self, symbols: &[&str]) {
        let stocks: Vec<_> = symbols
            .iter()
            .map(|symbol| json!({"symbol": symbol, "name": format!("{symbol} Company")}))
            .collect();
        self.ingest(json!({ "stocks": stocks })).await;
    }

    /// An observation of a price.
    pub async fn quote(&self, symbol: &str, price: f64) {
        self.ingest(json!({"quotes": [{"symbol": symbol, "price": price}]}))
            .await;
    }

    /// A stock with a price.
    pub async fn stock_at(&self, symbol: &str, price: f64) {
        self.stocks(&[symbol]).await;
        self.quote(symbol, price).await;
    }

    /// The status of an alert.
    pub async fn status_of(&self, id: &str) -> String {
        let alert = self.me.get(&format!("/alerts/{id}")).await.ok(200);
        alert.text_of("status").to_owned()
    }

    /// The firings in an alert's history, newest first.
    pub async fn firings_of(&self, id: &str) -> Vec<Value> {
        let history = self.me.get(&format!("/alerts/{id}/history?limit=200")).await.ok(200);
        let fired = history
            .items()
            .iter()
            .filter(|entry| entry["action_type"] == "triggered");
        fired.cloned().collect()
    }
}

/// Tells the program what became known; all of it must be taken.
///
/// # Panics
/// If it is not.
pub async fn ingest(client: &Client, batch: Value) -> Answer {
    let answer = client.post("/market/ingest", &batch).await.ok_unlimited(200);
    assert_eq!(answer.data()["rejected"], json!([]), "{answer}");
    for (kind, rows) in batch.as_object().unwrap() {
        let count = rows.as_array().unwrap().len();
        assert_eq!(answer.data()["accepted"][kind], count, "{answer}");
    }
    answer
}
