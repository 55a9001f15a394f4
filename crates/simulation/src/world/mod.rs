//! The state that outlives the processes of the service: the model, the log of events, and the open requests.

mod market;
mod users;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use alerts::AlertId;
use clock::Clock;
use foundation::ServiceError;
use jiff::Timestamp;
use store::model::EventId;

use crate::clock::SimulatedClock;
use crate::disk::{self, Ending};
use crate::model::{AlertModel, Cents, Change, Model, Outcome, RequestId};
use crate::plan::{FIRST_PRICE, STOCKS};
use crate::rare_states;
use crate::report::SimulationReport;

/// A handle of the state.
#[derive(Clone)]
pub(crate) struct World(Arc<Mutex<WorldState>>);

pub(crate) struct WorldState {
    pub(crate) model: Model,
    pub(crate) report: SimulationReport,
    /// The ids of alerts, by slot, once they are known.
    pub(crate) ids: BTreeMap<usize, AlertId>,
    /// Open requests, each with the number of faults of the disk before it.
    open: BTreeMap<RequestId, (OpenRequest, u64)>,
    next_request: RequestId,
    /// The time of the latest acknowledged quote of each stock.
    judged: BTreeMap<usize, Timestamp>,
    /// Whether the clock was stepped or drifted, so that times do not tell which of two quotes is older.
    pub(crate) clock_was_set: bool,
    /// How the present process ends, and after how many operations the next one ends during its start.
    pub(crate) ending: Option<(Ending, Option<u64>)>,
    /// Whether the session is over when the present process has ended.
    pub(crate) ends_session: bool,
    /// Whether the present process has not started yet.
    pub(crate) is_starting: bool,
    /// Whether the schema is of a former version.
    pub(crate) is_upgrading: bool,
    began: Timestamp,
    /// The clock of the running process.
    pub(crate) clock: Option<Arc<SimulatedClock>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenRequest {
    /// The slot of the alert.
    Change(usize),
    /// The stock, the price, and the time of the quote.
    Quote(usize, Cents, Timestamp),
    /// The stock.
    Split(usize),
    /// The id of the firing.
    Acknowledgement(EventId),
    /// The user, the stock, and whether it is added to the watchlist.
    Watching(usize, usize, bool),
}

/// Whether an error leaves it open whether the request has been executed.
fn outcome_of(error: &ServiceError) -> Option<Outcome> {
    match error {
        ServiceError::NotFound(_) => Some(Outcome::NotFound),
        ServiceError::Invalid { .. } => Some(Outcome::Rejected),
        ServiceError::Forbidden { reason: "plan", .. } => Some(Outcome::OverQuota),
        ServiceError::Unavailable(_) => Some(Outcome::Refused),
        ServiceError::StorageUnavailable(_) | ServiceError::Internal(_) => Some(Outcome::Failed),
        _ => None,
    }
}

impl World {
    pub(crate) fn new(seed: u64, began: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(WorldState {
            model: Model::new(STOCKS, FIRST_PRICE, began),
            report: SimulationReport {
                seed,
                ..SimulationReport::default()
            },
            ids: BTreeMap::new(),
            open: BTreeMap::new(),
            next_request: 0,
            judged: BTreeMap::new(),
            clock_was_set: false,
            ending: None,
            ends_session: false,
            is_starting: false,
            is_upgrading: false,
            began,
            clock: None,
        })))
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, WorldState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records an event.
    pub(crate) fn log(&self, event: impl Into<String>) {
        self.state().log(event.into());
    }

    /// Records that a rare state was reached.
    pub(crate) fn sometimes(&self, state: &'static str) {
        self.state().sometimes(state);
    }

    /// Records a violation.
    pub(crate) fn violation(&self, text: impl Into<String>) {
        self.state().model.violations.push(text.into());
    }

    /// The number of open requests.
    pub(crate) fn open_requests(&self) -> usize {
        self.state().open.len()
    }

    /// A request to create an alert begins.
    pub(crate) fn create_begins(&self, slot: usize, alert: AlertModel) -> RequestId {
        self.state().model.add(slot, alert);
        self.change_begins(slot, Change::Create)
    }

    /// A request for a change begins.
    pub(crate) fn change_begins(&self, slot: usize, change: Change) -> RequestId {
        let mut state = self.state();
        let request = state.number();
        let stock = state.model.alerts.get(&slot).map(|alert| alert.stock);
        if state.open.values().any(|(open, _)| *open == OpenRequest::Change(slot)) {
            state.sometimes("two changes of an alert were open together");
        }
        if state
            .open
            .values()
            .any(|(open, _)| matches!(open, OpenRequest::Quote(of, ..) if Some(*of) == stock))
        {
            state.sometimes("a quote met a change of its alert");
        }
        if let Some(alert) = state.model.alerts.get(&slot) {
            let reached = rare_states::of_change(alert, change);
            state.reach(reached);
        }
        state
            .open
            .insert(request, (OpenRequest::Change(slot), disk::faults_hit()));
        state.model.change_begins(slot, request, change);
        state.log(format!("#{request} {change:?} of alert {slot} begins"));
        request
    }

