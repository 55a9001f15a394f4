//! What else happens to the simulated companies: earnings, dividends, a split, insiders, talk.

use std::collections::BTreeSet;

use jiff::civil::{Date, date};
use jiff::{SignedDuration, Span};
use market::Decimal;
use market::calendar::new_york;
use market::records::{
    DividendRow, EarningsRow, EarningsTime, FundamentalsRow, InsiderRow, MentionRow, Side, SplitRow, StockRow,
};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::companies::Company;
use super::prices::normal;
use crate::folder::MarketData;

/// The company whose shares split, and when.
const SPLIT: (&str, Date, f64) = ("INDG", date(2025, 6, 9), 4.0);
/// Of these companies people talk, and their talk is counted.
const TALKED_ABOUT: [&str; 3] = ["KEST", "LNTN", "RVBN"];
/// Since when it is counted.
const COUNTED_FROM: Date = date(2024, 12, 15);

/// What of it moves the price.
pub(super) struct Events {
    pub(super) earnings_moves: BTreeSet<Date>,
    pub(super) split_on: Option<Date>,
    pub(super) split_ratio: f64,
}

/// Simulates one company's facts into `data`.
pub(super) fn simulate(company: &Company, days: &[Date], chance: &mut ChaCha8Rng, data: &mut MarketData) -> Events {
    let symbol = company.symbol();
    data.stocks.push(StockRow {
        sector: Some(company.sector.into()),
        ..StockRow::named(symbol, company.name)
    });
    let split = (company.ticker == SPLIT.0).then_some(SPLIT);
    if let Some((_, date, ratio)) = split {
        let ratio = Decimal::from_f64(ratio).ok().and_then(|ratio| ratio.try_into().ok());
        data.splits.extend(ratio.map(|ratio| SplitRow { symbol, date, ratio }));
    }
    let shares = |date: Date| split.filter(|&(_, on, _)| date >= on).map_or(1.0, |(.., ratio)| ratio);
    let earnings_moves = quarters(company, days, &shares, chance, data);
    insiders(company, days, chance, data);
    if TALKED_ABOUT.contains(&company.ticker) {
        mentions(company, days, chance, data);
    }
    Events {
        earnings_moves,
        split_on: split.map(|split| split.1),
        split_ratio: SPLIT.2,
    }
}

/// Earnings and dividends, once a quarter. Answers the days on which the price moves by the earnings.
fn quarters(
    company: &Company,
    days: &[Date],
    shares: &dyn Fn(Date) -> f64,
    chance: &mut ChaCha8Rng,
    data: &mut MarketData,
) -> BTreeSet<Date> {
    let symbol = company.symbol();
    let mut eps = company.first_price / chance.random_range(14.0..32.0);
    let mut moves = BTreeSet::new();
    for quarter in days.chunks(63) {
        let day = |at: usize| quarter.get(at).copied();
        let Some(reported) = day(chance.random_range(15..35)) else {
            continue;
        };
        moves.insert(reported);
        data.earnings.push(EarningsRow {
            symbol,
            date: reported,
            time: EarningsTime::BeforeOpen,
            eps_estimate: None,
        });
        // Lantern Biotech has no earnings yet, as young biotechs do.
        eps = if company.ticker == "LNTN" {
            -1.2
        } else {
            eps * (1.0 + 0.06 * normal(chance))
        };
        let per_share = eps / shares(reported);
        data.fundamentals.push(FundamentalsRow {
            symbol,
            as_of: reported,
            eps_ttm: Decimal::from_f64((per_share * 100.0).round() / 100.0).ok(),
            eps_forward: Decimal::from_f64((per_share * 108.0).round() / 100.0).ok(),
            market_cap: None,
            dividend_yield: None,
            dividend_amount: None,
            beta: None,
        });
        if company.dividend > 0.0
            && let Some((ex_date, payment_date)) = day(45).zip(day(59))
        {
            let amount = company.first_price * company.dividend / shares(ex_date);
            let amount = Decimal::from_f64((amount * 1000.0).round() / 1000.0).ok();
            data.dividends.push(DividendRow {
                symbol,
                ex_date,
                payment_date: Some(payment_date),
                amount,
            });
        }
    }
    moves
}

/// Now and then an insider trades; in about one company of three a few of them buy together.
fn insiders(company: &Company, days: &[Date], chance: &mut ChaCha8Rng, data: &mut MarketData) {
    const TITLES: [&str; 5] = [
        "Chief Executive",
        "Chief Financial Officer",
        "Director A",
        "Director B",
        "General Counsel",
    ];
    let mut trade = |filed_on: Date, who: &str, side: Side, dollars: f64| {
        let price = company.first_price;
        let decimal = |value: f64| Decimal::from_f64(value.round()).unwrap_or_default();
        data.insiders.push(InsiderRow {
            symbol: company.symbol(),
            filed_on,
            traded_on: filed_on.checked_sub(Span::new().days(2)).ok(),
            insider: format!("{who} of {}", company.name),
            code: if side == Side::Buy { 'P' } else { 'S' },
            side,
            shares: decimal(dollars / price),
            price: decimal(price),
        });
    };
    for &day in days {
        if chance.random_bool(0.02) {
            let who = TITLES[chance.random_range(0..TITLES.len())];
            trade(day, who, Side::Sell, chance.random_range(50_000.0..900_000.0));
        }
    }
    if chance.random_bool(0.35) {
        let first = chance.random_range(days.len() / 2..days.len() - 5);
        for (day, who) in days[first..].iter().zip(TITLES).take(3) {
            trade(*day, who, Side::Buy, chance.random_range(200_000.0..600_000.0));
        }
    }
}

/// Mentions by the hour, more by day than by night, with a few days on which a stock is all people talk about.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count of some dozens"
)]
fn mentions(company: &Company, days: &[Date], chance: &mut ChaCha8Rng, data: &mut MarketData) {
    let (start, end) = (
        new_york(COUNTED_FROM, 0, 0),
        days.last()
            .map_or(new_york(COUNTED_FROM, 0, 0), |&day| new_york(day, 23, 0)),
    );
    let mut hour = start;
    let mut excitement: f64 = 1.0;
    while hour <= end {
        if chance.random_bool(1.0 / (24.0 * 60.0)) {
            excitement = chance.random_range(4.0..9.0);
        }
        excitement = 1.0 + (excitement - 1.0) * 0.97;
        let of_day = (hour.as_second() / 3600 % 24) as f64;
        let usual = 6.0 + 4.0 * ((of_day - 13.0) / 24.0 * std::f64::consts::TAU).cos();
        let count = (usual * excitement * (0.3 * normal(chance)).exp()).round();
        data.mentions.push(MentionRow {
            symbol: company.symbol(),
            time: hour,
            mentions: count as u32,
        });
        hour += SignedDuration::from_hours(1);
    }
}
