//! Evaluation by the clock, and on arrival of facts.

use jiff::Timestamp;
use jiff::civil::Date;
use market::Symbol;
use market::calendar::new_york_date;

use super::Engine;
use super::decision::{AlertAction, Decision};
use super::event::InsiderTrade;
use super::facts::Facts;
use super::level_index::Slot;
use super::reason::Reason;
use super::stock::Stock;
use crate::condition::{Condition, DeliveryTime};

/// The delay of a daily reminder after the close, in minutes.
const REMINDER_DELAY_AFTER_CLOSE_MINUTES: i64 = 15;

/// The number of days in which to search for the next session, longer than any closure of an exchange.
const MAX_CLOSURE_DAYS: usize = 60;

impl Engine {
    /// Advances the clock to `now`.
    pub(super) fn advance_clock(&mut self, now: Timestamp, out: &mut Vec<Decision>) {
        while let Some(&(at, slot)) = self.moments.first()
            && at <= now
        {
            self.moments.pop_first();
            if self.registry.is_live(slot) {
                self.clock = self.clock.max(at);
                self.process_moment(slot, at, now, out);
            }
        }
        self.clock = self.clock.max(now);
        self.advance_rules(now, out);
        self.judge_armed_fact_rules(now, out);
        self.evaluate_armed_insiders(now, out);
        self.registry.reclaim();
    }

    fn process_moment(&mut self, slot: Slot, at: Timestamp, now: Timestamp, out: &mut Vec<Decision>) {
        let condition = self.registry.alert(slot).condition.clone();
        match condition {
            Condition::Reminder { .. } => self.fire(slot, at, Reason::Reminder, out),
            Condition::DailyReminder(delivery) => {
                let (alert, revision) = self.registry.identity(slot);
                let action = AlertAction::Fire {
                    price: self.price_of(slot),
                    reason: Reason::DailyReminder(delivery),
                };
                out.push(Decision {
                    alert,
                    revision,
                    stock: self.registry.alert(slot).stock,
                    at,
                    action,
                });
                // After an outage one reminder is sent, however many were missed.
                self.schedule(slot, self.daily_moment_after(delivery, now.max(at)));
            }
            _ => {
                // The day of the scheduled instant counts, not today: a missed instant is evaluated late.
                let stock = self.registry.alert(slot).stock.0 as usize;
                match self.date_reason_on(slot, new_york_date(at)) {
                    Some(reason) => {
                        if let Some(facts) = &mut self.stocks[stock].facts {
                            facts.dated.remove(&slot);
                        }
                        self.fire(slot, at, reason, out);
                    }
                    None => self.schedule_date(slot, at),
                }
            }
        }
    }

    /// Fires an alert and disarms it.
    pub(super) fn fire(&mut self, slot: Slot, at: Timestamp, reason: Reason, out: &mut Vec<Decision>) {
        let price = self.price_of(slot);
        let stock = self.registry.alert(slot).stock;
        let (alert, revision) = self.registry.retire(slot);
        out.push(Decision {
            alert,
            revision,
            stock,
            at,
            action: AlertAction::Fire { price, reason },
        });
    }

    fn price_of(&self, slot: Slot) -> Option<market::Price> {
        Stock::last_price(&self.hot.get(self.registry.alert(slot).stock.0 as usize))
    }

    /// Schedules an alert for an instant; `None` while no instant is known.
    pub(super) fn schedule(&mut self, slot: Slot, at: Option<Timestamp>) {
        self.registry.set_moment(slot, at);
        self.moments.extend(at.map(|at| (at, slot)));
    }

    /// Returns the first instant after `after` at which a daily reminder is due.
    pub(super) fn daily_moment_after(&self, delivery: DeliveryTime, after: Timestamp) -> Option<Timestamp> {
        let mut day = new_york_date(after);
        for _ in 0..MAX_CLOSURE_DAYS {
            if let Some(session) = self.calendar.session(day) {
                let at = match delivery {
                    DeliveryTime::MarketOpen => session.open,
                    DeliveryTime::AfterMarketClose => {
                        session.close + jiff::SignedDuration::from_mins(REMINDER_DELAY_AFTER_CLOSE_MINUTES)
                    }
                };
                if at > after {
                    return Some(at);
                }
            }
            day = day.tomorrow().ok()?;
        }
        None
    }

