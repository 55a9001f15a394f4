//! The decisions of the engine in a replay.

use alerts::Condition;
use alerts::engine::{AlertAction, Decision, Event};
use jiff::Timestamp;

use super::{Flow, Replay};
use crate::replay::ReplayFiring;
use crate::replay::alert::index_of;

impl<OnFiring: FnMut(ReplayFiring) -> Flow> Replay<'_, OnFiring> {
    pub(super) fn process(&mut self, event: Event<'_>, at: Timestamp) -> Flow {
        if at > self.pending_at {
            self.flush()?;
            self.pending_at = at;
        }
        // Events that the engine rejects, for example an observation of an earlier session, change nothing.
        let _ = self.engine.process(event, at, &mut self.decisions);
        for decision in std::mem::take(&mut self.decisions) {
            if self.has_started {
                self.apply_decision(&decision);
            } else {
                self.apply_decision_before_start(&decision);
            }
        }
        Flow::Continue(())
    }

    /// Before the first replayed day nothing fires; only the side of an RSI alert is decided, with and without options.
    fn apply_decision_before_start(&mut self, decision: &Decision) {
        let alert = &mut self.alerts[index_of(decision.alert)];
        match &decision.action {
            AlertAction::SetRsiSide { side } => alert.rsi_side = Some(*side),
            AlertAction::SetLifecycle { state } if state.rsi_side.is_some() => {
                if let Some(own) = &mut alert.lifecycle {
                    own.rsi_side = state.rsi_side;
                }
            }
            _ => return,
        }
        // The alert may have fired at the same observation, and is not armed any more.
        let _ = self
            .engine
            .process(Event::Disarmed(decision.alert), decision.at, &mut Vec::new());
    }

    fn apply_decision(&mut self, decision: &Decision) {
        let index = index_of(decision.alert);
        let alert_index = self.alert_indexes[index];
        let alert = &mut self.alerts[index];
        let mut firing = |price, metric, reason| {
            self.pending.push(ReplayFiring {
                time: decision.at,
                alert_index,
                symbol: alert.symbol,
                condition: alert.condition.kind(),
                threshold: alert.condition.threshold(),
                price,
                metric,
                reason,
            });
        };
        match decision.action {
            AlertAction::Fire { price, ref reason } => firing(price, reason.metric(), reason.to_string()),
            AlertAction::FireRule { price, ref reason, .. } => firing(price, reason.metric(), reason.to_string()),
            // The engine keeps the state.
            AlertAction::SetLifecycle { .. } | AlertAction::Expire { .. } => {}
            AlertAction::SetRsiSide { side } => alert.rsi_side = Some(side),
            AlertAction::Adjust {
                threshold,
                initial_price,
            } => {
                if let (Condition::Price { threshold: old, .. }, Some(new)) = (&mut alert.condition, threshold) {
                    *old = new;
                }
                alert.initial_price = initial_price;
            }
        }
    }

    /// Reports the firings of the previous instant.
    pub(super) fn flush(&mut self) -> Flow {
        self.pending
            .sort_by_key(|firing| (firing.time, firing.alert_index, firing.symbol));
        for firing in self.pending.drain(..) {
            self.summary.firings += 1;
            (self.on_firing)(firing)?;
        }
        Flow::Continue(())
    }
}
