//! The clients of a process: the users, and the source of market data.

use std::sync::Arc;
use std::time::Duration;

use alerts::AlertId;
use foundation::{Actor, ServiceError};
use jiff::Timestamp;
use serde_json::{Value, json};
use service::Service;
use service::alerts::{AlertDetail, Created};
use service::{ListRequest, PageRequest};
use store::model::FiringFilter;
use tokio::sync::mpsc;
use watchlist::ItemView;

use crate::model::{Cents, Change, Cooldown, Split, WantedAlert};
use crate::template::{self, Template, dollars, symbol};
use crate::world::World;

/// The virtual time after which a request counts as hanging.
const MAX_REQUEST_DURATION: Duration = Duration::from_secs(300);

/// A quote to send: its stock, its price, and the time at which it was made, if it has one.
type PlannedQuote = (usize, Cents, Option<Timestamp>);

/// The running service, with its users and its source of quotes.
#[derive(Clone)]
pub(crate) struct Clients {
    pub(crate) service: Service,
    pub(crate) world: World,
    users: Arc<Vec<Actor>>,
    operator: Actor,
    quotes: mpsc::UnboundedSender<PlannedQuote>,
    /// The URL of the database.
    pub(crate) url: String,
}

/// The body of a request that sets a threshold.
fn body(slot: usize, threshold: Cents) -> Value {
    json!({"threshold": dollars(threshold), "parameters": {"note": slot}})
}

/// The condition of an alert on a price.
const fn condition(is_above: bool) -> &'static str {
    if is_above { "price_above" } else { "price_below" }
}

impl Clients {
    /// Starts the source of quotes.
    pub(crate) fn start(service: Service, world: World, template: &Template) -> Self {
        let (quotes, waiting) = mpsc::unbounded_channel();
        let clients = Self {
            service,
            world,
            users: Arc::new(template.users.clone()),
            operator: template.operator.clone(),
            quotes,
            url: template.url.clone(),
        };
        tokio::spawn(clients.clone().feed(waiting));
        clients
    }

    /// Sends a quote after those before it.
    pub(crate) fn send_quote(&self, stock: usize, price: Cents, made_at: Option<Timestamp>) {
        // The source ends with its process.
        let _ = self.quotes.send((stock, price, made_at));
    }

    pub(crate) async fn create(self, slot: usize, request: u64, user: usize, wanted: WantedAlert) {
        let mut body = body(slot, wanted.threshold);
        body["symbol"] = json!(symbol(wanted.stock));
        body["condition"] = json!(condition(wanted.is_above));
        if let Some(moment) = wanted.moment {
            let parameters = json!({"date": moment.to_string(), "note": slot.to_string()});
            body = json!({"symbol": symbol(wanted.stock), "condition": "reminder", "parameters": parameters});
        }
        if wanted.is_crossing {
            let side = if wanted.is_above { "above" } else { "below" };
            let when = format!("price crosses {side} {}", dollars(wanted.threshold));
            body = json!({"symbol": symbol(wanted.stock), "condition": "expression", "parameters": {"when": when},
                          "note": slot.to_string()});
        }
        let mut options = json!({});
        if let Some(level) = wanted.returns_at {
            options = json!({"repeat": "each_time", "rearm": {"at": dollars(level)}});
        }
        match wanted.cooldown {
            Some(Cooldown::UntilMidnight) => options["repeat"] = json!("once_per_day"),
            Some(Cooldown::Minute { refires }) => {
                options["repeat"] = json!("each_time");
                options["cooldown"] = json!("1m");
                options["cooldown_refire"] = json!(refires);
            }
            None => {}
        }
        if wanted.must_hold {
            options["hold"] = json!("1m");
        }
        if wanted.needs_two_quotes {
            options["trigger"] = json!("two_lasts");
        }
        if let Some(end) = wanted.snoozed_until {
            options["snoozed_until"] = json!(end.to_string());
        }
        if let Some(last) = wanted.max_firings {
            options["max_firings"] = json!(last);
        }
        if let Some(expiry) = wanted.expires_at {
            options["expires_at"] = json!(expiry.to_string());
        }
        if options != json!({}) {
            body["options"] = options;
        }
        let created = self
            .in_time(self.service.alerts.create_alert(&self.users[user], &body))
            .await;
        if let Ok(Created::New(detail)) = &created {
            self.world.state().ids.insert(slot, detail.stored.alert.id);
        } else if let Ok(Created::Existing(_)) = &created {
            self.world
                .violation(format!("alert {slot}: it was taken for another one"));
        }
        self.world.change_ends(slot, request, &created);
    }