    /// A request for a change has been answered.
    pub(crate) fn change_ends<T>(&self, slot: usize, request: RequestId, result: &Result<T, ServiceError>) {
        let outcome = match result {
            Ok(_) => Some(Outcome::Succeeded),
            Err(error) => outcome_of(error),
        };
        let mut state = self.state();
        state.note_time();
        if disk::has_ended() {
            return;
        }
        let Some((_, faults)) = state.open.remove(&request) else {
            return;
        };
        let Some(outcome) = outcome else {
            let error = result.as_ref().err().map(ToString::to_string).unwrap_or_default();
            state
                .model
                .violations
                .push(format!("alert {slot}: unexpected error: {error}"));
            return;
        };
        match outcome {
            Outcome::Failed => {
                state.sometimes("a request failed");
                state.require_fault(request, faults);
            }
            Outcome::Rejected => state.sometimes("a change was rejected"),
            Outcome::NotFound => state.sometimes("a change found no alert"),
            Outcome::OverQuota => state.sometimes("an alert was refused by the quota"),
            Outcome::Refused => state.sometimes("an alert was refused without a current price"),
            Outcome::Succeeded => state.report.figures.acknowledged += 1,
        }
        state.log(format!("#{request} of alert {slot} ends: {outcome:?}"));
        state.model.change_ends(slot, request, outcome);
    }
}

impl WorldState {
    /// Lets the model know the time of the machine.
    pub(crate) fn note_time(&mut self) {
        if let Some(clock) = &self.clock {
            let now = clock.now();
            self.model.note_time(now);
        }
    }

    /// A request begins.
    fn open_request(&mut self, request: OpenRequest) -> RequestId {
        let number = self.number();
        self.open.insert(number, (request, disk::faults_hit()));
        number
    }

    /// A request has been answered, unless its process has ended. One that has failed needs a fault of the disk.
    fn close_request<T>(&mut self, number: RequestId, result: &Result<T, ServiceError>) -> Option<OpenRequest> {
        self.note_time();
        if disk::has_ended() {
            return None;
        }
        let (request, faults) = self.open.remove(&number)?;
        self.log(match result {
            Ok(_) => format!("#{number} is acknowledged"),
            Err(error) => format!("#{number} ends: {error}"),
        });
        match result {
            Ok(_) => self.report.figures.acknowledged += 1,
            Err(error) if outcome_of(error) == Some(Outcome::Failed) => self.require_fault(number, faults),
            Err(_) => {}
        }
        Some(request)
    }

    fn violation(&mut self, text: String) {
        self.model.violations.push(text);
    }

    fn number(&mut self) -> RequestId {
        self.note_time();
        self.next_request += 1;
        self.report.figures.requests += 1;
        self.next_request
    }

    /// A request may only fail if the disk has failed since it began, with `faults` before.
    fn require_fault(&mut self, request: RequestId, faults: u64) {
        if disk::faults_hit() <= faults {
            self.model
                .violations
                .push(format!("#{request} failed although the disk has not"));
        }
    }

    pub(crate) fn log(&mut self, event: String) {
        let now = self.clock.as_ref().map_or(self.began, |clock| clock.true_time());
        let at = now.duration_since(self.began).as_millis();
        self.report.events.push(format!(
            "{:>9.3} s  {event}",
            f64::from(i32::try_from(at).unwrap_or(i32::MAX)) / 1000.0
        ));
    }

    /// Records that rare states were reached.
    pub(crate) fn reach(&mut self, reached: Vec<&'static str>) {
        reached.into_iter().for_each(|reached| self.sometimes(reached));
    }

    pub(crate) fn sometimes(&mut self, reached: &'static str) {
        debug_assert!(
            crate::report::SOMETIMES.contains(&reached),
            "{reached} is not in the list"
        );
        *self.report.sometimes.entry(reached.to_owned()).or_default() += 1;
    }

    /// A process could not start, so it has taken no request and judged no price.
    pub(crate) fn process_not_started(&mut self, text: String) {
        self.report.figures.endings += 1;
        self.sometimes("a process could not start");
        self.log(text);
    }

    /// The process has ended. Its open requests will not be answered.
    pub(crate) fn process_ended(&mut self, text: String) {
        self.report.figures.endings += 1;
        for (open, _) in std::mem::take(&mut self.open).values() {
            if let OpenRequest::Watching(user, stock, is_added) = *open {
                self.model.watched.change_begins((user, stock), is_added);
            }
            self.sometimes(match open {
                OpenRequest::Change(_) => "a process ended with an open request",
                OpenRequest::Quote(..) => "a process ended with an open quote",
                OpenRequest::Split(_) => "a process ended with an open split",
                OpenRequest::Acknowledgement(_) => "a process ended with an open acknowledgement",
                OpenRequest::Watching(..) => "a process ended with an open change of a watchlist",
            });
        }
        let reached = rare_states::of_ending(&self.model);
        self.reach(reached);
        self.model.process_ends();
        self.log(text);
    }
}
