//! The facts of a replay with the times at which they become known.

use std::collections::BTreeMap;

use alerts::engine::{Dividend, Engine, Event, InsiderTrade};
use alerts::metrics::FundamentalFigures;
use jiff::Timestamp;
use jiff::civil::Date;
use market::calendar::new_york;
use market::records::{InsiderRow, SplitRow, TransactionSide};
use market::{Calendar, Decimal, MICROS_PER_UNIT, SplitRatio, Symbol};
use sources::folder::MarketData;

/// A fact that becomes known at some time.
pub(super) enum Fact {
    Split {
        symbol: Symbol,
        ratio: SplitRatio,
    },
    Fundamentals {
        symbol: Symbol,
        figures: FundamentalFigures,
    },
    InsiderTrades {
        symbol: Symbol,
        trades: Vec<InsiderTrade>,
    },
    Mentions {
        symbol: Symbol,
        hour: Timestamp,
        count: u32,
    },
}

impl Fact {
    pub(super) fn event(&self) -> Event<'_> {
        match *self {
            Self::Split { symbol, ratio } => Event::Split { symbol, ratio },
            Self::Fundamentals { symbol, figures } => Event::Fundamentals { symbol, figures },
            Self::InsiderTrades { symbol, ref trades } => Event::InsiderTrades { symbol, trades },
            Self::Mentions { symbol, hour, count } => Event::Mentions { symbol, hour, count },
        }
    }
}

/// Returns every fact with the time from which it is known, in time order. At the same time the order of the rows
/// counts, with splits first.
pub(super) fn facts(data: &MarketData, calendar: &Calendar) -> Vec<(Timestamp, Fact)> {
    let midnight = |date: Date| new_york(date, 0, 0);
    let splits = data.splits.iter().map(|row| {
        (
            midnight(row.date),
            Fact::Split {
                symbol: row.symbol,
                ratio: row.ratio,
            },
        )
    });
    let fundamentals = fundamentals(data).map(|(as_of, fact)| (midnight(as_of), fact));
    let mut filings: BTreeMap<(Date, Symbol), Vec<InsiderTrade>> = BTreeMap::new();
    for row in &data.insiders {
        filings.entry((row.filed_on, row.symbol)).or_default().push(trade(row));
    }
    let insiders = filings.into_iter().map(|((filed_on, symbol), trades)| {
        (
            calendar.daily_evaluation_time(filed_on),
            Fact::InsiderTrades { symbol, trades },
        )
    });
    let mentions = data.mentions.iter().map(|row| {
        (
            row.time,
            Fact::Mentions {
                symbol: row.symbol,
                hour: row.time,
                count: row.mentions,
            },
        )
    });
    let mut facts: Vec<_> = splits.chain(fundamentals).chain(insiders).chain(mentions).collect();
    facts.sort_by_key(|&(at, _)| at);
    facts
}

/// Returns the fundamentals that are known from each row's day on. An empty cell keeps the value of the previous row,
/// adjusted to the splits in between.
fn fundamentals(data: &MarketData) -> impl Iterator<Item = (Date, Fact)> {
    let mut latest: BTreeMap<Symbol, (Date, FundamentalFigures)> = BTreeMap::new();
    data.fundamentals.iter().map(move |row| {
        let previous = latest
            .entry(row.symbol)
            .or_insert((row.as_of, FundamentalFigures::default()));
        let in_between =
            |split: &&SplitRow| split.symbol == row.symbol && previous.0 < split.date && split.date <= row.as_of;
        let splits = data.splits.iter().filter(in_between);
        let known = splits.fold(previous.1, |figures, split| figures.after_split(split.ratio));
        let figures = FundamentalFigures::of(row).or(known);
        *previous = (row.as_of, figures);
        let symbol = row.symbol;
        (row.as_of, Fact::Fundamentals { symbol, figures })
    })
}

fn trade(row: &InsiderRow) -> InsiderTrade {
    let value = i128::from(row.shares.micros()) * i128::from(row.price.micros()) / i128::from(MICROS_PER_UNIT);
    InsiderTrade {
        filed_on: row.filed_on,
        insider: row.insider.clone(),
        bought: row.side == TransactionSide::Buy,
        open_market: matches!(row.code, 'P' | 'S'),
        value_usd: Decimal::from_micros(i64::try_from(value).unwrap_or(i64::MAX)),
    }
}

/// Gives the engine the dates that are known from the beginning.
pub(super) fn load_known_dates(data: &MarketData, engine: &mut Engine, now: Timestamp) {
    let mut earnings: BTreeMap<Symbol, Vec<Date>> = BTreeMap::new();
    for row in &data.earnings {
        earnings.entry(row.symbol).or_default().push(row.date);
    }
    let mut dividends: BTreeMap<Symbol, Vec<Dividend>> = BTreeMap::new();
    for row in &data.dividends {
        let dividend = Dividend {
            ex_date: row.ex_date,
            payment_date: row.payment_date,
            amount: row.amount,
        };
        dividends.entry(row.symbol).or_default().push(dividend);
    }
    let mut process = |event: Event<'_>| {
        // Nothing is armed yet, so there are no decisions, and the engine always accepts these facts.
        let _ = engine.process(event, now, &mut Vec::new());
    };
    for (&symbol, dates) in &earnings {
        process(Event::Earnings { symbol, dates });
    }
    for (&symbol, dividends) in &dividends {
        process(Event::Dividends { symbol, dividends });
    }
}
