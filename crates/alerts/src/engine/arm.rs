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
use super::group::{GroupKey, HUNDRED_PERCENT};
use super::level_index::Slot;
use super::observe::{other_side, rsi_key};
use super::registry::{ArmedAlert, Placement};
use super::rules::Rule;
use crate::alert::{Alert, AlertId, Status};
use crate::condition::{Condition, RsiDirection, Side};

impl Engine {
    /// Arms an alert in place of its earlier revision. An alert that is not active is only disarmed.
    pub(super) fn arm(&mut self, alert: &Alert, now: Timestamp, out: &mut Vec<Decision>) {
        // Usually no earlier revision is armed.
        let _ = self.disarm(alert.id);
        self.disarm_rule(alert.id);
        if alert.status != Status::Active {
            return;
        }
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
        self.mark_unsettled(alert.symbol);
    }

    /// Skips the moment for which a daily reminder was already sent, wherever the clock stood when the engine stopped.
    fn skip_sent_moment(&mut self, slot: Slot, alert: &Alert) {
        let (&Condition::DailyReminder(delivery), Some(sent)) = (&alert.condition, alert.triggered_at) else {
            return;
        };
        if let Placement::Moment(Some(at)) = self.registry.alert(slot).placement
            && at <= sent
        {
            self.moments.remove(&(at, slot));
            self.schedule(slot, self.daily_moment_after(delivery, sent));
        }
    }

    /// Disarms an alert.
    pub(super) fn disarm(&mut self, id: AlertId) -> Result<(), EventError> {
        let slot = self.registry.find(id).ok_or(EventError::NotArmed)?;
        self.unplace(slot);
        self.registry.remove(slot);
        Ok(())
    }

    fn place(&mut self, slot: Slot, now: Timestamp, out: &mut Vec<Decision>) {
        let armed = self.registry.alert(slot).clone();
        match armed.condition {
            Condition::Price { side, threshold } => {
                self.place_level(slot, GroupKey::Price(side), side.key(threshold.micros()));
            }
            Condition::PriceChange { side, percent } => {
                if let Some(initial) = armed.initial_price {
                    let level = change_level(initial, side, percent.micros());
                    self.place_level(slot, GroupKey::Change(side), side.key(level));
                }
            }
            Condition::NewExtreme { side } => self.place_level(slot, GroupKey::Extreme(side), 0),
            Condition::MaCrossover { side } => self.place_level(slot, GroupKey::Cross(side), 0),
            Condition::MaTouch { side, period } => self.place_level(slot, GroupKey::Touch { side, period }, 0),
            Condition::Rsi { direction, threshold } => {
                let decided = match direction {
                    RsiDirection::Above => Some(Side::Above),
                    RsiDirection::Below => Some(Side::Below),
                    RsiDirection::Both => armed
                        .rsi_side
                        .or_else(|| self.initial_rsi_side(slot, threshold.micros(), now, out)),
                };
                let (key, level) = rsi_key(decided, threshold.micros());
                self.place_level(slot, key, level);
            }
            Condition::VolumeChange { baseline, percent } => {
                self.place_level(slot, GroupKey::Volume(baseline), percent.micros());
            }
            Condition::PeRatio {
                side,
                earnings,
                threshold,
            } => {
                self.place_level(slot, GroupKey::Pe { earnings, side }, side.key(threshold.micros()));
            }
            Condition::SocialBuzz(direction) => {
                self.facts_mut(armed.stock).buzz.watchers(direction).insert(slot);
                self.registry.alert_mut(slot).placement = Placement::Buzz;
            }
            Condition::InsiderTransactions(_) => {
                self.facts_mut(armed.stock).insider_watchers.insert(slot);
                self.registry.alert_mut(slot).placement = Placement::Insiders;
                self.unevaluated_insiders.push(slot);
            }
            Condition::Reminder { at } => self.schedule(slot, Some(at)),
            Condition::DailyReminder(delivery) => {
                let after = armed.armed_at.max(self.clock);
                self.schedule(slot, self.daily_moment_after(delivery, after));
            }
            Condition::EarningsAnnouncement { .. }
            | Condition::DividendExDate { .. }
            | Condition::DividendPayment { .. } => {
                self.facts_mut(armed.stock).dated.insert(slot);
                self.schedule_changed_date(slot, armed.armed_at.max(self.clock));
            }
            // It is armed as a rule.
            Condition::Expression(_) => {}
        }
    }

