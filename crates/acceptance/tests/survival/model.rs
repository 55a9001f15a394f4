//! What must be: each alert as the set of states that it may be in.

use std::collections::BTreeSet;

/// Prices and thresholds are in ten-thousandths of a dollar: whole numbers, which JSON carries exactly.
pub(crate) type Price = i64;

/// How a price is written.
pub(crate) fn dollars(price: Price) -> f64 {
    f64::from(i32::try_from(price).unwrap()) / 10_000.0
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Status {
    /// Never made.
    Absent,
    Active,
    Paused,
    Triggered,
    Deleted,
}

impl Status {
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

/// One state that an alert may be in.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct State {
    pub(crate) status: Status,
    pub(crate) threshold: Price,
    /// The prices at which it fired, in order.
    pub(crate) fired: Vec<Price>,
}

/// What is asked of an alert.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ask {
    Create,
    Edit(Price),
    Pause,
    Activate,
    Delete,
}

/// What an alert answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Said {
    Done,
    Refused,
    Missing,
    /// No answer came: it may have happened or not.
    Nothing,
}

impl State {
    /// What it says when it is asked, and what it is then.
    fn asked(&self, ask: Ask) -> (Said, Self) {
        use Status::{Absent, Active, Deleted, Paused, Triggered};
        let to = |status| Self { status, ..self.clone() };
        match (ask, self.status) {
            (Ask::Create, Absent) => (Said::Done, to(Active)),
            (_, Absent | Deleted) | (Ask::Create, _) => (Said::Missing, self.clone()),
            (Ask::Edit(threshold), _) => (
                Said::Done,
                Self {
                    threshold,
                    ..self.clone()
                },
            ),
            (Ask::Pause, Triggered) => (Said::Refused, self.clone()),
            (Ask::Pause, Active | Paused) => (Said::Done, to(Paused)),
            (Ask::Activate, _) => (Said::Done, to(Active)),
            (Ask::Delete, _) => (Said::Done, to(Deleted)),
        }
    }

    fn fires(&self, above: bool, price: Price) -> bool {
        let reached = if above {
            price >= self.threshold
        } else {
            price <= self.threshold
        };
        self.status == Status::Active && reached
    }

    fn fired_at(&self, price: Price) -> Self {
        let mut fired = self.fired.clone();
        fired.push(price);
        Self {
            status: Status::Triggered,
            fired,
            ..self.clone()
        }
    }
}

/// An alert, as the worker that made it knows it.
#[derive(Clone, Debug)]
pub(crate) struct Alert {
    /// Not known while its creation was not answered.
    pub(crate) id: Option<String>,
    pub(crate) symbol: String,
    pub(crate) above: bool,
    /// What its parameters carry: no two have the same.
    pub(crate) note: u64,
    pub(crate) may_be: BTreeSet<State>,
}

impl Alert {
    pub(crate) fn new(symbol: &str, above: bool, note: u64, threshold: Price) -> Self {
        let absent = State {
            status: Status::Absent,
            threshold,
            fired: Vec::new(),
        };
        Self {
            id: None,
            symbol: symbol.to_owned(),
            above,
            note,
            may_be: BTreeSet::from([absent]),
        }
    }

    /// Whether it certainly is in one state of that status.
    pub(crate) fn is(&self, status: Status) -> bool {
        self.may_be.iter().all(|state| state.status == status)
    }

    /// It was asked something, and said that; the stock may be at any of the prices.
    pub(crate) fn answered(&mut self, ask: Ask, said: Said, prices: &BTreeSet<Price>) -> Result<(), String> {
        let mut may_be = BTreeSet::new();
        for state in &self.may_be {
            let (says, then) = state.asked(ask);
            if said == Said::Nothing {
                may_be.insert(state.clone());
            }
            if said == Said::Nothing || said == says {
                may_be.insert(then);
            }
        }
        if may_be.is_empty() {
            return Err(format!(
                "{ask:?} was answered {said:?}, but it may only be {:?}",
                self.may_be
            ));
        }
        self.may_be = may_be;
        self.judged_again(prices);
        Ok(())
    }

    /// A price was observed: if that was acknowledged, whoever it reaches has fired.
    pub(crate) fn observed(&mut self, price: Price, acknowledged: bool) {
        let mut may_be = BTreeSet::new();
        for state in &self.may_be {
            if state.fires(self.above, price) {
                may_be.insert(state.fired_at(price));
                if !acknowledged {
                    may_be.insert(state.clone());
                }
            } else {
                may_be.insert(state.clone());
            }
        }
        self.may_be = may_be;
    }

