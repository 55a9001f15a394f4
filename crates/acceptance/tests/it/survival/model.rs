//! The expected state: each alert as a set of possible states.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// A price or threshold in ten-thousandths of a dollar: an integer, so that comparisons are exact.
pub(crate) type Price = i64;

/// Converts a price to dollars for JSON.
pub(crate) fn dollars(price: Price) -> f64 {
    f64::from(i32::try_from(price).unwrap()) / 10_000.0
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum AlertStatus {
    /// Never created.
    Absent,
    Active,
    Paused,
    Triggered,
    Deleted,
}

impl AlertStatus {
    pub(crate) fn read(text: &str) -> Self {
        match text {
            "active" => Self::Active,
            "paused" => Self::Paused,
            "triggered" => Self::Triggered,
            "deleted" => Self::Deleted,
            other => panic!("an alert is {other}"),
        }
    }
}

/// One possible state of an alert.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct AlertState {
    pub(crate) status: AlertStatus,
    pub(crate) threshold: Price,
    /// Prices of its firings, in order.
    pub(crate) fired: Vec<Price>,
}

/// A requested change of an alert.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operation {
    Create,
    Edit(Price),
    Pause,
    Activate,
    Delete,
}

/// The outcome of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    Succeeded,
    Rejected,
    NotFound,
    /// No response arrived: the change may have been applied or not.
    Unknown,
}

impl AlertState {
    /// Returns the outcome of an operation in this state, and the next state.
    fn apply(&self, operation: Operation) -> (Outcome, Self) {
        use AlertStatus::{Absent, Active, Deleted, Paused, Triggered};
        let to = |status| Self { status, ..self.clone() };
        match (operation, self.status) {
            (Operation::Create, Absent) => (Outcome::Succeeded, to(Active)),
            (_, Absent | Deleted) | (Operation::Create, _) => (Outcome::NotFound, self.clone()),
            (Operation::Edit(threshold), _) => (
                Outcome::Succeeded,
                Self {
                    threshold,
                    ..self.clone()
                },
            ),
            (Operation::Pause, Triggered) => (Outcome::Rejected, self.clone()),
            (Operation::Pause, Active | Paused) => (Outcome::Succeeded, to(Paused)),
            (Operation::Activate, _) => (Outcome::Succeeded, to(Active)),
            (Operation::Delete, _) => (Outcome::Succeeded, to(Deleted)),
        }
    }

    fn fires(&self, above: bool, price: Price) -> bool {
        let reached = if above {
            price >= self.threshold
        } else {
            price <= self.threshold
        };
        self.status == AlertStatus::Active && reached
    }

    fn fired_at(&self, price: Price) -> Self {
        let mut fired = self.fired.clone();
        fired.push(price);
        Self {
            status: AlertStatus::Triggered,
            fired,
            ..self.clone()
        }
    }
}

/// An alert as its worker knows it.
#[derive(Clone, Debug)]
pub(crate) struct AlertModel {
    /// Unknown if the creation got no response.
    pub(crate) id: Option<String>,
    pub(crate) symbol: String,
    pub(crate) above: bool,
    /// Unique number in its parameters, which identifies the alert.
    pub(crate) note: u64,
    pub(crate) possible_states: BTreeSet<AlertState>,
}

impl AlertModel {
    /// Whether the alert was created as an expression, which means the same as the condition on the price.
    const fn is_expression(&self) -> bool {
        self.note.is_multiple_of(3)
    }

