//! The news of the simulated companies: earnings, dividends, splits, insider transactions and mentions.
//!
//! The news of a day depends only on the seed and the date; some figures also depend on the price. Companies report once a
//! quarter, on a business day in its first half, and pay their dividend in its second half. Both are announced weeks ahead.

use jiff::civil::{Date, Weekday, date};
use jiff::{SignedDuration, Span, Timestamp};
use market::Calendar;
use market::calendar::new_york;
use market::records::{
    Batch, DividendRow, EarningsRow, EarningsTime, FundamentalsRow, InsiderRow, MentionRow, SplitRow, TransactionSide,
};
use rand::Rng;

use super::companies::Company;
use super::numbers::{count, decimal};
use super::random::{self, DrawKind, EntityId, normal};

/// The days by which a report is announced in advance: longer than from one reporting season to the next.
const REPORT_ANNOUNCED_DAYS_AHEAD: i64 = 100;
/// The days by which a dividend is announced in advance.
const DIVIDEND_ANNOUNCED_DAYS_AHEAD: i64 = 45;
/// The duration of a spike of mentions, in days.
const MENTION_SPIKE_DAYS: i64 = 6;

/// A company, with the inputs of its news.
pub(super) struct NewsContext<'a> {
    pub(super) seed: u64,
    pub(super) entity: EntityId,
    pub(super) company: &'a Company,
    pub(super) calendar: &'a Calendar,
    /// The current price, in dollars.
    pub(super) price: f64,
}

/// The events of a company in a quarter.
struct QuarterPlan {
    report: Date,
    ex_date: Date,
    payment_date: Date,
}