    /// What is active and holds at the price there is fires sooner or later, without a new observation.
    pub(crate) fn judged_again(&mut self, prices: &BTreeSet<Price>) {
        let fired: Vec<_> = self
            .may_be
            .iter()
            .flat_map(|state| {
                let reached = prices.iter().filter(|&&price| state.fires(self.above, price));
                reached.map(|&price| state.fired_at(price))
            })
            .collect();
        self.may_be.extend(fired);
    }

    /// What it is was looked up.
    pub(crate) fn seen(&mut self, state: &State, prices: &BTreeSet<Price>) -> Result<(), String> {
        // Of an alert that is gone the threshold is not shown.
        let same = |may: &&State| {
            may.status == state.status && may.fired == state.fired && {
                may.threshold == state.threshold || state.status == Status::Deleted
            }
        };
        let most = self.may_be.iter().map(|may| may.fired.len()).max();
        if Some(state.fired.len()) > most {
            return Err(format!("fired too often: {state:?}; it may only be {:?}", self.may_be));
        }
        let Some(known) = self.may_be.iter().find(same) else {
            return Err(format!("is {state:?}; it may only be {:?}", self.may_be));
        };
        self.may_be = BTreeSet::from([known.clone()]);
        self.judged_again(prices);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_PRICE: BTreeSet<Price> = BTreeSet::new();

    fn made() -> Alert {
        let mut alert = Alert::new("W0", true, 1, 100);
        alert.answered(Ask::Create, Said::Done, &NO_PRICE).unwrap();
        alert
    }

    fn state(status: Status, threshold: Price, fired: &[Price]) -> State {
        State {
            status,
            threshold,
            fired: fired.to_vec(),
        }
    }

    #[test]
    fn what_was_acknowledged_must_be() {
        let mut alert = made();
        alert.answered(Ask::Edit(200), Said::Done, &NO_PRICE).unwrap();
        assert!(
            alert.seen(&state(Status::Active, 100, &[]), &NO_PRICE).is_err(),
            "the edit is lost"
        );
        assert!(alert.seen(&state(Status::Active, 200, &[]), &NO_PRICE).is_ok());
    }

    #[test]
    fn what_was_not_answered_may_be_or_not_but_not_halfway() {
        for (threshold, status, is_fine) in [
            (100, Status::Active, true),
            (200, Status::Active, true),
            (150, Status::Active, false),
            (200, Status::Paused, false),
        ] {
            let mut alert = made();
            alert.answered(Ask::Edit(200), Said::Nothing, &NO_PRICE).unwrap();
            assert_eq!(alert.seen(&state(status, threshold, &[]), &NO_PRICE).is_ok(), is_fine);
        }
    }

    #[test]
    fn an_acknowledged_price_fires_what_it_reaches_exactly_once() {
        let mut alert = made();
        alert.observed(99, true);
        alert.observed(100, true);
        alert.observed(101, true);
        for fired in [&[][..], &[99], &[101], &[100, 101]] {
            let seen = alert.seen(&state(Status::Triggered, 100, fired), &NO_PRICE);
            assert!(seen.is_err(), "{fired:?}");
        }
        assert!(
            alert.seen(&state(Status::Active, 100, &[]), &NO_PRICE).is_err(),
            "the firing is lost"
        );
        assert!(alert.seen(&state(Status::Triggered, 100, &[100]), &NO_PRICE).is_ok());
    }

    #[test]
    fn a_paused_alert_must_not_fire() {
        let mut alert = made();
        alert.answered(Ask::Pause, Said::Done, &NO_PRICE).unwrap();
        alert.observed(100, true);
        assert!(alert.seen(&state(Status::Triggered, 100, &[100]), &NO_PRICE).is_err());
        assert!(alert.seen(&state(Status::Paused, 100, &[]), &NO_PRICE).is_ok());
    }

    #[test]
    fn an_answer_that_no_state_would_give_is_a_fault() {
        let mut alert = made();
        assert!(alert.answered(Ask::Pause, Said::Refused, &NO_PRICE).is_err());
        assert!(alert.answered(Ask::Delete, Said::Missing, &NO_PRICE).is_err());
    }
}