    /// Returns the reason for which a date alert fires on `day`, by the facts known now.
    fn date_reason_on(&self, slot: Slot, day: Date) -> Option<Reason> {
        let armed = self.registry.alert(slot);
        let facts = self.stocks[armed.stock.0 as usize].facts.as_ref()?;
        facts.date_reason(&armed.condition, day)
    }

    /// Schedules a date alert that was armed, or whose facts changed, at `at`. If the day's instant has passed and the condition
    /// holds, the alert is scheduled for `at`; otherwise for the next daily instant at which the condition holds.
    pub(super) fn schedule_changed_date(&mut self, slot: Slot, at: Timestamp) {
        let evaluated_until = self.registry.alert(slot).armed_at.max(self.clock);
        let today = new_york_date(at);
        if self.calendar.daily_evaluation_time(today) <= evaluated_until && self.date_reason_on(slot, today).is_some() {
            self.schedule(slot, Some(at));
        } else {
            self.schedule_date(slot, evaluated_until);
        }
    }

    /// Schedules a date alert for the first daily instant after `after` at which its condition holds.
    fn schedule_date(&mut self, slot: Slot, after: Timestamp) {
        let armed = self.registry.alert(slot);
        let today = new_york_date(after);
        let next_evaluated = if self.calendar.daily_evaluation_time(today) > after {
            Some(today)
        } else {
            today.tomorrow().ok()
        };
        let facts = self.stocks[armed.stock.0 as usize].facts.as_ref();
        let due = facts
            .zip(next_evaluated)
            .and_then(|(facts, day)| facts.next_due(&armed.condition, day));
        self.schedule(slot, due.map(|due| self.calendar.daily_evaluation_time(due.day)));
    }

    /// Records facts about a stock's dates that arrive at `now`, and reschedules its date alerts. An alert whose instant has
    /// passed without an evaluation keeps that instant if its condition still holds.
    pub(super) fn facts(&mut self, symbol: Symbol, now: Timestamp, change: impl FnOnce(&mut Facts)) {
        let stock = self.stock(symbol);
        let facts = self.facts_mut(stock);
        change(facts);
        let dated: Vec<_> = facts.dated.iter().copied().collect();
        for slot in dated {
            if let Some(at) = self.registry.moment(slot) {
                if at <= now && self.date_reason_on(slot, new_york_date(at)).is_some() {
                    continue;
                }
                self.moments.remove(&(at, slot));
            }
            self.schedule_changed_date(slot, now.max(self.registry.alert(slot).armed_at));
        }
    }

    pub(super) fn insiders_traded(
        &mut self,
        symbol: Symbol,
        trades: &[InsiderTrade],
        now: Timestamp,
        out: &mut Vec<Decision>,
    ) {
        let today = new_york_date(now);
        let stock = self.stock(symbol);
        let facts = self.facts_mut(stock);
        facts.add_trades(trades, today);
        let watchers: Vec<_> = facts.insider_watchers.iter().copied().collect();
        for slot in watchers {
            self.evaluate_insiders(slot, today, now, out);
        }
    }

    pub(super) fn evaluate_armed_insiders(&mut self, now: Timestamp, out: &mut Vec<Decision>) {
        let today = new_york_date(now);
        for slot in std::mem::take(&mut self.unevaluated_insiders) {
            if self.registry.is_live(slot) {
                self.evaluate_insiders(slot, today, now, out);
            }
        }
    }

    fn evaluate_insiders(&mut self, slot: Slot, today: Date, now: Timestamp, out: &mut Vec<Decision>) {
        let armed = self.registry.alert(slot);
        let Condition::InsiderTransactions(criteria) = armed.condition else {
            return;
        };
        let Some(facts) = &mut self.stocks[armed.stock.0 as usize].facts else {
            return;
        };
        if let Some(reason) = facts.insider_reason(&criteria, today) {
            facts.insider_watchers.remove(&slot);
            self.fire(slot, now, reason, out);
        }
    }

    pub(super) fn mentioned(
        &mut self,
        symbol: Symbol,
        (hour, count): (Timestamp, u32),
        now: Timestamp,
        out: &mut Vec<Decision>,
    ) {
        let thresholds = self.config.buzz;
        let stock = self.stock(symbol);
        let buzz = &mut self.facts_mut(stock).buzz;
        let Some((direction, reason)) = buzz.count(hour, count, &thresholds) else {
            return;
        };
        for slot in std::mem::take(buzz.watchers(direction)) {
            self.fire(slot, now, reason.clone(), out);
        }
    }
}
