//! Records are the same after writing and reading.

use jiff::Timestamp;
use jiff::civil::Date;
use market::price::{MAX_PRICE_MICROS, MAX_VOLUME};
use market::records::{
    BarRow, Batch, DividendRow, EarningsRow, EarningsTime, FundamentalsRow, InsiderRow, IntradayRow, MentionRow,
    QuoteRow, SplitRow, StockRow, TransactionSide, WithdrawnFiling,
};
use market::{Bar, Decimal, IntradayBar, Price, SplitRatio, Symbol};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn assert_round_trip<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(
    record: &T,
) -> Result<(), TestCaseError> {
    let json = serde_json::to_string(record).unwrap();
    let read: T = serde_json::from_str(&json).unwrap();
    prop_assert_eq!(&read, record, "{}", json);
    Ok(())
}

fn symbol() -> impl Strategy<Value = Symbol> {
    "[A-Z0-9.-]{1,10}".prop_map(|text| text.parse().unwrap())
}

fn price() -> impl Strategy<Value = Price> {
    prop_oneof![Just(1), Just(MAX_PRICE_MICROS), 1..=MAX_PRICE_MICROS]
        .prop_map(|micros| Price::from_micros(micros).unwrap())
}

fn decimal() -> impl Strategy<Value = Decimal> {
    prop_oneof![Just(0), Just(i64::MIN), Just(i64::MAX), any::<i64>()].prop_map(Decimal::from_micros)
}

fn ratio() -> impl Strategy<Value = SplitRatio> {
    (100..=10_000_000_000_i64).prop_map(|micros| Decimal::from_micros(micros).try_into().unwrap())
}

fn date() -> impl Strategy<Value = Date> {
    (-9_999..=9_999_i16, 1..=12_i8, 1..=28_i8).prop_map(|(year, month, day)| Date::new(year, month, day).unwrap())
}

fn instant() -> impl Strategy<Value = Timestamp> {
    (Timestamp::MIN.as_nanosecond()..=Timestamp::MAX.as_nanosecond())
        .prop_map(|nanosecond| Timestamp::from_nanosecond(nanosecond).unwrap())
}

fn stock() -> impl Strategy<Value = StockRow> {
    let text = || option::of(".{0,12}");
    let place = (text(), text(), text());
    (symbol(), ".{0,12}", text(), text(), text(), place, any::<bool>()).prop_map(
        |(symbol, name, kind, sector, industry, (country, exchange, isin), is_active)| StockRow {
            symbol,
            name,
            kind,
            sector,
            industry,
            country,
            exchange,
            isin,
            is_active,
        },
    )
}

fn quote() -> impl Strategy<Value = QuoteRow> {
    let best = (option::of(price()), option::of(price()), option::of(price()));
    (symbol(), price(), option::of(any::<i64>()), option::of(instant()), best).prop_map(
        |(symbol, price, volume, time, (bid, ask, vwap))| QuoteRow {
            symbol,
            price,
            volume,
            time,
            bid,
            ask,
            vwap,
        },
    )
}

fn bar() -> impl Strategy<Value = BarRow> {
    (symbol(), date(), [price(), price(), price(), price()], 0..=MAX_VOLUME).prop_map(
        |(symbol, date, mut prices, volume)| {
            prices.sort_unstable();
            let [low, open, close, high] = prices;
            let bar = Bar {
                date,
                open,
                high,
                low,
                close,
                volume,
            };
            BarRow { symbol, bar }
        },
    )
}

fn intraday_bar() -> impl Strategy<Value = IntradayRow> {
    (bar(), instant()).prop_map(|(row, time)| IntradayRow {
        symbol: row.symbol,
        bar: IntradayBar::of(&row.bar, time),
    })
}

fn fundamentals() -> impl Strategy<Value = FundamentalsRow> {
    let figure = || option::of(decimal());
    let figures = [figure(), figure(), figure(), figure(), figure(), figure()];
    (symbol(), date(), figures).prop_map(|(symbol, as_of, figures)| {
        let [eps_ttm, eps_forward, market_cap, dividend_yield, dividend_amount, beta] = figures;
        FundamentalsRow {
            symbol,
            as_of,
            eps_ttm,
            eps_forward,
            market_cap,
            dividend_yield,
            dividend_amount,
            beta,
        }
    })
}

