//! The life of a process: the service starts, the steps of the plan happen, and the service stops or is ended.

use std::sync::Arc;
use std::time::Duration;

use alerts::AlertId;
use clock::Clock;
use foundation::{Actor, ServiceError};
use jiff::Timestamp;
use rand_chacha::ChaCha20Rng;
use serde_json::{Value, json};
use service::alerts::{AlertDetail, Created};
use service::{Service, ServiceConfig};
use tokio::sync::{Notify, mpsc};

use crate::clock::SimulatedClock;
use crate::disk::{self, DiskFaultKind};
use crate::finish;
use crate::model::{AlertModel, Cents, Change, MAX_SMALL_STEP, Split, WantedAlert};
use crate::network::{Behaviour, Receivers};
use crate::plan::{Action, BASIC_USER, SimulationPlan};
use crate::simulation::{LifeEnd, wait_ms};
use crate::template::{self, Template, dollars, symbol};
use crate::threads::Delays;
use crate::world::World;

/// The virtual time after which a request counts as hanging.
const MAX_REQUEST_DURATION: Duration = Duration::from_secs(300);

/// The dependencies of the life of a process.
pub(crate) struct Life<'a> {
    pub(crate) world: World,
    pub(crate) template: &'a Template,
    pub(crate) plan: &'a SimulationPlan,
    pub(crate) clock: Arc<SimulatedClock>,
    pub(crate) receivers: Arc<Receivers>,
    pub(crate) delays: Arc<Delays>,
    pub(crate) ended: Arc<Notify>,
    pub(crate) settings: ServiceConfig,
}

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