impl NewsContext<'_> {
    /// Adds to `batch` the news of `date` after `after` and until `to`.
    pub(super) fn publish(&self, date: Date, (after, to): (Timestamp, Timestamp), batch: &mut Batch) {
        let due = |hour: i8, minute: i8| {
            let at = new_york(date, hour, minute);
            after < at && at <= to
        };
        if due(7, 0) && self.reports_on(date) {
            batch.fundamentals.push(self.figures(date));
        }
        if due(8, 0) {
            self.announce(date, batch);
        }
        if due(17, 30) {
            self.insiders(date, batch);
        }
    }

    /// Whether the company reports its earnings on `date`, before the open.
    pub(super) fn reports_on(&self, date: Date) -> bool {
        self.company.is_company() && self.quarter(date).is_some_and(|quarter| quarter.report == date)
    }

    /// Returns the split on `date`. Only companies without dividends split, if the price is high or very low, and rarely.
    pub(super) fn split(&self, date: Date) -> Option<SplitRow> {
        if !self.company.is_company() || self.company.dividend > 0.0 || date.weekday() != Weekday::Monday {
            return None;
        }
        let mut rng = random::on(self.seed, DrawKind::Split, self.entity, date);
        if self.calendar.closure(date).is_some() || !rng.random_bool(0.02) {
            return None;
        }
        let ratio = match self.price {
            price if price >= 300.0 => "4",
            price if price >= 150.0 => "3",
            price if price >= 75.0 => "2",
            price if price < 4.0 => "0.125",
            _ => return None,
        };
        let ratio = ratio.parse().ok()?;
        let symbol = self.company.symbol;
        Some(SplitRow { symbol, date, ratio })
    }

    /// Returns the earnings and other figures as of `date`.
    pub(super) fn figures(&self, date: Date) -> FundamentalsRow {
        let mut rng = random::on(self.seed, DrawKind::Quarter, self.entity, date);
        let eps = self.price / (self.company.pe * (0.1 * normal(&mut rng)).exp());
        let growth = 1.0 + 0.08 * (1.0 + normal(&mut rng)).abs();
        let forward = if eps > 0.0 { eps * growth } else { eps / growth };
        let yearly = 4.0 * self.company.first_price * self.company.dividend;
        let shares = self.company.volume * 150.0 * self.company.first_price / self.price;
        FundamentalsRow {
            symbol: self.company.symbol,
            as_of: date,
            eps_ttm: Some(decimal(eps, 2)),
            eps_forward: Some(decimal(forward, 2)),
            market_cap: Some(decimal((shares * self.price).min(9e12), 0)),
            dividend_yield: Some(decimal(yearly / self.price * 100.0, 2)),
            dividend_amount: Some(decimal(yearly, 3)),
            beta: Some(decimal(self.company.beta, 2)),
        }
    }

    /// Adds the announcements that are made on `date` for a later day.
    fn announce(&self, date: Date, batch: &mut Batch) {
        let planned = |days_ahead| {
            let day = plus_days(date, days_ahead)?;
            Some((day, self.quarter(day)?))
        };
        let symbol = self.company.symbol;
        let report = planned(REPORT_ANNOUNCED_DAYS_AHEAD).filter(|(day, quarter)| quarter.report == *day);
        if let Some((day, _)) = report.filter(|_| self.company.is_company()) {
            batch.earnings.push(EarningsRow {
                symbol,
                date: day,
                time: EarningsTime::BeforeOpen,
                eps_estimate: Some(decimal(self.price / self.company.pe / 4.0, 2)),
            });
        }
        let ex_date = planned(DIVIDEND_ANNOUNCED_DAYS_AHEAD).filter(|(day, quarter)| quarter.ex_date == *day);
        if let Some((day, quarter)) = ex_date.filter(|_| self.company.dividend > 0.0) {
            // The amount does not depend on the price, so that repeated announcements agree.
            let amount = self.company.first_price * self.company.dividend;
            batch.dividends.push(DividendRow {
                symbol,
                ex_date: day,
                payment_date: Some(quarter.payment_date),
                amount: Some(decimal(amount, 3)),
            });
        }
    }

    /// Returns the plan of the quarter of `day`.
    fn quarter(&self, day: Date) -> Option<QuarterPlan> {
        let first = date(day.year(), (day.month() - 1) / 3 * 3 + 1, 1);
        let mut rng = random::on(self.seed, DrawKind::Quarter, self.entity, first);
        let mut business_day = |days: std::ops::Range<i64>| {
            let day = plus_days(first, rng.random_range(days))?;
            std::iter::successors(Some(day), |day| day.tomorrow().ok())
                .find(|&day| self.calendar.closure(day).is_none())
        };
        Some(QuarterPlan {
            report: business_day(18..45)?,
            ex_date: business_day(52..64)?,
            payment_date: business_day(70..84)?,
        })
    }

    /// Adds insider transactions: occasionally a sale, rarely several purchases on one day.
    fn insiders(&self, date: Date, batch: &mut Batch) {
        if !self.company.is_company() || self.calendar.closure(date).is_some() {
            return;
        }
        let mut rng = random::on(self.seed, DrawKind::Insiders, self.entity, date);
        if rng.random_bool(0.02) {
            let entity = rng.random_range(0..INSIDERS.len());
            let dollars = rng.random_range(50_000.0..900_000.0);
            batch
                .insider_transactions
                .push(self.trade(date, INSIDERS[entity], TransactionSide::Sell, dollars));
        }
        if rng.random_bool(0.002) {
            self.buy_together(date, &mut rng, batch);
        }
    }

    /// Adds purchases of three insiders on the same day.
    pub(super) fn buy_together(&self, date: Date, rng: &mut impl Rng, batch: &mut Batch) {
        for entity in &INSIDERS[..3] {
            let dollars = rng.random_range(200_000.0..600_000.0);
            batch
                .insider_transactions
                .push(self.trade(date, entity, TransactionSide::Buy, dollars));
        }
    }

    fn trade(&self, filed_on: Date, entity: &str, side: TransactionSide, dollars: f64) -> InsiderRow {
        InsiderRow {
            symbol: self.company.symbol,
            filed_on,
            traded_on: plus_days(filed_on, -2),
            insider: format!("{entity} of {}", self.company.name),
            code: if side == TransactionSide::Buy { 'P' } else { 'S' },
            side,
            shares: decimal((dollars / self.price).max(1.0), 0),
            price: decimal(self.price, 2),
        }
    }

    /// Returns the mentions of the company in the hour that begins at `hour`: more by day than by night, and many more
    /// during a spike.
    pub(super) fn mentions(&self, hour: Timestamp, date: Date) -> MentionRow {
        let of_day = (hour.as_second() / 3600 % 24) as f64;
        let usual = 6.0 + 4.0 * ((of_day - 13.0) / 24.0 * std::f64::consts::TAU).cos();
        let mut rng = random::of(self.seed, DrawKind::Mentions, self.entity, hour.as_second());
        MentionRow {
            symbol: self.company.symbol,
            time: hour,
            mentions: count(usual * self.mention_factor(hour, date) * (0.3 * normal(&mut rng)).exp()),
        }
    }

    /// Returns the factor of the mentions. A spike begins on about one day in sixty and decays over the next days.
    fn mention_factor(&self, hour: Timestamp, date: Date) -> f64 {
        let spikes = (0..MENTION_SPIKE_DAYS).filter_map(|days| {
            let day = plus_days(date, -days)?;
            let mut rng = random::on(self.seed, DrawKind::MentionSpike, self.entity, day);
            let is_spike = rng.random_bool(1.0 / 60.0);
            let from = new_york(day, rng.random_range(6..18), 0);
            let hours = (hour.as_second() - from.as_second()) as f64 / 3600.0;
            let strength: f64 = rng.random_range(3.0..8.0);
            (is_spike && hours >= 0.0).then(|| strength * 0.97_f64.powf(hours))
        });
        1.0 + spikes.sum::<f64>()
    }
}

const INSIDERS: [&str; 5] = [
    "Chief Executive",
    "Chief Financial Officer",
    "Director A",
    "Director B",
    "General Counsel",
];

/// Returns the beginnings of the hours that end after `after` and no later than `to`.
pub(super) fn hours((after, to): (Timestamp, Timestamp)) -> impl Iterator<Item = Timestamp> {
    let hour = SignedDuration::from_hours(1);
    let first = (after.as_second().div_euclid(3600)) * 3600;
    let first = Timestamp::from_second(first).unwrap_or(Timestamp::MAX);
    std::iter::successors(Some(first), move |begin| begin.checked_add(hour).ok()).take_while(move |begin| {
        let end = begin.checked_add(hour).unwrap_or(Timestamp::MAX);
        end <= to
    })
}

fn plus_days(date: Date, days: i64) -> Option<Date> {
    date.checked_add(Span::new().days(days)).ok()
}
