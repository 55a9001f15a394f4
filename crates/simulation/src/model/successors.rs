//! The states that follow from the possible ones: by open requests, by the last price, and by time.

use super::alert::{AlertModel, Open, Possible};
use super::state::{AlertState, AlertStatus, Outcome};
use super::{Cents, RequestId};

impl AlertModel {
    /// Adds every state that the open requests and the evaluation at the present price may have led to.
    pub(super) fn close(&mut self) {
        loop {
            self.add_successors();
            if !self.note_active() {
                break;
            }
        }
        self.note();
    }

    /// Notes how often the alert has fired, and how many holds have begun, at least and at most.
    pub(super) fn note(&mut self) {
        let range = |count: fn(&AlertState) -> usize| {
            let counts = self.possible.iter().map(|possible| count(&possible.state));
            (
                counts.clone().min().unwrap_or_default(),
                counts.max().unwrap_or_default(),
            )
        };
        let (firings, holds) = (range(|state| state.fired.len()), range(|state| state.holds));
        self.times.note(firings, holds);
    }

    /// Notes which open changes may see an active alert, apart from their own effects. Returns whether there are more than before.
    fn note_active(&mut self) -> bool {
        let mut has_more = false;
        for (request, open) in &mut self.open {
            if let Open::Change { may_see_active, .. } = open {
                let is_active = |possible: &Possible| {
                    possible.state.status == AlertStatus::Active && !possible.applied.contains_key(request)
                };
                let before = std::mem::replace(may_see_active, *may_see_active || self.possible.iter().any(is_active));
                has_more |= before != *may_see_active;
            }
        }
        has_more
    }

    fn add_successors(&mut self) {
        let mut added: Vec<Possible> = self.possible.iter().cloned().collect();
        while let Some(possible) = added.pop() {
            for next in self.successors(&possible) {
                if self.possible.insert(next.clone()) {
                    added.push(next);
                }
            }
        }
    }

    fn successors(&self, possible: &Possible) -> Vec<Possible> {
        let mut next = Vec::new();
        let Possible { state, price, applied } = possible;
        // Quotes are judged in their order.
        let is_quote = |request: &&RequestId| matches!(self.open.get(request), Some(Open::Quote { .. }));
        let last_quote = applied.keys().rev().find(is_quote).copied();
        for (&request, open) in self.open.iter().filter(|(request, _)| !applied.contains_key(request)) {
            let mut add = |state: AlertState, price: Option<Cents>, outcome| {
                let mut applied = applied.clone();
                applied.insert(request, outcome);
                next.push(Possible { state, price, applied });
            };
            match *open {
                Open::Change { change, may_see_active } => {
                    let (outcome, changed) = state.apply(change);
                    let is_active = |state: &AlertState| state.status == AlertStatus::Active;
                    let is_armed = is_active(&changed) && !is_active(state);
                    let armed = is_armed.then(|| changed.after(self.is_above, *price));
                    add(armed.unwrap_or(changed), *price, outcome);
                    for refusal in state.refusals(change, self.has_quota, may_see_active) {
                        add(state.clone(), *price, refusal);
                    }
                }
                Open::Quote { .. } if last_quote > Some(request) => {}
                Open::Quote { needs_split: true, .. } if state.is_in_old_shares => {}
                Open::Quote {
                    price,
                    meets_change,
                    is_too_late,
                    ..
                } => {
                    let judged = self.judge(state, price).filter(|_| !is_too_late);
                    if judged.is_none() || meets_change {
                        add(state.clone(), Some(price), Outcome::Succeeded);
                    }
                    if meets_change {
                        add(state.after(self.is_above, Some(price)), Some(price), Outcome::Succeeded);
                    }
                    if let Some(judged) = judged {
                        add(judged, Some(price), Outcome::Succeeded);
                    }
                }
            }
        }
        // An active alert is also judged at the present price or moment, without a new quote.
        let judged = match self.moment {
            Some(_) => state.remind().filter(|_| self.has_come),
            None => price
                .filter(|_| !self.needs_quote())
                .and_then(|price| self.judge(state, price)),
        };
        let expired = state.expire().filter(|_| self.may_have_expired);
        let cooled = state.after_cooldown();
        let cooled = cooled.filter(|_| self.times.cooldown_may_have_ended(state.fired.len()));
        let held = state.after_hold();
        let held = held.filter(|_| self.times.hold_may_have_ended(state.holds));
        let interrupted = state.interrupt_hold().filter(|_| price.is_none());
        let snooze_may_have_ended = |snooze| self.times.snooze_may_have_ended(snooze);
        let awake = state
            .after_snooze()
            .filter(|_| state.snooze.is_some_and(snooze_may_have_ended));
        let adjusted = self.split.and_then(|split| state.adjust(split));
        next.extend(
            judged
                .into_iter()
                .chain(expired)
                .chain(cooled)
                .chain(held)
                .chain(interrupted)
                .chain(awake)
                .chain(adjusted)
                .map(|state| Possible {
                    state,
                    ..possible.clone()
                }),
        );
        next
    }

    fn judge(&self, state: &AlertState, price: Cents) -> Option<AlertState> {
        let is_price = self.moment.is_none();
        is_price.then(|| state.judge(self.is_above, price)).flatten()
    }
}
