//! Arming of alerts: the compiler from conditions to triggers.
//!
//! Every condition becomes one of three triggers: a *level* in a group of its stock, a *moment* of the clock, or a watcher that
//! is evaluated when a new fact arrives.

use jiff::Timestamp;
use market::calendar::new_york_date;
use market::{Price, SplitRatio, Symbol};

use super::Engine;
use super::decision::{AlertAction, Decision, EventError};
use super::event::StockIndex;
use super::group::GroupKey;
use super::level_index::Slot;
use super::observe::other_side;
use super::registry::{ArmedAlert, Placement};
use super::rules::Rule;
use crate::EvaluatedAlert;
use crate::alert::{Alert, AlertId, Status};
use crate::condition::{Condition, RsiDirection};

impl Engine {
    /// Arms an alert in place of its earlier revision. An alert that is not active is only disarmed.
    pub(super) fn arm(&mut self, alert: &Alert, now: Timestamp, out: &mut Vec<Decision>) {
        if alert.status == Status::Active {
            self.arm_active(&EvaluatedAlert::of(alert), now, out);
        } else {
            self.disarm_any(alert.id);
        }
    }

    /// Arms an active alert that was evaluated elsewhere up to an instant, as if the clock had been processed no further.
    pub(super) fn take_over(
        &mut self,
        alert: &EvaluatedAlert,
        evaluated_until: Option<Timestamp>,
        now: Timestamp,
        out: &mut Vec<Decision>,
    ) {
        let clock = self.clock;
        self.clock = clock.min(evaluated_until.unwrap_or(clock));
        self.arm_active(alert, now, out);
        self.clock = clock;
    }

    /// Arms an active alert in place of its earlier revision.
    pub(super) fn arm_active(&mut self, alert: &EvaluatedAlert, now: Timestamp, out: &mut Vec<Decision>) {
        self.disarm_any(alert.id);
        if let Some(rule) = Rule::of(alert) {
            self.arm_rule(rule, now, out);
            return;
        }
        let stock = self.stock(alert.symbol);
        let armed = ArmedAlert {
            condition: alert.condition.clone(),
            initial_price: alert.initial_price,
            rsi_side: alert.rsi_side,
            armed_at: alert.armed_at,
            stock,
            placement: Placement::Nowhere,
        };
        let slot = self.registry.add(alert.id, alert.revision, armed);
        self.place(slot, now, out);
        self.skip_sent_moment(slot, alert);
        self.mark_stock_unsettled(stock);
    }

    /// Skips the moment for which a daily reminder was already sent, wherever the clock stood when the engine stopped.
    fn skip_sent_moment(&mut self, slot: Slot, alert: &EvaluatedAlert) {
        let (&Condition::DailyReminder(delivery), Some(sent)) = (&alert.condition, alert.triggered_at) else {
            return;
        };
        if let Some(at) = self.registry.moment(slot)
            && at <= sent
        {
            self.moments.remove(&(at, slot));
            self.schedule(slot, self.daily_moment_after(delivery, sent));
        }
    }

    /// Disarms the earlier revision of an alert. Usually there is none.
    fn disarm_any(&mut self, id: AlertId) {
        let _ = self.disarm(id);
        self.disarm_rule(id);
    }

    /// Disarms an alert.
    pub(super) fn disarm(&mut self, id: AlertId) -> Result<(), EventError> {
        let slot = self.registry.find(id).ok_or(EventError::NotArmed)?;
        self.unplace(slot);
        self.registry.remove(slot);
        Ok(())
    }

    fn place(&mut self, slot: Slot, now: Timestamp, out: &mut Vec<Decision>) {
        let armed = self.registry.alert(slot);
        let (stock, armed_at) = (armed.stock, armed.armed_at);
        match armed.condition {
            Condition::Rsi {
                direction: RsiDirection::Both,
                threshold,
            } if armed.rsi_side.is_none() => {
                self.set_initial_rsi_side(slot, threshold.micros(), now, out);
                self.place_level(slot);
            }
            Condition::SocialBuzz(direction) => {
                self.facts_mut(stock).buzz.watchers(direction).insert(slot);
                self.registry.alert_mut(slot).placement = Placement::Buzz;
            }
            Condition::InsiderTransactions(_) => {
                self.facts_mut(stock).insider_watchers.insert(slot);
                self.registry.alert_mut(slot).placement = Placement::Insiders;
                self.unevaluated_insiders.push(slot);
            }
            Condition::Reminder { at } => self.schedule(slot, Some(at)),
            Condition::DailyReminder(delivery) => {
                let after = armed_at.max(self.clock);
                self.schedule(slot, self.daily_moment_after(delivery, after));
            }
            Condition::EarningsAnnouncement { .. }
            | Condition::DividendExDate { .. }
            | Condition::DividendPayment { .. } => {
                self.facts_mut(stock).dated.insert(slot);
                self.schedule_changed_date(slot, armed_at.max(self.clock));
            }
            // It is armed as a rule.
            Condition::Expression(_) => {}
            _ => self.place_level(slot),
        }
    }

