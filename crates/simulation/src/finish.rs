//! The end of a simulation: faults end, everything due must be done, and the evidence is compared with the model.

use std::sync::Arc;

use clock::Clock;
use jiff::SignedDuration;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::clients::Clients;
use crate::clock::SimulatedClock;
use crate::disk::{self, Ending};
use crate::model::{AlertModel, AlertStatus, Cents, Cooldown, RecordedAlert, RecordedEmail, missing_deliveries};
use crate::network::{ReceivedEmails, SimulatedNetwork};
use crate::plan::STOCKS;
use crate::records::{DatabaseReader, Records};
use crate::report::SimulationReport;
use crate::simulation::{restart, wait_ms};
use crate::template::receivers_of;
use crate::world::World;

/// The time within which open requests must end after the faults, in milliseconds.
const MAX_DRAIN_MS: u64 = 400_000;
/// The time within which an alert whose level is reached fires without a new quote, in milliseconds: two evaluations.
const EVALUATION_MS: u64 = 3_000;
/// The time within which everything must be delivered after the faults, in milliseconds, if the clock was never ahead.
const MAX_DELIVERY_MS: u64 = 900_000;
/// The time after which no alert fires again because of a snooze or a cooldown, in milliseconds: a snooze and three firings, a minute each.
const LAST_FIRINGS_MS: u64 = 250_000;
/// The time in which an alert with a hold fires, in milliseconds: a minute and two evaluations.
const HOLD_MS: u64 = 63_000;
/// Prices that reach every level, and cross it in both directions.
const EXTREME_PRICES: [Cents; 3] = [100_000, 1, 100_000];

/// Lets the faults end, and waits until everything due is done.
pub(crate) async fn without_faults(clients: &Clients, clock: &Arc<SimulatedClock>, network: &SimulatedNetwork) {
    let world = &clients.world;
    let faults = disk::faults_hit();
    world.state().report.figures.disk_faults += faults;
    if faults > 0 {
        world.sometimes("a disk operation failed");
    }
    disk::fail(None);
    network.heal();
    world.state().note_time();
    let stepped = clock.correct();
    world.state().model.clock_stepped(stepped);
    world.log("all faults end");
    if !within(MAX_DRAIN_MS, || world.open_requests() == 0).await {
        world.violation("requests do not end although the faults have ended");
        return;
    }
    wait_ms(EVALUATION_MS).await;
    settle(world, clock);
    let Ok(database) = DatabaseReader::open(&clients.url) else {
        world.violation("the database cannot be opened although the faults have ended");
        return;
    };
    // Before the first extreme quote, which would evaluate what was missed.
    if let Ok(records) = database.records() {
        world.state().model.check_database(&records.alerts);
    }
    // An alert that the service has lost sight of does not fire now.
    let model_has = |needs: fn(&AlertModel) -> bool| world.state().model.alerts.values().any(needs);
    // An alert that waits for two quotes in a row needs each twice.
    let in_a_row = 1 + usize::from(model_has(|alert| alert.needs_two_quotes));
    let must_hold = model_has(|alert| alert.must_hold);
    for price in EXTREME_PRICES {
        for stock in 0..STOCKS {
            for _ in 0..in_a_row {
                if !clients.quote(stock, price, None).await {
                    world.violation(format!(
                        "a quote of stock {stock} failed although the faults have ended"
                    ));
                }
            }
        }
        if must_hold {
            wait_ms(HOLD_MS).await;
        }
    }
    wait_ms(EVALUATION_MS).await;
    settle(world, clock);
    // A retry that was scheduled while the clock was ahead may wait for as long, and so may a snooze or a cooldown.
    let ahead = u64::try_from(clock.max_ahead().as_millis()).unwrap_or_default();
    let may_wait =
        |alert: &AlertModel| alert.cooldown().is_some() || alert.must_hold || alert.end_of_last_snooze().is_some();
    let may_fire_later = world.state().model.alerts.values().any(may_wait);
    if may_fire_later {
        if ahead > 0 {
            world.state().model.prices_may_be_old();
        }
        for _ in 0..(LAST_FIRINGS_MS + ahead).div_ceil(EVALUATION_MS) {
            wait_ms(EVALUATION_MS).await;
            settle(world, clock);
        }
    }
    let is_delivered = || {
        let Ok(records) = database.records() else {
            return false;
        };
        missing_deliveries(&records.alerts, &network.receivers.delivered(), &receivers_of).is_empty()
            && records.emails.iter().all(RecordedEmail::is_finished)
    };
    within(MAX_DELIVERY_MS + ahead, is_delivered).await;
    // Reminders may have come while deliveries were waited for.
    world.state().note_time();
    world.log("everything due is done");
}

fn settle(world: &World, clock: &SimulatedClock) {
    let delay = SignedDuration::from_millis(i64::try_from(EVALUATION_MS).unwrap_or(i64::MAX));
    world.state().model.settle(clock.now(), delay);
}

