//! What waits for an instant, and what is judged when facts come in.

use jiff::Timestamp;
use jiff::civil::Date;
use market::Symbol;
use market::calendar::new_york_date;

use super::Engine;
use super::decision::{Decision, Verdict};
use super::event::InsiderTrade;
use super::facts::Facts;
use super::level_index::Slot;
use super::reason::Reason;
use super::registry::Placement;
use super::stock::Stock;
use crate::condition::{Condition, DeliveryTime};

/// How many minutes after the close a daily reminder for then is sent.
const MINUTES_AFTER_CLOSE: i64 = 15;

/// How many days ahead the next session is looked for: no exchange was ever closed that long.
const LONGEST_CLOSURE_DAYS: usize = 60;

impl Engine {
    /// `now` has come.
    pub(super) fn advance_clock(&mut self, now: Timestamp, out: &mut Vec<Decision>) {
        while let Some(&(at, slot)) = self.moments.first()
            && at <= now
        {
            self.moments.pop_first();
            if self.registry.is_live(slot) {
                self.clock = self.clock.max(at);
                self.moment_has_come(slot, at, now, out);
            }
        }
        self.clock = self.clock.max(now);
        self.judge_armed_insiders(now, out);
        self.registry.reclaim();
    }

    fn moment_has_come(&mut self, slot: Slot, at: Timestamp, now: Timestamp, out: &mut Vec<Decision>) {
        let condition = self.registry.watch(slot).condition;
        match condition {
            Condition::Reminder { .. } => self.fire(slot, at, Reason::Reminder, out),
            Condition::DailyReminder(delivery) => {
                let (alert, revision) = self.registry.identity(slot);
                let verdict = Verdict::Fire {
                    price: self.price_of(slot),
                    reason: Reason::DailyReminder(delivery),
                };
                out.push(Decision {
                    alert,
                    revision,
                    at,
                    verdict,
                });
                // After a standstill one reminder is enough, however many were missed.
                self.schedule(slot, self.daily_moment_after(delivery, now.max(at)));
            }
            _ => {
                // By the day of the scheduled instant, not by today: a missed instant is judged late.
                let stock = self.registry.watch(slot).stock.0 as usize;
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

    /// Fires an alert once and for all.
    pub(super) fn fire(&mut self, slot: Slot, at: Timestamp, reason: Reason, out: &mut Vec<Decision>) {
        let price = self.price_of(slot);
        let (alert, revision) = self.registry.retire(slot);
        out.push(Decision {
            alert,
            revision,
            at,
            verdict: Verdict::Fire { price, reason },
        });
    }

    fn price_of(&self, slot: Slot) -> Option<market::Price> {
        Stock::last_price(&self.hot[self.registry.watch(slot).stock.0 as usize])
    }

    /// Lets an alert wait for an instant, or for none while none is known.
    pub(super) fn schedule(&mut self, slot: Slot, at: Option<Timestamp>) {
        self.registry.watch_mut(slot).placement = Placement::Moment(at);
        self.moments.extend(at.map(|at| (at, slot)));
    }

    /// The first instant after `after` at which a daily reminder is due.
    pub(super) fn daily_moment_after(&self, delivery: DeliveryTime, after: Timestamp) -> Option<Timestamp> {
        let mut day = new_york_date(after);
        for _ in 0..LONGEST_CLOSURE_DAYS {
            if let Some(session) = self.calendar.session(day) {
                let at = match delivery {
                    DeliveryTime::MarketOpen => session.open,
                    DeliveryTime::AfterMarketClose => {
                        session.close + jiff::SignedDuration::from_mins(MINUTES_AFTER_CLOSE)
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

    /// Why a date alert fires on `day`, by the facts that are known now.
    fn date_reason_on(&self, slot: Slot, day: Date) -> Option<Reason> {
        let watch = self.registry.watch(slot);
        let facts = self.stocks[watch.stock.0 as usize].facts.as_ref()?;
        facts.date_reason(&watch.condition, day)
    }

    /// Schedules a date alert that was armed, or whose facts changed, at `at`. After the day's instant it is judged at once, by
    /// a [`Placement::Moment`] of `at`; besides, it waits for the next daily instant at which it holds.
    pub(super) fn schedule_changed_date(&mut self, slot: Slot, at: Timestamp) {
        let judged_until = self.registry.watch(slot).armed_at.max(self.clock);
        let today = new_york_date(at);
        if self.calendar.daily_moment(today) <= judged_until && self.date_reason_on(slot, today).is_some() {
            self.schedule(slot, Some(at));
        } else {
            self.schedule_date(slot, judged_until);
        }
    }

    /// Lets a date alert wait for the first day's moment after `after` at which it holds.
    fn schedule_date(&mut self, slot: Slot, after: Timestamp) {
        let watch = self.registry.watch(slot);
        let today = new_york_date(after);
        let next_judged = if self.calendar.daily_moment(today) > after {
            Some(today)
        } else {
            today.tomorrow().ok()
        };
        let facts = self.stocks[watch.stock.0 as usize].facts.as_ref();
        let due = facts
            .zip(next_judged)
            .and_then(|(facts, day)| facts.next_due(&watch.condition, day));
        self.schedule(slot, due.map(|due| self.calendar.daily_moment(due.day)));
    }

    /// Takes in facts about a stock's dates that arrive at `now`, and schedules its date alerts anew. An alert whose instant has come
    /// and was not judged yet keeps that instant if its date still holds.
    pub(super) fn facts(&mut self, symbol: Symbol, now: Timestamp, change: impl FnOnce(&mut Facts)) {
        let (stock, _) = self.parts(symbol);
        let facts = stock.facts.get_or_insert_default();
        change(facts);
        let dated: Vec<_> = facts.dated.iter().copied().collect();
        for slot in dated {
            if let Placement::Moment(Some(at)) = self.registry.watch(slot).placement {
                if at <= now && self.date_reason_on(slot, new_york_date(at)).is_some() {
                    continue;
                }
                self.moments.remove(&(at, slot));
            }
            self.schedule_changed_date(slot, now.max(self.registry.watch(slot).armed_at));
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
        let (stock, _) = self.parts(symbol);
        let facts = stock.facts.get_or_insert_default();
        facts.add_trades(trades, today);
        let watchers: Vec<_> = facts.insider_watchers.iter().copied().collect();
        for slot in watchers {
            self.judge_insiders(slot, today, now, out);
        }
    }

    pub(super) fn judge_armed_insiders(&mut self, now: Timestamp, out: &mut Vec<Decision>) {
        let today = new_york_date(now);
        for slot in std::mem::take(&mut self.unjudged_insiders) {
            if self.registry.is_live(slot) {
                self.judge_insiders(slot, today, now, out);
            }
        }
    }

    fn judge_insiders(&mut self, slot: Slot, today: Date, now: Timestamp, out: &mut Vec<Decision>) {
        let watch = self.registry.watch(slot);
        let Condition::InsiderTransactions(wanted) = watch.condition else {
            return;
        };
        let Some(facts) = &mut self.stocks[watch.stock.0 as usize].facts else {
            return;
        };
        if let Some(reason) = facts.insider_reason(&wanted, today) {
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
        let levels = self.settings.buzz;
        let (stock, _) = self.parts(symbol);
        let buzz = &mut stock.facts.get_or_insert_default().buzz;
        let Some((direction, reason)) = buzz.count(hour, count, &levels) else {
            return;
        };
        for slot in std::mem::take(buzz.watchers(direction)) {
            self.fire(slot, now, reason, out);
        }
    }
}
