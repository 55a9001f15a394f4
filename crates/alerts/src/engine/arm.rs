//! Putting an alert where it waits: the trigger compiler.
//!
//! Every condition becomes one of three things: a *level* in a group of its stock, a *moment* of the clock, or a
//! place among those who are looked at when a fact comes in.

use jiff::Timestamp;
use market::{Price, SplitRatio, Symbol};

use super::Engine;
use super::decision::{Decision, NotTaken, Verdict};
use super::event::StockIx;
use super::group::{GroupKey, HUNDRED_PERCENT};
use super::judge::{other_side, rsi_key};
use super::level_index::Slot;
use super::registry::{Placement, Watch};
use crate::alert::{Alert, AlertId, Status};
use crate::condition::{Condition, RsiDirection, Side};

impl Engine {
    /// Judges an alert from now on, in the place of an earlier revision of it. One that is not active is not judged.
    pub(super) fn arm(&mut self, alert: &Alert, now: Timestamp, out: &mut Vec<Decision>) {
        // That no earlier revision was armed is the usual case.
        let _ = self.disarm(alert.id);
        if alert.status != Status::Active {
            return;
        }
        let stock = self.stock(alert.symbol);
        let watch = Watch {
            condition: alert.condition,
            initial_price: alert.initial_price,
            rsi_side: alert.rsi_side,
            armed_at: alert.armed_at,
            stock,
            placement: Placement::Nowhere,
        };
        let slot = self.registry.add(alert.id, alert.revision, watch);
        self.place(slot, now, out);
        self.skip_what_was_sent(slot, alert);
        self.mark_unsettled(alert.symbol);
    }

    /// A daily reminder that was sent for a moment is not sent for it again, however far the clock had come when the
    /// engine last stopped.
    fn skip_what_was_sent(&mut self, slot: Slot, alert: &Alert) {
        let (Condition::DailyReminder(delivery), Some(sent)) = (alert.condition, alert.triggered_at) else {
            return;
        };
        if let Placement::Moment(Some(at)) = self.registry.watch(slot).placement
            && at <= sent
        {
            self.moments.remove(&(at, slot));
            self.schedule(slot, self.daily_moment_after(delivery, sent));
        }
    }

    /// Stops judging an alert.
    pub(super) fn disarm(&mut self, id: AlertId) -> Result<(), NotTaken> {
        let slot = self.registry.find(id).ok_or(NotTaken::NotArmed)?;
        self.take_away(slot);
        self.registry.remove(slot);
        Ok(())
    }

