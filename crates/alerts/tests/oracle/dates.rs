//! What waits for the clock or for facts: reminders, dates ahead, insiders, discussion.

use std::collections::BTreeSet;

use alerts::Alert;
use alerts::condition::{BuzzDirection, Condition, DeliveryTime, InsiderDirection, InsiderWatch};
use jiff::civil::Date;
use jiff::{Timestamp, ToSpan};
use market::calendar::new_york_date;
use market::{Calendar, Symbol};

use super::record::Record;
use super::{Oracle, Outcome, Watched, fired};

/// Every count of mentions there was, by the hour that it is of, and what discussion was like at the last one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Talk {
    counts: Vec<(i64, u32)>,
    state: Option<Discussion>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Discussion {
    Usual,
    Is(BuzzDirection),
}

impl Talk {
    /// The last 24 hours up to the newest count against the mean of the seven days before; `None` while counts do not reach
    /// back so far.
    fn discussion(&self) -> Option<Discussion> {
        let newest = self.counts.iter().map(|count| count.0).max()?;
        let oldest = self.counts.iter().map(|count| count.0).min()?;
        if oldest > newest - 191 {
            return None;
        }
        // A source that was silent for more than six hours in a row says nothing about what is usual, unless it was so from
        // one midnight to the next.
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
        // Twice the mean of a day and at least 20; half of it if at least 20 a day are usual.
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
    /// What fires is the change into a state.
    pub(super) fn mentioned(&mut self, symbol: Symbol, hour: Timestamp, count: u32, now: Timestamp) -> Vec<Outcome> {
        let talk = &mut self.record(symbol).talk;
        let hour = hour.as_second().div_euclid(3600);
        talk.counts.retain(|count| count.0 != hour);
        talk.counts.push((hour, count));
        let before = talk.state;
        talk.state = talk.discussion();
        let (Some(before), Some(Discussion::Is(entered))) = (before, talk.state) else {
            return Vec::new();
        };
        if before == Discussion::Is(entered) {
            return Vec::new();
        }
        let waits = |alert: &Alert| alert.symbol == symbol && alert.condition == Condition::SocialBuzz(entered);
        self.fire_if(now, |watched, _| waits(&watched.alert))
    }

    /// A date alert that is armed, or whose facts arrive, after the instant of the day has come is judged at once.
    pub(super) fn judge_date_at_once(&mut self, watched: &mut Watched, at: Timestamp) {
        let day = new_york_date(at);
        let is_after_the_instant = self.calendar.daily_moment(day) <= watched.alert.armed_at.max(self.clock);
        let record = self.records.entry(watched.alert.symbol).or_default();
        let holds = is_after_the_instant && date_holds(&watched.alert.condition, record, day);
        watched.held_at = holds.then_some(at);
    }

    pub(super) fn dates_changed(&mut self, symbol: Symbol, now: Timestamp) {
        let mut all = std::mem::take(&mut self.watched);
        for watched in all.iter_mut().filter(|watched| watched.alert.symbol == symbol) {
            let at = now.max(watched.alert.armed_at);
            self.judge_date_at_once(watched, at);
        }
        self.watched = all;
    }

    /// Reminders that are due, and date conditions at each day's moment since the clock struck last.
    pub(super) fn clock_strikes(&mut self, now: Timestamp) -> Vec<Outcome> {
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
                        .map(|day| calendar.daily_moment(day))
                        .find(|&at| since < at && at <= now)
                }),
            };
            outcomes.extend(fires_at.map(|at| fired(alert, record, at)));
            if fires_at.is_none() || matches!(alert.condition, Condition::DailyReminder(_)) {
                kept.push(watched);
            }
        }
        self.watched = kept;
        outcomes.extend(self.judge_insiders(|watched| !watched.looked_at_trades, now));
        outcomes
    }

    pub(super) fn judge_insiders(&mut self, mut whom: impl FnMut(&Watched) -> bool, now: Timestamp) -> Vec<Outcome> {
        let today = new_york_date(now);
        self.fire_if(now, |watched, record| {
            let Condition::InsiderTransactions(wanted) = watched.alert.condition else {
                return false;
            };
            let judged = whom(watched);
            watched.looked_at_trades |= judged;
            judged && insiders_traded(&wanted, record, today)
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

/// The New York days that `since` to `now` touch.
fn days(since: Timestamp, now: Timestamp) -> impl Iterator<Item = Date> {
    let last = new_york_date(now);
    // Before the beginning of time nobody waited.
    let first = new_york_date(since).max(last - 400.days());
    std::iter::successors(Some(first), |day| day.tomorrow().ok()).take_while(move |&day| day <= last)
}

fn delivered(calendar: &Calendar, delivery: DeliveryTime, day: Date) -> Option<Timestamp> {
    let session = calendar.session(day)?;
    Some(match delivery {
        DeliveryTime::MarketOpen => session.open,
        DeliveryTime::AfterMarketClose => session.close + 15.minutes(),
    })
}

/// The next date is at most so many calendar days ahead of `day`.
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

/// Trades filed after today − the window's days, of the kind that counts, by so many insiders, worth so much together.
fn insiders_traded(watch: &InsiderWatch, record: &Record, today: Date) -> bool {
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