/// Waits until a condition holds. Returns `false` after a while.
async fn within(milliseconds: u64, mut holds: impl FnMut() -> bool) -> bool {
    let mut waited = 0;
    while !holds() {
        if waited >= milliseconds {
            return false;
        }
        let pause = (waited / 4).clamp(10, 5_000);
        wait_ms(pause).await;
        waited += pause;
    }
    true
}

/// Ends the last process, and compares the evidence with the model.
pub(crate) fn report(
    world: &World,
    network: &SimulatedNetwork,
    url: &str,
    elapsed: SignedDuration,
    random: &mut ChaCha8Rng,
) -> SimulationReport {
    // Everything that was acknowledged is durable.
    let ending = if random.random_range(0..2) == 0 {
        Ending::PowerCut
    } else {
        Ending::Kill
    };
    restart(world, ending, random);
    let mut state = world.state();
    match DatabaseReader::open(url).and_then(|database| Ok((database.check()?, database.records()?))) {
        Ok((integrity, records)) => {
            if integrity != "ok" {
                let text = format!("the database is damaged: {integrity}");
                state.model.violations.push(text);
            }
            for slot in &records.doubled {
                state.model.violations.push(format!("alert {slot} exists twice"));
            }
            note_states(&mut state, &records);
            let delivered = network.receivers.delivered();
            state.model.check_database(&records.alerts);
            let in_history = records.acknowledgements_in_history;
            state.model.check_acknowledgements(&records.acknowledged, in_history);
            state.model.check_watchlists(&records.watched);
            state.model.check_deliveries(&records.alerts, &delivered, receivers_of);
            let received = network.mail_server.as_ref().map(|server| server.received());
            note_emails(&mut state, &records, received.as_ref());
            let emails = (records.emails.as_slice(), records.email_results.as_slice());
            state.model.check_emails(&records.alerts, emails, received.as_ref());
        }
        Err(error) => state
            .model
            .violations
            .push(format!("the database cannot be read: {error}")),
    }
    let (requests, repeated) = network.receivers.counts();
    if repeated > 0 {
        state.sometimes("a delivery was repeated");
    }
    state.report.figures.deliveries = requests;
    state.report.figures.virtual_ms = u64::try_from(elapsed.as_millis()).unwrap_or_default();
    let mut report = std::mem::take(&mut state.report);
    report.violations = std::mem::take(&mut state.model.violations);
    report
}

fn note_states(state: &mut crate::world::WorldState, records: &Records) {
    for (slot, alert) in &records.alerts {
        state.report.figures.firings += u64::try_from(alert.firings.len()).unwrap_or_default();
        if alert.firings.iter().any(|firing| firing.reason.contains("reminder")) {
            state.sometimes("a reminder fired");
        }
        if alert.firings.iter().any(|firing| firing.reason.contains("true since")) {
            state.sometimes("an alert fired after its hold");
        }
        if alert.firings.len() > 1 {
            state.sometimes("an alert fired twice");
            match state.model.alerts.get(slot).and_then(AlertModel::cooldown) {
                Some(Cooldown::Minute { .. }) => state.sometimes("an alert with a cooldown fired twice"),
                Some(Cooldown::UntilMidnight) => state.sometimes("an alert that fires once a day fired on two days"),
                None => {}
            }
        }
        if alert.status == AlertStatus::Deleted && !alert.firings.is_empty() {
            state.sometimes("a deleted alert had fired");
        }
        if alert.adjustments > 0 {
            state.reach(of_adjusted(alert));
        }
        if alert.status == AlertStatus::Expired {
            state.sometimes("an alert expired");
        }
        if alert.status == AlertStatus::Triggered && alert.max_firings.is_some() {
            state.sometimes("an alert reached its limit of firings");
        }
        if alert.status == AlertStatus::Paused {
            state.sometimes("an alert was paused at the end");
        }
    }
}

fn note_emails(state: &mut crate::world::WorldState, records: &Records, received: Option<&ReceivedEmails>) {
    let Some(received) = received else {
        return;
    };
    if !received.accepted.is_empty() {
        state.sometimes("an email was sent");
    }
    if received.repeated > 0 {
        state.sometimes("an email was sent again");
    }
    if !received.refused.is_empty() {
        state.sometimes("an email was refused for good");
    }
    if records.emails.iter().any(|email| email.folded_into.is_some()) {
        state.sometimes("an email had several firings");
    }
    if records.emails.iter().any(RecordedEmail::is_acknowledged) {
        state.sometimes("an email about an acknowledged firing was not sent");
    }
}

fn of_adjusted(alert: &RecordedAlert) -> Vec<&'static str> {
    let mut reached = Vec::new();
    if alert.returns_at.is_some() {
        reached.push("an alert that repeats was adjusted to a split");
    }
    if !alert.firings.is_empty() {
        reached.push("an adjusted alert fired");
    }
    reached
}