    /// The condition in requests and responses.
    pub(crate) const fn condition(&self) -> &'static str {
        match (self.is_expression(), self.above) {
            (true, _) => "expression",
            (false, true) => "price_above",
            (false, false) => "price_below",
        }
    }

    /// The fields of a request that set a threshold.
    pub(crate) fn threshold_fields(&self, threshold: Price) -> Value {
        if !self.is_expression() {
            return json!({"threshold": dollars(threshold), "parameters": {"note": self.note}});
        }
        let relation = if self.above { ">=" } else { "<=" };
        let when = format!("price {relation} {}", dollars(threshold));
        json!({"parameters": {"note": self.note, "when": when}})
    }

    pub(crate) fn new(symbol: &str, above: bool, note: u64, threshold: Price) -> Self {
        let absent = AlertState {
            status: AlertStatus::Absent,
            threshold,
            fired: Vec::new(),
        };
        Self {
            id: None,
            symbol: symbol.to_owned(),
            above,
            note,
            possible_states: BTreeSet::from([absent]),
        }
    }

    /// Returns whether all possible states have this status.
    pub(crate) fn is_certainly(&self, status: AlertStatus) -> bool {
        self.possible_states.iter().all(|state| state.status == status)
    }

    /// Records the outcome of an operation. `prices` are the possible prices of the stock.
    pub(crate) fn record_outcome(
        &mut self,
        operation: Operation,
        outcome: Outcome,
        prices: &BTreeSet<Price>,
    ) -> Result<(), String> {
        let mut possible_states = BTreeSet::new();
        for state in &self.possible_states {
            let (expected, next) = state.apply(operation);
            if outcome == Outcome::Unknown {
                possible_states.insert(state.clone());
            }
            if outcome == Outcome::Unknown || outcome == expected {
                possible_states.insert(next);
            }
        }
        if possible_states.is_empty() {
            return Err(format!(
                "{operation:?} had the outcome {outcome:?}, but the alert can only be {:?}",
                self.possible_states
            ));
        }
        self.possible_states = possible_states;
        self.add_firings_at(prices);
        Ok(())
    }

    /// Records a price. If the price was acknowledged, every state whose threshold it reaches has fired.
    pub(crate) fn record_price(&mut self, price: Price, acknowledged: bool) {
        let mut possible_states = BTreeSet::new();
        for state in &self.possible_states {
            if state.fires(self.above, price) {
                possible_states.insert(state.fired_at(price));
                if !acknowledged {
                    possible_states.insert(state.clone());
                }
            } else {
                possible_states.insert(state.clone());
            }
        }
        self.possible_states = possible_states;
    }

    /// Adds the states after a firing at the current prices: an active alert whose condition holds fires without a new quote.
    pub(crate) fn add_firings_at(&mut self, prices: &BTreeSet<Price>) {
        let fired: Vec<_> = self
            .possible_states
            .iter()
            .flat_map(|state| {
                let reached = prices.iter().filter(|&&price| state.fires(self.above, price));
                reached.map(|&price| state.fired_at(price))
            })
            .collect();
        self.possible_states.extend(fired);
    }

    /// Compares the actual state with the possible states and narrows the set to it.
    pub(crate) fn observe_state(&mut self, state: &AlertState, prices: &BTreeSet<Price>) -> Result<(), String> {
        // The API does not show the threshold of a deleted alert.
        let same = |possible: &&AlertState| {
            possible.status == state.status && possible.fired == state.fired && {
                possible.threshold == state.threshold || state.status == AlertStatus::Deleted
            }
        };
        let max_firings = self.possible_states.iter().map(|possible| possible.fired.len()).max();
        if Some(state.fired.len()) > max_firings {
            return Err(format!(
                "fired too often: {state:?}; expected one of {:?}",
                self.possible_states
            ));
        }
        let Some(known) = self.possible_states.iter().find(same) else {
            return Err(format!("is {state:?}; expected one of {:?}", self.possible_states));
        };
        self.possible_states = BTreeSet::from([known.clone()]);
        self.add_firings_at(prices);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_PRICE: BTreeSet<Price> = BTreeSet::new();

    fn created_alert() -> AlertModel {
        let mut alert = AlertModel::new("W0", true, 1, 100);
        alert
            .record_outcome(Operation::Create, Outcome::Succeeded, &NO_PRICE)
            .unwrap();
        alert
    }

    fn state(status: AlertStatus, threshold: Price, fired: &[Price]) -> AlertState {
        AlertState {
            status,
            threshold,
            fired: fired.to_vec(),
        }
    }

    #[test]
    fn acknowledged_change_must_be_present() {
        let mut alert = created_alert();
        alert
            .record_outcome(Operation::Edit(200), Outcome::Succeeded, &NO_PRICE)
            .unwrap();
        assert!(
            alert
                .observe_state(&state(AlertStatus::Active, 100, &[]), &NO_PRICE)
                .is_err(),
            "the edit is lost"
        );
        assert!(
            alert
                .observe_state(&state(AlertStatus::Active, 200, &[]), &NO_PRICE)
                .is_ok()
        );
    }

    #[test]
    fn unanswered_change_is_applied_fully_or_not_at_all() {
        for (threshold, status, is_fine) in [
            (100, AlertStatus::Active, true),
            (200, AlertStatus::Active, true),
            (150, AlertStatus::Active, false),
            (200, AlertStatus::Paused, false),
        ] {
            let mut alert = created_alert();
            alert
                .record_outcome(Operation::Edit(200), Outcome::Unknown, &NO_PRICE)
                .unwrap();
            assert_eq!(
                alert.observe_state(&state(status, threshold, &[]), &NO_PRICE).is_ok(),
                is_fine
            );
        }
    }

    #[test]
    fn acknowledged_price_fires_exactly_once() {
        let mut alert = created_alert();
        alert.record_price(99, true);
        alert.record_price(100, true);
        alert.record_price(101, true);
        for fired in [&[][..], &[99], &[101], &[100, 101]] {
            let result = alert.observe_state(&state(AlertStatus::Triggered, 100, fired), &NO_PRICE);
            assert!(result.is_err(), "{fired:?}");
        }
        assert!(
            alert
                .observe_state(&state(AlertStatus::Active, 100, &[]), &NO_PRICE)
                .is_err(),
            "the firing is lost"
        );
        assert!(
            alert
                .observe_state(&state(AlertStatus::Triggered, 100, &[100]), &NO_PRICE)
                .is_ok()
        );
    }

    #[test]
    fn paused_alert_must_not_fire() {
        let mut alert = created_alert();
        alert
            .record_outcome(Operation::Pause, Outcome::Succeeded, &NO_PRICE)
            .unwrap();
        alert.record_price(100, true);
        assert!(
            alert
                .observe_state(&state(AlertStatus::Triggered, 100, &[100]), &NO_PRICE)
                .is_err()
        );
        assert!(
            alert
                .observe_state(&state(AlertStatus::Paused, 100, &[]), &NO_PRICE)
                .is_ok()
        );
    }

    #[test]
    fn impossible_outcome_is_a_violation() {
        let mut alert = created_alert();
        assert!(
            alert
                .record_outcome(Operation::Pause, Outcome::Rejected, &NO_PRICE)
                .is_err()
        );
        assert!(
            alert
                .record_outcome(Operation::Delete, Outcome::NotFound, &NO_PRICE)
                .is_err()
        );
    }
}