    /// Returns the side that an RSI alert with [`RsiDirection::Both`] waits for. Only an alert that has just become active is
    /// determined by the current RSI. An alert that was armed before a restart without a side had no RSI at that time, and keeps
    /// waiting for the first one.
    fn initial_rsi_side(
        &mut self,
        slot: Slot,
        threshold: i64,
        now: Timestamp,
        out: &mut Vec<Decision>,
    ) -> Option<Side> {
        let armed = self.registry.alert(slot);
        if armed.armed_at < self.clock {
            return None;
        }
        let at = armed.stock.0 as usize;
        let side = other_side(self.stocks[at].current_rsi(&self.hot[at])?, threshold);
        out.push(self.registry.set_rsi_side(slot, side, now));
        Some(side)
    }

    fn place_level(&mut self, slot: Slot, key: GroupKey, level: i64) {
        let armed = self.registry.alert_mut(slot);
        armed.placement = Placement::Level(key, level);
        let at = armed.stock.0 as usize;
        self.stocks[at].insert(&mut self.hot[at], key, level, slot);
    }

    fn unplace(&mut self, slot: Slot) {
        let ArmedAlert {
            stock,
            placement,
            condition,
            ..
        } = self.registry.alert(slot).clone();
        match placement {
            Placement::Level(key, level) => self.stocks[stock.0 as usize].remove(key, level, slot),
            Placement::Moment(at) => {
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
                if let Condition::SocialBuzz(direction) = condition {
                    self.facts_mut(stock).buzz.watchers(direction).remove(&slot);
                }
            }
            Placement::Nowhere => {}
        }
    }

    fn facts_mut(&mut self, stock: StockIndex) -> &mut super::facts::Facts {
        self.stocks[stock.0 as usize].facts.get_or_insert_default()
    }

    /// Adjusts a stock, and the alerts that compare with its price, for a split.
    pub(super) fn split(&mut self, symbol: Symbol, ratio: SplitRatio, now: Timestamp, out: &mut Vec<Decision>) {
        let (stock, hot) = self.parts(symbol);
        stock.split(hot, ratio);
        stock
            .groups
            .retain(|group| !matches!(group.key, GroupKey::Price(_) | GroupKey::Change(_)));
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
            let (alert, revision) = self.registry.identity(slot);
            self.registry.bump_revision(slot);
            out.push(Decision {
                alert,
                revision,
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

/// Returns the price at which a change of `percent_micros` from `initial` is reached: exactly, or the nearest millionth beyond.
pub(crate) fn change_level(initial: Price, side: Side, percent_micros: i64) -> i64 {
    let hundred = i128::from(HUNDRED_PERCENT);
    let percent = i128::from(side.key(percent_micros));
    let scaled = i128::from(initial.micros()) * (hundred + percent);
    let level = match side {
        Side::Above => (scaled + hundred - 1).div_euclid(hundred),
        Side::Below => scaled.div_euclid(hundred),
    };
    i64::try_from(level).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(initial: &str, side: Side, percent: &str) -> String {
        let percent: market::Decimal = percent.parse().unwrap();
        let level = change_level(initial.parse().unwrap(), side, percent.micros());
        market::Decimal::from_micros(level).to_string()
    }

    #[test]
    fn change_level_is_exact() {
        assert_eq!(level("189.20", Side::Above, "5"), "198.66");
        assert_eq!(level("189.20", Side::Below, "5"), "179.74");
        assert_eq!(level("100", Side::Below, "100"), "0");
    }

    #[test]
    fn change_level_between_millionths_is_rounded_away_from_the_initial_price() {
        assert_eq!(level("0.000003", Side::Above, "50"), "0.000005");
        assert_eq!(level("0.000003", Side::Below, "50"), "0.000001");
    }
}