    pub(crate) async fn change(
        self,
        slot: usize,
        request: u64,
        (owner, id, is_above): (usize, AlertId, bool),
        change: Change,
    ) {
        let (alerts, actor) = (&self.service.alerts, &self.users[owner]);
        let detail = |result: Result<AlertDetail, ServiceError>| result.map(drop);
        let result = match change {
            Change::Create => Ok(()),
            Change::Edit(threshold) => {
                let mut body = body(slot, threshold);
                body["condition"] = json!(condition(is_above));
                detail(self.in_time(alerts.update_alert(actor, id, &body)).await)
            }
            Change::Snooze(_) => {
                let body = json!({"snooze": "1m"});
                detail(self.in_time(alerts.patch_alert(actor, id, &body)).await)
            }
            Change::Pause => detail(self.in_time(alerts.pause_alert(actor, id)).await),
            Change::Activate => detail(self.in_time(alerts.activate_alert(actor, id)).await),
            Change::Delete => self.in_time(alerts.delete_alert(actor, id)).await,
        };
        self.world.change_ends(slot, request, &result);
    }

    pub(crate) async fn trespass(self, user: usize, id: AlertId) {
        let (alerts, actor) = (&self.service.alerts, &self.users[user]);
        let read = self.in_time(alerts.alert(actor, id)).await.map(drop);
        let deleted = self.in_time(alerts.delete_alert(actor, id)).await;
        for result in [read, deleted] {
            match result {
                Ok(()) => self
                    .world
                    .violation(format!("user {user} reached alert {id} of another account")),
                Err(ServiceError::NotFound(_)) => self.world.sometimes("another account was refused an alert"),
                Err(_) => {}
            }
        }
    }

    /// Acknowledges the firing at a place of the list of a user.
    pub(crate) async fn acknowledge(self, user: usize, place: usize) {
        let (firings, actor) = (&self.service.firings, &self.users[user]);
        let newest = ListRequest {
            page: PageRequest { page: 1, limit: 10 },
            after: None,
        };
        let listed = self
            .in_time(firings.firings(actor, FiringFilter::default(), newest))
            .await;
        let firing = listed.ok().and_then(|page| page.items.into_iter().nth(place));
        if let Some(id) = firing.map(|firing| firing.firing.id) {
            let request = self.world.acknowledgement_begins(id);
            let acknowledged = self.in_time(firings.acknowledge(actor, id, "api")).await;
            self.world.acknowledgement_ends(request, acknowledged.map(drop));
        }
    }

    /// Adds a stock to the watchlist of a user, or removes it.
    pub(crate) async fn watch(self, user: usize, stock: usize, is_added: bool) {
        let (watchlists, actor) = (&self.service.watchlists, &self.users[user]);
        let Some(request) = self.world.watching_begins(user, stock, is_added) else {
            return;
        };
        let result = if is_added {
            let body = json!({"stock_symbol": symbol(stock), "intention": "buy"});
            let added = self.in_time(watchlists.add_to_watchlist(actor, &body)).await;
            added.map(drop)
        } else {
            let is_of_stock = |item: &ItemView| item.listed.item.symbol.as_str() == symbol(stock);
            match self.in_time(watchlists.watchlist(actor)).await {
                Ok(items) => match items.iter().find(|item| is_of_stock(item)) {
                    Some(item) => {
                        self.in_time(watchlists.delete_watchlist_item(actor, item.listed.item.id))
                            .await
                    }
                    None => Err(ServiceError::NotFound("watchlist item")),
                },
                Err(error) => Err(error),
            }
        };
        self.world.watching_ends(request, result);
    }

    /// Delivers a split.
    pub(crate) async fn split(self, stock: usize, split: Split) {
        let request = self.world.split_begins(stock, split);
        let row = json!({"symbol": symbol(stock), "date": template::SPLIT_DAY, "ratio": split.ratio()});
        let sent = self.ingest(json!({"splits": [row]})).await;
        self.world.split_ends(request, &sent);
    }

    /// Sends quotes, one after another.
    async fn feed(self, mut waiting: mpsc::UnboundedReceiver<PlannedQuote>) {
        while let Some((stock, price, made_at)) = waiting.recv().await {
            self.quote(stock, price, made_at).await;
        }
    }

    /// Sends a quote. Returns whether it was acknowledged.
    pub(crate) async fn quote(&self, stock: usize, price: Cents, made_at: Option<Timestamp>) -> bool {
        let request = self.world.quote_begins(stock, price, made_at);
        let mut quote = template::quote(stock, price);
        if let Some(made_at) = made_at {
            quote["time"] = json!(made_at.to_string());
        }
        let sent = self.ingest(json!({"quotes": [quote]})).await;
        self.world.quote_ends(request, made_at, &sent);
        sent.is_ok()
    }

    /// Sends market data. Returns the reasons of the rejected rows.
    async fn ingest(&self, body: Value) -> Result<Vec<String>, ServiceError> {
        let sent = self
            .in_time(self.service.market.ingest_json(&self.operator, &body))
            .await;
        sent.map(|report| report.rejected.into_iter().map(|row| row.reason).collect())
    }

    /// Waits for a request, and reports one that hangs.
    async fn in_time<T>(&self, request: impl Future<Output = Result<T, ServiceError>>) -> Result<T, ServiceError> {
        match tokio::time::timeout(MAX_REQUEST_DURATION, request).await {
            Ok(result) => result,
            Err(_) => {
                self.world.violation("a request hangs");
                Err(ServiceError::StorageUnavailable(store::StoreError::Closed))
            }
        }
    }
}
