//! The life of a process: the service starts, the steps of the plan happen, and the service stops or is ended.

use std::sync::Arc;
use std::time::Duration;

use clock::Clock;
use rand_chacha::ChaCha20Rng;
use service::{Service, ServiceConfig};
use store::StoreError;
use tokio::sync::Notify;

use crate::clients::Clients;
use crate::clock::SimulatedClock;
use crate::disk::{self, DiskFaultKind};
use crate::finish;
use crate::model::{AlertModel, Cents, Change, MAX_SMALL_STEP, WantedAlert};
use crate::network::{Behaviour, SimulatedNetwork};
use crate::plan::{Action, BASIC_USER, SimulationPlan};
use crate::simulation::{LifeEnd, wait_ms};
use crate::template::{self, Template};
use crate::threads::Delays;
use crate::world::World;

/// The dependencies of the life of a process.
pub(crate) struct Life<'a> {
    pub(crate) world: World,
    pub(crate) template: &'a Template,
    pub(crate) plan: &'a SimulationPlan,
    pub(crate) clock: Arc<SimulatedClock>,
    pub(crate) network: SimulatedNetwork,
    pub(crate) delays: Arc<Delays>,
    pub(crate) ended: Arc<Notify>,
    pub(crate) settings: ServiceConfig,
}

impl Life<'_> {
    /// Runs from the step at `position`.
    pub(crate) async fn run(self, position: &mut usize, random: ChaCha20Rng) -> LifeEnd {
        let clients = match self.start(random).await {
            Ok(clients) => clients,
            Err(error) => {
                if let Some(StoreError::NotMigrated(_)) = error.downcast_ref() {
                    self.world.sometimes("an update of the schema failed");
                }
                return LifeEnd::NotStarted(error.to_string());
            }
        };
        self.world.state().is_starting = false;
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
        finish::without_faults(&clients, &self.clock, &self.network).await;
        LifeEnd::Finished
    }

    async fn start(&self, random: ChaCha20Rng) -> anyhow::Result<Clients> {
        let store = template::open_store(&self.template.url, Arc::clone(&self.delays)).await?;
        if std::mem::take(&mut self.world.state().is_upgrading) {
            let operations = disk::operations();
            self.world
                .log(format!("the schema is updated after {operations} changes of the disk"));
            self.world.sometimes("a process updated the schema");
        }
        let ports = template::ports(store, self.clock.clone(), &self.network, random);
        let service = Service::start(ports, self.settings.clone()).await?;
        Ok(Clients::start(service, self.world.clone(), self.template))
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
            Action::Create {
                slot,
                user,
                mut wanted,
                expires_after_ms,
                snoozed_for_ms,
            } => {
                wanted.snoozed_until = snoozed_for_ms.map(|for_ms| self.clock.now() + Duration::from_millis(for_ms));
                wanted.expires_at = expires_after_ms.map(|after_ms| self.clock.now() + Duration::from_millis(after_ms));
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
                    is_crossing: false,
                    needs_two_quotes: false,
                    must_hold: false,
                    threshold: 0,
                    returns_at: None,
                    cooldown: None,
                    snoozed_until: None,
                    moment: Some(self.clock.now() + Duration::from_millis(after_ms)),
                    max_firings: None,
                    expires_at: None,
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
                // The level of return of an alert that repeats would have to change with its threshold. A reminder cannot be activated
                // after its moment, nor another alert after its expiry.
                let alert = alert.filter(|alert| match change {
                    Change::Edit(_) => !alert.is_rule && alert.moment.is_none(),
                    Change::Activate => alert.moment.is_none() && alert.expires_at.is_none(),
                    Change::Create | Change::Snooze(_) | Change::Pause | Change::Delete => true,
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
            Action::Snooze { slot } => {
                let mut state = world.state();
                state.note_time();
                let found = state.ids.get(&slot).copied();
                let alert = state.model.alerts.get_mut(&slot);
                // The expiry would have to change with the snooze once it is past. Any other alert would become a rule.
                let alert = alert.filter(|alert| alert.is_rule && alert.expires_at.is_none());
                let change = found
                    .zip(alert)
                    .map(|(id, alert)| ((alert.owner, id, alert.is_above), alert.snooze()));
                drop(state);
                if let Some((alert, change)) = change {
                    let request = world.change_begins(slot, change);
                    tokio::spawn(clients.clone().change(slot, request, alert, change));
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
                    clients.send_quote(stock, price, made_at);
                }
                if is_doubled {
                    world.sometimes("a quote was doubled");
                }
            }
            Action::Acknowledge { user, place } => {
                tokio::spawn(clients.clone().acknowledge(user, place));
            }
            Action::Watch { user, stock, is_added } => {
                tokio::spawn(clients.clone().watch(user, stock, is_added));
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
                self.network.receivers.set(receiver, behaviour);
            }
            Action::MailServer(behaviour) => {
                world.log(format!("mail server: {behaviour:?}"));
                world.sometimes(match behaviour {
                    Behaviour::Accepts(_) => "the mail server was slow",
                    Behaviour::Refuses(_) => "the mail server refused",
                    Behaviour::LosesResponse => "the mail server lost its reply",
                    Behaviour::NeverResponds => "the mail server never replied",
                    Behaviour::RefusesConnections => "the mail server refused connections",
                    Behaviour::Unreachable => "the mail server was unreachable",
                    Behaviour::HasNoName => "the mail server had no name",
                });
                self.network.set_mail_server(behaviour);
            }
        }
    }
}