fn earnings() -> impl Strategy<Value = EarningsRow> {
    let time = prop_oneof![
        Just(EarningsTime::BeforeOpen),
        Just(EarningsTime::AfterClose),
        Just(EarningsTime::Unknown)
    ];
    (symbol(), date(), time, option::of(decimal())).prop_map(|(symbol, date, time, eps_estimate)| EarningsRow {
        symbol,
        date,
        time,
        eps_estimate,
    })
}

fn dividend() -> impl Strategy<Value = DividendRow> {
    (symbol(), date(), option::of(date()), option::of(decimal())).prop_map(|(symbol, ex_date, payment_date, amount)| {
        DividendRow {
            symbol,
            ex_date,
            payment_date,
            amount,
        }
    })
}

fn split() -> impl Strategy<Value = SplitRow> {
    (symbol(), date(), ratio()).prop_map(|(symbol, date, ratio)| SplitRow { symbol, date, ratio })
}

fn withdrawn_filing() -> impl Strategy<Value = WithdrawnFiling> {
    (symbol(), ".{0,12}", option::of(date()), option::of(date()), date()).prop_map(
        |(symbol, insider, filed_on, traded_from, amended_on)| WithdrawnFiling {
            symbol,
            insider,
            filed_on,
            traded_from,
            amended_on,
        },
    )
}

fn insider_transaction() -> impl Strategy<Value = InsiderRow> {
    let side = prop_oneof![Just(TransactionSide::Buy), Just(TransactionSide::Sell)];
    let terms = (any::<char>(), side, decimal(), decimal());
    (symbol(), date(), option::of(date()), ".{0,12}", terms).prop_map(
        |(symbol, filed_on, traded_on, insider, (code, side, shares, price))| InsiderRow {
            symbol,
            filed_on,
            traded_on,
            insider,
            code,
            side,
            shares,
            price,
        },
    )
}

fn mention() -> impl Strategy<Value = MentionRow> {
    (symbol(), instant(), any::<u32>()).prop_map(|(symbol, time, mentions)| MentionRow { symbol, time, mentions })
}

fn batch() -> impl Strategy<Value = Batch> {
    let market = (
        vec(stock(), 0..3),
        vec(quote(), 0..3),
        vec(bar(), 0..3),
        vec(intraday_bar(), 0..3),
    );
    let dated = (
        vec(fundamentals(), 0..3),
        vec(earnings(), 0..3),
        vec(dividend(), 0..3),
        vec(split(), 0..3),
    );
    let others = (
        vec(withdrawn_filing(), 0..3),
        vec(insider_transaction(), 0..3),
        vec(mention(), 0..3),
    );
    (market, dated, others).prop_map(|(market, dated, others)| {
        let (stocks, quotes, bars, intraday_bars) = market;
        let (fundamentals, earnings, dividends, splits) = dated;
        let (withdrawn_filings, insider_transactions, mentions) = others;
        Batch {
            stocks,
            quotes,
            bars,
            intraday_bars,
            fundamentals,
            earnings,
            dividends,
            splits,
            withdrawn_filings,
            insider_transactions,
            mentions,
        }
    })
}

macro_rules! round_trips {
    ($($name:ident: $record:ident;)+) => {
        proptest! {
            $(
                #[test]
                fn $name(record in $record()) {
                    assert_round_trip(&record)?;
                }
            )+
        }
    };
}

round_trips! {
    stock_is_read_as_it_was_written: stock;
    quote_is_read_as_it_was_written: quote;
    bar_is_read_as_it_was_written: bar;
    intraday_bar_is_read_as_it_was_written: intraday_bar;
    fundamentals_are_read_as_they_were_written: fundamentals;
    earnings_are_read_as_they_were_written: earnings;
    dividend_is_read_as_it_was_written: dividend;
    split_is_read_as_it_was_written: split;
    withdrawn_filing_is_read_as_it_was_written: withdrawn_filing;
    insider_transaction_is_read_as_it_was_written: insider_transaction;
    mention_is_read_as_it_was_written: mention;
    batch_is_read_as_it_was_written: batch;
}