impl Life<'_> {
    /// Runs from the step at `position`.
    pub(crate) async fn run(self, position: &mut usize, random: ChaCha20Rng) -> LifeEnd {
        let clients = match self.start(random).await {
            Ok(clients) => clients,
            Err(error) => return LifeEnd::NotStarted(error.to_string()),
        };
        self.world.log("the service has started");
        while let Some(step) = self.plan.steps.get(*position) {
            wait_ms(step.gap_ms).await;
            *position += 1;
            if step.action == Action::Night {
                self.world.log("the machine is switched off for the night");
                self.world.state().ends_session = true;
                self.end_now();
                std::future::pending::<()>().await;
            }
            self.perform(&clients, &step.action);
        }
        if self.world.state().ending.is_some() {
            // The plan is through before the process has ended.
            self.end_now();
            std::future::pending::<()>().await;
        }
        finish::without_faults(&clients, &self.clock, &self.receivers).await;
        LifeEnd::Finished
    }

    async fn start(&self, random: ChaCha20Rng) -> anyhow::Result<Clients> {
        let store = template::open_store(&self.template.url, Arc::clone(&self.delays)).await?;
        let ports = template::ports(store, self.clock.clone(), &self.receivers, random);
        let service = Service::start(ports, self.settings.clone()).await?;
        let (quotes, waiting) = mpsc::unbounded_channel();
        let clients = Clients {
            service,
            world: self.world.clone(),
            users: Arc::new(self.template.users.clone()),
            operator: self.template.operator.clone(),
            quotes,
            url: self.template.url.clone(),
        };
        tokio::spawn(clients.clone().feed(waiting));
        Ok(clients)
    }

    fn end_now(&self) {
        disk::end_now();
        self.ended.notify_one();
    }

    /// Converts a price of an old share to the shares of the present session.
    fn in_present_shares(&self, stock: usize, price: Cents) -> Cents {
        let split = self.plan.splits[stock].filter(|_| self.world.state().model.is_second_session());
        split.map_or(price, |split| split.price(price))
    }

    fn perform(&self, clients: &Clients, action: &Action) {
        let world = &self.world;
        match *action {
            Action::Create { slot, user, mut wanted } => {
                wanted.threshold = self.in_present_shares(wanted.stock, wanted.threshold);
                wanted.returns_at = wanted
                    .returns_at
                    .map(|level| self.in_present_shares(wanted.stock, level));
                let prices = world.state().model.prices_of(wanted.stock);
                let alert = AlertModel::new(user, user == BASIC_USER, wanted, &prices);
                let request = world.create_begins(slot, alert);
                tokio::spawn(clients.clone().create(slot, request, user, wanted));
            }
            Action::Remind { slot, user, after_ms } => {
                let wanted = WantedAlert {
                    stock: 0,
                    is_above: true,
                    threshold: 0,
                    returns_at: None,
                    moment: Some(self.clock.now() + Duration::from_millis(after_ms)),
                };
                let prices = world.state().model.prices_of(wanted.stock);
                let request = world.create_begins(slot, AlertModel::new(user, user == BASIC_USER, wanted, &prices));
                world.sometimes("a reminder was set");
                tokio::spawn(clients.clone().create(slot, request, user, wanted));
            }
            Action::Change { slot, mut change } => {
                let state = world.state();
                let found = state.ids.get(&slot).copied();
                let alert = state.model.alerts.get(&slot);
                // The level of return of an alert that repeats would have to change with its threshold, and a reminder cannot be
                // activated after its moment.
                let alert = alert.filter(|alert| match change {
                    Change::Edit(_) => !alert.repeats && alert.moment.is_none(),
                    Change::Activate => alert.moment.is_none(),
                    Change::Create | Change::Pause | Change::Delete => true,
                });
                let owner = alert.map(|alert| (alert.owner, alert.is_above));
                let stock = alert.map_or(0, |alert| alert.stock);
                drop(state);
                if let Change::Edit(threshold) = &mut change {
                    *threshold = self.in_present_shares(stock, *threshold);
                }
                if let (Some(id), Some((owner, is_above))) = (found, owner) {
                    let request = world.change_begins(slot, change);
                    tokio::spawn(clients.clone().change(slot, request, (owner, id, is_above), change));
                }
            }
            Action::Trespass { slot } => {
                let state = world.state();
                let found = state.ids.get(&slot).copied();
                let owner = state.model.alerts.get(&slot).map(|alert| alert.owner);
                drop(state);
                if let (Some(id), Some(owner)) = (found, owner) {
                    tokio::spawn(clients.clone().trespass(1 - owner, id));
                }
            }
            Action::Quote {
                stock,
                price,
                age_ms,
                is_doubled,
            } => {
                let price = self.in_present_shares(stock, price);
                let made_at = age_ms.map(|age| self.clock.now() - Duration::from_millis(age));
                for _ in 0..=u8::from(is_doubled) {
                    let _ = clients.quotes.send((stock, price, made_at));
                }
                if is_doubled {
                    world.sometimes("a quote was doubled");
                }
            }
            Action::Split { stock } => {
                if let Some(split) = self.plan.splits[stock] {
                    tokio::spawn(clients.clone().split(stock, split));
                }
            }
            // The process has ended.
            Action::Night => {}
            Action::End {
                ending,
                operations,
                within_ms,
                start_operations,
            } => {
                world.state().ending = Some((ending, start_operations));
                let ended = Arc::clone(&self.ended);
                let in_time = Arc::clone(&self.ended);
                disk::end_after(operations, move || ended.notify_one());
                tokio::spawn(async move {
                    wait_ms(within_ms).await;
                    disk::end_now();
                    in_time.notify_one();
                });
            }
            Action::DiskFails(fault) => {
                world.log(format!("{fault:?}"));
                world.sometimes(match fault.kind {
                    DiskFaultKind::Failing => "the disk began to fail",
                    DiskFaultKind::Full => "the disk became full",
                });
                disk::fail(Some(fault));
            }
            Action::StepClock(by) => {
                world.log(format!("the clock is stepped by {by:#}"));
                world.sometimes(if by.is_negative() {
                    "the clock was stepped back"
                } else {
                    "the clock was stepped forward"
                });
                let mut state = world.state();
                if by.abs() > MAX_SMALL_STEP {
                    state.sometimes("the clock was stepped by minutes");
                }
                state.clock_was_set = true;
                state.model.clock_stepped(by);
                // Reminders may have come before a step back.
                state.note_time();
                self.clock.step(by);
                state.note_time();
            }
            Action::Drift(drift_us) => {
                world.log(format!("the clock drifts by {drift_us} us per second"));
                world.sometimes("the clock drifted");
                world.state().clock_was_set = true;
                self.clock.set_drift(drift_us);
            }
            Action::Receiver { receiver, behaviour } => {
                world.log(format!("receiver {receiver}: {behaviour:?}"));
                world.sometimes(match behaviour {
                    Behaviour::Accepts(_) => "a receiver was slow",
                    Behaviour::Refuses(_) => "a receiver refused",
                    Behaviour::LosesResponse => "a receiver lost its response",
                    Behaviour::NeverResponds => "a receiver never responded",
                    Behaviour::RefusesConnections => "a receiver refused connections",
                    Behaviour::Unreachable => "a receiver was unreachable",
                    Behaviour::HasNoName => "a receiver had no name",
                });
                self.receivers.set(receiver, behaviour);
            }
        }
    }
}