    /// Sets the side that an RSI alert with [`RsiDirection::Both`] waits for. Only an alert that has just become active is
    /// determined by the current RSI. An alert that was armed before a restart without a side had no RSI at that time, and keeps
    /// waiting for the first one.
    fn set_initial_rsi_side(&mut self, slot: Slot, threshold: i64, now: Timestamp, out: &mut Vec<Decision>) {
        let armed = self.registry.alert(slot);
        if armed.armed_at < self.clock {
            return;
        }
        let at = armed.stock.0 as usize;
        if let Some(rsi) = self.stocks[at].current_rsi(&self.hot.get(at)) {
            out.push(self.registry.set_rsi_side(slot, other_side(rsi, threshold), now));
        }
    }

    fn place_level(&mut self, slot: Slot) {
        let armed = self.registry.alert_mut(slot);
        let Some((key, level)) = armed.level() else {
            return;
        };
        armed.placement = Placement::Level;
        let at = armed.stock.0 as usize;
        self.hot.update(at, |hot| self.stocks[at].insert(hot, key, level, slot));
    }

    fn unplace(&mut self, slot: Slot) {
        let armed = self.registry.alert(slot);
        let stock = armed.stock;
        match armed.placement {
            Placement::Level => {
                if let Some((key, level)) = armed.level() {
                    self.stocks[stock.0 as usize].remove(key, level, slot);
                }
            }
            Placement::Moment => {
                let at = self.registry.moment(slot);
                at.map(|at| self.moments.remove(&(at, slot)));
                if let Some(facts) = &mut self.stocks[stock.0 as usize].facts {
                    facts.dated.remove(&slot);
                }
            }
            Placement::Insiders => {
                self.facts_mut(stock).insider_watchers.remove(&slot);
                self.unevaluated_insiders.retain(|&pending| pending != slot);
            }
            Placement::Buzz => {
                if let Condition::SocialBuzz(direction) = armed.condition {
                    self.facts_mut(stock).buzz.watchers(direction).remove(&slot);
                }
            }
            Placement::Nowhere => {}
        }
    }

    pub(super) fn facts_mut(&mut self, stock: StockIndex) -> &mut super::facts::Facts {
        self.stocks[stock.0 as usize].facts.get_or_insert_default()
    }

    /// Adjusts a stock, and the alerts that compare with its price, for a split.
    pub(super) fn split(&mut self, symbol: Symbol, ratio: SplitRatio, now: Timestamp, out: &mut Vec<Decision>) {
        self.change_stock(symbol, |stock, hot| {
            stock.split(hot, ratio);
            stock
                .groups
                .retain(|group| !matches!(group.key, GroupKey::Price(_) | GroupKey::Change(_)));
        });
        let stock = self.stock(symbol);
        // Splits are rare, so stocks keep no list of all their alerts.
        let moved: Vec<_> = self
            .registry
            .live()
            .filter(|&slot| self.registry.alert(slot).stock == stock)
            .collect();
        for slot in moved {
            self.adjust(slot, ratio, now, out);
        }
        self.stocks[stock.0 as usize].splits.push((new_york_date(now), ratio));
        self.split_rules(symbol, ratio, now, out);
        self.mark_unsettled(symbol);
    }

    /// Adjusts one alert and adds a decision if the alert compares with a price.
    fn adjust(&mut self, slot: Slot, ratio: SplitRatio, now: Timestamp, out: &mut Vec<Decision>) {
        let armed = self.registry.alert_mut(slot);
        let (condition, initial_price) = after_split(&armed.condition, armed.initial_price, ratio);
        let changed = condition != armed.condition || initial_price != armed.initial_price;
        let threshold = match condition {
            Condition::Price { threshold, .. } => Some(threshold),
            _ => None,
        };
        let has_level = matches!(condition, Condition::Price { .. } | Condition::PriceChange { .. });
        (armed.condition, armed.initial_price) = (condition, initial_price);
        if has_level {
            self.place(slot, now, out);
        }
        if changed {
            let stock = self.registry.alert(slot).stock;
            let (alert, revision) = self.registry.identity(slot);
            self.registry.bump_revision(slot);
            out.push(Decision {
                alert,
                revision,
                stock,
                at: now,
                action: AlertAction::Adjust {
                    threshold,
                    initial_price,
                },
            });
        }
    }
}

/// Returns the condition and the initial price after a split. Also for alerts that are not armed. The text of an expression stays.
#[must_use]
pub fn after_split(
    condition: &Condition,
    initial_price: Option<Price>,
    ratio: SplitRatio,
) -> (Condition, Option<Price>) {
    let condition = match *condition {
        Condition::Price { side, threshold } => Condition::Price {
            side,
            threshold: threshold.after_split(ratio),
        },
        _ => condition.clone(),
    };
    (condition, initial_price.map(|price| price.after_split(ratio)))
}
