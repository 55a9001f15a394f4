//! What else happens to the simulated companies: earnings, dividends, splits, insiders, talk.
//!
//! The news of a day follow from the seed and the date alone, but for figures that go with the price. Companies report
//! once a quarter, on a business day in its first half, and pay their dividend in its second half; both are announced
//! weeks ahead.

use jiff::civil::{Date, Weekday, date};
use jiff::{SignedDuration, Span, Timestamp};
use market::Calendar;
use market::calendar::new_york;
use market::records::{
    Batch, DividendRow, EarningsRow, EarningsTime, FundamentalsRow, InsiderRow, MentionRow, Side, SplitRow,
};
use rand::Rng;

use super::chance::{self, Topic, Who, normal};
use super::companies::Company;
use super::numbers::{count, decimal};

/// How long before its day a report is announced, in days: longer than from one season of reports to the next.
const REPORT_ANNOUNCED_DAYS_AHEAD: i64 = 100;
/// How long before its day a dividend is announced, in days.
const DIVIDEND_ANNOUNCED_DAYS_AHEAD: i64 = 45;
/// How long excitement about a company lasts, in days.
const EXCITED_DAYS: i64 = 6;

/// One company as the news see it.
pub(super) struct Subject<'a> {
    pub(super) seed: u64,
    pub(super) who: Who,
    pub(super) company: &'a Company,
    pub(super) calendar: &'a Calendar,
    /// Its price of the moment, in dollars.
    pub(super) price: f64,
}

/// What is planned for one company in one quarter.
struct Quarter {
    report: Date,
    ex_date: Date,
    payment_date: Date,
}

impl Subject<'_> {
    /// Puts into `batch` the news of `date` that come after `after` and no later than `to`.
    pub(super) fn tell(&self, date: Date, (after, to): (Timestamp, Timestamp), batch: &mut Batch) {
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

    /// The split that takes effect on `date`: only companies that keep their profits split, where the price calls for
    /// it, and mostly not even then.
    pub(super) fn split(&self, date: Date) -> Option<SplitRow> {
        if !self.company.is_company() || self.company.dividend > 0.0 || date.weekday() != Weekday::Monday {
            return None;
        }
        let mut chance = chance::on(self.seed, Topic::Split, self.who, date);
        if self.calendar.holiday(date).is_some() || !chance.random_bool(0.02) {
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

    /// The earnings and other figures as of `date`.
    pub(super) fn figures(&self, date: Date) -> FundamentalsRow {
        let mut chance = chance::on(self.seed, Topic::Quarter, self.who, date);
        let eps = self.price / (self.company.pe * (0.1 * normal(&mut chance)).exp());
        let growth = 1.0 + 0.08 * (1.0 + normal(&mut chance)).abs();
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

    /// What is announced on `date` for a later day.
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
            // Not of the price, so that it stays the same however often it is told.
            let amount = self.company.first_price * self.company.dividend;
            batch.dividends.push(DividendRow {
                symbol,
                ex_date: day,
                payment_date: Some(quarter.payment_date),
                amount: Some(decimal(amount, 3)),
            });
        }
    }

    /// The plan for the quarter in which `day` lies.
    fn quarter(&self, day: Date) -> Option<Quarter> {
        let first = date(day.year(), (day.month() - 1) / 3 * 3 + 1, 1);
        let mut chance = chance::on(self.seed, Topic::Quarter, self.who, first);
        let mut business_day = |days: std::ops::Range<i64>| {
            let day = plus_days(first, chance.random_range(days))?;
            std::iter::successors(Some(day), |day| day.tomorrow().ok())
                .find(|&day| self.calendar.holiday(day).is_none())
        };
        Some(Quarter {
            report: business_day(18..45)?,
            ex_date: business_day(52..64)?,
            payment_date: business_day(70..84)?,
        })
    }

    /// Now and then an insider sells; much more rarely a few of them buy together.
    fn insiders(&self, date: Date, batch: &mut Batch) {
        if !self.company.is_company() || self.calendar.holiday(date).is_some() {
            return;
        }
        let mut chance = chance::on(self.seed, Topic::Insiders, self.who, date);
        if chance.random_bool(0.02) {
            let who = chance.random_range(0..INSIDERS.len());
            let dollars = chance.random_range(50_000.0..900_000.0);
            batch
                .insider_transactions
                .push(self.trade(date, INSIDERS[who], Side::Sell, dollars));
        }
        if chance.random_bool(0.002) {
            self.buy_together(date, &mut chance, batch);
        }
    }

    /// Three insiders buy on the same day.
    pub(super) fn buy_together(&self, date: Date, chance: &mut impl Rng, batch: &mut Batch) {
        for who in &INSIDERS[..3] {
            let dollars = chance.random_range(200_000.0..600_000.0);
            batch
                .insider_transactions
                .push(self.trade(date, who, Side::Buy, dollars));
        }
    }

    fn trade(&self, filed_on: Date, who: &str, side: Side, dollars: f64) -> InsiderRow {
        InsiderRow {
            symbol: self.company.symbol,
            filed_on,
            traded_on: plus_days(filed_on, -2),
            insider: format!("{who} of {}", self.company.name),
            code: if side == Side::Buy { 'P' } else { 'S' },
            side,
            shares: decimal((dollars / self.price).max(1.0), 0),
            price: decimal(self.price, 2),
        }
    }

    /// How often the company is mentioned in the hour that begins at `hour`: more by day than by night, and at times
    /// it is all people talk about.
    pub(super) fn mentions(&self, hour: Timestamp, date: Date) -> MentionRow {
        let of_day = (hour.as_second() / 3600 % 24) as f64;
        let usual = 6.0 + 4.0 * ((of_day - 13.0) / 24.0 * std::f64::consts::TAU).cos();
        let mut chance = chance::of(self.seed, Topic::Talk, self.who, hour.as_second());
        MentionRow {
            symbol: self.company.symbol,
            time: hour,
            mentions: count(usual * self.excitement(hour, date) * (0.3 * normal(&mut chance)).exp()),
        }
    }

    /// How excited people are: about one day in sixty something stirs them, and they calm down over the next days.
    fn excitement(&self, hour: Timestamp, date: Date) -> f64 {
        let stirred = (0..EXCITED_DAYS).filter_map(|days| {
            let day = plus_days(date, -days)?;
            let mut chance = chance::on(self.seed, Topic::Excitement, self.who, day);
            let stirs = chance.random_bool(1.0 / 60.0);
            let from = new_york(day, chance.random_range(6..18), 0);
            let hours = (hour.as_second() - from.as_second()) as f64 / 3600.0;
            let strength: f64 = chance.random_range(3.0..8.0);
            (stirs && hours >= 0.0).then(|| strength * 0.97_f64.powf(hours))
        });
        1.0 + stirred.sum::<f64>()
    }
}

const INSIDERS: [&str; 5] = [
    "Chief Executive",
    "Chief Financial Officer",
    "Director A",
    "Director B",
    "General Counsel",
];

/// The hours that are over after `after` and no later than `to`, by their beginnings.
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