/// The body of a request that sets a threshold.
fn body(slot: usize, threshold: Cents) -> Value {
    json!({"threshold": dollars(threshold), "parameters": {"note": slot}})
}

impl Clients {
    async fn create(self, slot: usize, request: u64, user: usize, wanted: WantedAlert) {
        let mut body = body(slot, wanted.threshold);
        body["symbol"] = json!(symbol(wanted.stock));
        body["condition"] = json!(if wanted.is_above { "price_above" } else { "price_below" });
        if let Some(moment) = wanted.moment {
            let parameters = json!({"date": moment.to_string(), "note": slot.to_string()});
            body = json!({"symbol": symbol(wanted.stock), "condition": "reminder", "parameters": parameters});
        }
        if let Some(level) = wanted.returns_at {
            body["options"] = json!({"repeat": "each_time", "rearm": {"at": dollars(level)}});
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

    async fn change(self, slot: usize, request: u64, (owner, id, is_above): (usize, AlertId, bool), change: Change) {
        let (alerts, actor) = (&self.service.alerts, &self.users[owner]);
        let detail = |result: Result<AlertDetail, ServiceError>| result.map(drop);
        let result = match change {
            Change::Create => Ok(()),
            Change::Edit(threshold) => {
                let mut body = body(slot, threshold);
                body["condition"] = json!(if is_above { "price_above" } else { "price_below" });
                detail(self.in_time(alerts.update_alert(actor, id, &body)).await)
            }
            Change::Pause => detail(self.in_time(alerts.pause_alert(actor, id)).await),
            Change::Activate => detail(self.in_time(alerts.activate_alert(actor, id)).await),
            Change::Delete => self.in_time(alerts.delete_alert(actor, id)).await,
        };
        self.world.change_ends(slot, request, &result);
    }

    async fn trespass(self, user: usize, id: AlertId) {
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

    /// Delivers a split.
    async fn split(self, stock: usize, split: Split) {
        let request = self.world.split_begins(stock, split);
        let row = json!({"symbol": symbol(stock), "date": template::SPLIT_DAY, "ratio": split.ratio()});
        let body = json!({"splits": [row]});
        let sent = self
            .in_time(self.service.market.ingest_json(&self.operator, &body))
            .await;
        let sent = sent.map(|report| report.rejected.into_iter().map(|row| row.reason).collect());
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
        let body = json!({"quotes": [quote]});
        let sent = self
            .in_time(self.service.market.ingest_json(&self.operator, &body))
            .await;
        let sent = sent.map(|report| report.rejected.into_iter().map(|row| row.reason).collect());
        self.world.quote_ends(request, made_at, &sent);
        sent.is_ok()
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