    fn place(&mut self, slot: Slot, now: Timestamp, out: &mut Vec<Decision>) {
        let watch = self.registry.watch(slot).clone();
        match watch.condition {
            Condition::Price { side, threshold } => {
                self.place_level(slot, GroupKey::Price(side), side.key(threshold.micros()));
            }
            Condition::PriceChange { side, percent } => {
                if let Some(initial) = watch.initial_price {
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
                    RsiDirection::Both => watch
                        .rsi_side
                        .or_else(|| self.decide_rsi_side(slot, threshold.micros(), now, out)),
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
                self.facts_of(watch.stock).buzz.watchers(direction).insert(slot);
                self.registry.watch_mut(slot).placement = Placement::Buzz;
            }
            Condition::InsiderTransactions(_) => {
                self.facts_of(watch.stock).insider_watchers.insert(slot);
                self.registry.watch_mut(slot).placement = Placement::Insiders;
                self.unjudged_insiders.push(slot);
            }
            Condition::Reminder { at } => self.schedule(slot, Some(at)),
            Condition::DailyReminder(delivery) => {
                let after = watch.armed_at.max(self.clock);
                self.schedule(slot, self.daily_moment_after(delivery, after));
            }
            Condition::EarningsAnnouncement { .. }
            | Condition::DividendExDate { .. }
            | Condition::DividendPayment { .. } => {
                self.facts_of(watch.stock).dated.insert(slot);
                self.schedule_changed_date(slot, watch.armed_at.max(self.clock));
            }
        }
    }

    /// Which side an alert for "the other side" of the RSI waits for. Only an alert that has just become active is
    /// decided by the RSI as it stands; one that was armed before a restart without being decided had no RSI then, and
    /// goes on waiting for its first observation.
    fn decide_rsi_side(&mut self, slot: Slot, threshold: i64, now: Timestamp, out: &mut Vec<Decision>) -> Option<Side> {
        let watch = self.registry.watch(slot);
        if watch.armed_at < self.clock {
            return None;
        }
        let at = watch.stock.0 as usize;
        let side = other_side(self.stocks[at].rsi_now(&self.hot[at])?, threshold);
        out.push(self.registry.decide(slot, side, now));
        Some(side)
    }

    fn place_level(&mut self, slot: Slot, key: GroupKey, level: i64) {
        let watch = self.registry.watch_mut(slot);
        watch.placement = Placement::Level(key, level);
        let at = watch.stock.0 as usize;
        self.stocks[at].insert(&mut self.hot[at], key, level, slot);
    }

    fn take_away(&mut self, slot: Slot) {
        let Watch {
            stock,
            placement,
            condition,
            ..
        } = *self.registry.watch(slot);
        match placement {
            Placement::Level(key, level) => self.stocks[stock.0 as usize].remove(key, level, slot),
            Placement::Moment(at) => {
                at.map(|at| self.moments.remove(&(at, slot)));
                if let Some(facts) = &mut self.stocks[stock.0 as usize].facts {
                    facts.dated.remove(&slot);
                }
            }
            Placement::Insiders => {
                self.facts_of(stock).insider_watchers.remove(&slot);
                self.unjudged_insiders.retain(|&unjudged| unjudged != slot);
            }
            Placement::Buzz => {
                if let Condition::SocialBuzz(direction) = condition {
                    self.facts_of(stock).buzz.watchers(direction).remove(&slot);
                }
            }
            Placement::Nowhere => {}
        }
    }

    fn facts_of(&mut self, stock: StockIx) -> &mut super::facts::Facts {
        self.stocks[stock.0 as usize].facts.get_or_insert_default()
    }

    /// Moves a stock, and the alerts that compare with its price, into the shares of after a split.
    pub(super) fn split(&mut self, symbol: Symbol, ratio: SplitRatio, now: Timestamp, out: &mut Vec<Decision>) {
        let (stock, hot) = self.parts(symbol);
        stock.split(hot, ratio);
        stock
            .groups
            .retain(|group| !matches!(group.key, GroupKey::Price(_) | GroupKey::Change(_)));
        let stock = self.stock(symbol);
        // Splits are rare, so no stock keeps a list of all its alerts for their sake.
        let moved: Vec<_> = self
            .registry
            .live()
            .filter(|&slot| self.registry.watch(slot).stock == stock)
            .collect();
        for slot in moved {
            self.adjust(slot, ratio, now, out);
        }
        self.mark_unsettled(symbol);
    }

    /// Moves one alert and says so, if it compares with a price at all.
    fn adjust(&mut self, slot: Slot, ratio: SplitRatio, now: Timestamp, out: &mut Vec<Decision>) {
        let watch = self.registry.watch_mut(slot);
        let (condition, initial_price) = after_split(watch.condition, watch.initial_price, ratio);
        let changed = (condition, initial_price) != (watch.condition, watch.initial_price);
        (watch.condition, watch.initial_price) = (condition, initial_price);
        if matches!(condition, Condition::Price { .. } | Condition::PriceChange { .. }) {
            self.place(slot, now, out);
        }
        if changed {
            let (alert, judged) = self.registry.identity(slot);
            self.registry.bump_revision(slot);
            let threshold = if let Condition::Price { threshold, .. } = condition {
                Some(threshold)
            } else {
                None
            };
            out.push(Decision {
                alert,
                revision: judged,
                at: now,
                verdict: Verdict::Adjust {
                    threshold,
                    initial_price,
                },
            });
        }
    }
}

/// What an alert compares with after a split: for alerts that are not armed, too.
#[must_use]
pub fn after_split(
    condition: Condition,
    initial_price: Option<Price>,
    ratio: SplitRatio,
) -> (Condition, Option<Price>) {
    let condition = match condition {
        Condition::Price { side, threshold } => Condition::Price {
            side,
            threshold: threshold.after_split(ratio),
        },
        other => other,
    };
    (condition, initial_price.map(|price| price.after_split(ratio)))
}

/// The price at which a change of `percent_micros` from `initial` is reached: exactly, or the nearest millionth
/// beyond.
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
    fn a_change_is_reached_at_an_exact_price() {
        assert_eq!(level("189.20", Side::Above, "5"), "198.66");
        assert_eq!(level("189.20", Side::Below, "5"), "179.74");
        assert_eq!(level("100", Side::Below, "100"), "0");
    }

    #[test]
    fn a_change_between_two_millionths_is_reached_at_the_one_beyond() {
        assert_eq!(level("0.000003", Side::Above, "50"), "0.000005");
        assert_eq!(level("0.000003", Side::Below, "50"), "0.000001");
    }
}
