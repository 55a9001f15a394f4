//! Alerts on the clock and on facts: reminders, dates, insider trades and mentions.

use std::collections::BTreeSet;

use alerts::Alert;
use alerts::condition::{BuzzDirection, Condition, DeliveryTime, InsiderCriteria, InsiderDirection};
use jiff::civil::Date;
use jiff::{Timestamp, ToSpan};
use market::calendar::new_york_date;
use market::{Calendar, Symbol};

use super::record::Record;
use super::{Oracle, Outcome, Watched, fired};

/// All counts of mentions by hour, and the state at the last count.
#[derive(Clone, Debug, Default)]
pub(crate) struct MentionCounts {
    counts: Vec<(i64, u32)>,
    state: Option<Discussion>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Discussion {
    Usual,
    Is(BuzzDirection),
}

impl MentionCounts {
    /// Returns the state at the last count; `None` if it is unknown.
    pub(super) const fn state(&self) -> Option<Discussion> {
        self.state
    }

    /// Compares the newest 24 hours with the daily mean of the seven days before; `None` while the counts do not cover that
    /// span.
    fn discussion(&self) -> Option<Discussion> {
        let newest = self.counts.iter().map(|count| count.0).max()?;
        let oldest = self.counts.iter().map(|count| count.0).min()?;
        if oldest > newest - 191 {
            return None;
        }
        // After a silence of more than six hours the usual number is unknown, unless the gap is from midnight to midnight.
        let mut silent = 0;
        for hour in newest - 191..=newest {
            let counted = self.counts.iter().any(|count| count.0 == hour);
            if !counted {
                silent += 1;
                continue;
            }
            if silent > 6 && (silent != 23 || hour % 24 != 0) {
                return None;
            }
            silent = 0;
        }
        let sum = |from: i64, to: i64| -> i64 {
            let within = self.counts.iter().filter(|(hour, _)| (from..=to).contains(hour));
            within.map(|&(_, count)| i64::from(count)).sum()
        };
        let (mentions, seven_days) = (sum(newest - 23, newest), sum(newest - 191, newest - 24));
        // Rising: twice the mean and at least 20. Falling: half the mean, if the mean is at least 20.
        Some(if mentions >= 20 && mentions * 7 >= 2 * seven_days {
            Discussion::Is(BuzzDirection::Rising)
        } else if seven_days >= 20 * 7 && mentions * 7 * 2 <= seven_days {
            Discussion::Is(BuzzDirection::Falling)
        } else {
            Discussion::Usual
        })
    }
}

impl Oracle {
    /// Fires on the change into a state.
    pub(super) fn mentioned(&mut self, symbol: Symbol, hour: Timestamp, count: u32, now: Timestamp) -> Vec<Outcome> {
        let mentions = &mut self.record(symbol).mentions;
        let hour = hour.as_second().div_euclid(3600);
        mentions.counts.retain(|count| count.0 != hour);
        mentions.counts.push((hour, count));
        let before = mentions.state;
        mentions.state = mentions.discussion();
        let (Some(before), Some(Discussion::Is(entered))) = (before, mentions.state) else {
            return Vec::new();
        };
        if before == Discussion::Is(entered) {
            return Vec::new();
        }
        let waits = |alert: &Alert| alert.symbol == symbol && alert.condition == Condition::SocialBuzz(entered);
        self.fire_if(now, |watched, _| waits(&watched.alert))
    }

    /// Evaluates a date alert at once, if it is armed or its facts arrive after the day's instant.
    pub(super) fn evaluate_date_now(&mut self, watched: &mut Watched, at: Timestamp) {
        let day = new_york_date(at);
        let is_after_the_instant = self.calendar.daily_evaluation_time(day) <= watched.alert.armed_at.max(self.clock);
        let record = self.records.entry(watched.alert.symbol).or_default();
        let holds = is_after_the_instant && date_holds(&watched.alert.condition, record, day);
        watched.held_at = holds.then_some(at);
    }

    pub(super) fn dates_changed(&mut self, symbol: Symbol, now: Timestamp) {
        let mut all = std::mem::take(&mut self.watched);
        for watched in all.iter_mut().filter(|watched| watched.alert.symbol == symbol) {
            let at = now.max(watched.alert.armed_at);
            self.evaluate_date_now(watched, at);
        }
        self.watched = all;
    }

    /// Fires due reminders, and date conditions at each daily instant since the last clock event.
    pub(super) fn advance_clock(&mut self, now: Timestamp) -> Vec<Outcome> {
        let since = self.clock;
        self.clock = now.max(since);
        let calendar = self.calendar.clone();
        let (mut outcomes, mut kept) = (Vec::new(), Vec::new());
        for watched in std::mem::take(&mut self.watched) {
            let alert = &watched.alert;
            let record = self.records.entry(alert.symbol).or_default();
            let since = since.max(alert.armed_at);
            let fires_at = match alert.condition {
                Condition::Reminder { at } => Some(at).filter(|&at| at <= now),
                Condition::DailyReminder(delivery) => days(since, now)
                    .find_map(|day| delivered(&calendar, delivery, day).filter(|&at| since < at && at <= now)),
                _ => watched.held_at.or_else(|| {
                    days(since, now)
                        .filter(|&day| date_holds(&alert.condition, record, day))
                        .map(|day| calendar.daily_evaluation_time(day))
                        .find(|&at| since < at && at <= now)
                }),
            };
            outcomes.extend(fires_at.map(|at| fired(alert, record, at)));
            if fires_at.is_none() || matches!(alert.condition, Condition::DailyReminder(_)) {
                kept.push(watched);
            }
        }
        self.watched = kept;
        outcomes.extend(self.evaluate_insiders(|watched| !watched.evaluated_trades, now));
        outcomes
    }

    pub(super) fn evaluate_insiders(
        &mut self,
        mut selects: impl FnMut(&Watched) -> bool,
        now: Timestamp,
    ) -> Vec<Outcome> {
        let today = new_york_date(now);
        self.fire_if(now, |watched, record| {
            let Condition::InsiderTransactions(wanted) = watched.alert.condition else {
                return false;
            };
            let evaluated = selects(watched);
            watched.evaluated_trades |= evaluated;
            evaluated && insiders_traded(&wanted, record, today)
        })
    }

    fn fire_if(&mut self, now: Timestamp, mut fires: impl FnMut(&mut Watched, &Record) -> bool) -> Vec<Outcome> {
        let (mut outcomes, mut kept) = (Vec::new(), Vec::new());
        for mut watched in std::mem::take(&mut self.watched) {
            let record = &*self.records.entry(watched.alert.symbol).or_default();
            if fires(&mut watched, record) {
                outcomes.push(fired(&watched.alert, record, now));
            } else {
                kept.push(watched);
            }
        }
        self.watched = kept;
        outcomes
    }
}

/// Returns the New York days from `since` to `now`.
pub(super) fn days(since: Timestamp, now: Timestamp) -> impl Iterator<Item = Date> {
    let last = new_york_date(now);
    // Limits the first `Clock` event, which has no earlier one.
    let first = new_york_date(since).max(last - 400.days());
    std::iter::successors(Some(first), |day| day.tomorrow().ok()).take_while(move |&day| day <= last)
}

pub(super) fn delivered(calendar: &Calendar, delivery: DeliveryTime, day: Date) -> Option<Timestamp> {
    let session = calendar.session(day)?;
    Some(match delivery {
        DeliveryTime::MarketOpen => session.open,
        DeliveryTime::AfterMarketClose => session.close + 15.minutes(),
    })
}

/// Returns whether a date lies within the condition's number of calendar days after `day`.
fn date_holds(condition: &Condition, record: &Record, day: Date) -> bool {
    let within = |date: Date, days: u16| day <= date && date <= day + i64::from(days).days();
    match *condition {
        Condition::EarningsAnnouncement { days_ahead } => record.earnings.iter().any(|&date| within(date, days_ahead)),
        Condition::DividendExDate { days_ahead } => record
            .dividends
            .iter()
            .any(|dividend| within(dividend.ex_date, days_ahead)),
        Condition::DividendPayment { .. } => record
            .dividends
            .iter()
            .any(|dividend| dividend.payment_date == Some(day)),
        _ => false,
    }
}

/// Returns whether the trades in the window have the required value and number of insiders.
pub(super) fn insiders_traded(watch: &InsiderCriteria, record: &Record, today: Date) -> bool {
    let after = today - i64::from(watch.window_days).days();
    let counted: Vec<_> = record
        .trades
        .iter()
        .filter(|trade| trade.filed_on > after)
        .filter(|trade| trade.open_market || !watch.open_market_only)
        .filter(|trade| match watch.direction {
            InsiderDirection::Buy => trade.bought,
            InsiderDirection::Sell => !trade.bought,
            InsiderDirection::Both => true,
        })
        .collect();
    let value: i128 = counted.iter().map(|trade| i128::from(trade.value_usd.micros())).sum();
    let insiders: BTreeSet<_> = counted.iter().map(|trade| &trade.insider).collect();
    value >= i128::from(watch.threshold_usd.micros()) && insiders.len() >= usize::from(watch.min_executives)
}
