//! Market data.

use jiff::civil::{Date, date};
use market::records::{
    BarRow, Batch, DividendRow, EarningsRow, EarningsTime, FundamentalsRow, InsiderRow, IntradayRow, MentionRow,
    SplitRow, StockRow, TransactionSide, WithdrawnFiling,
};
use market::{Bar, Decimal, IntradayBar};
use store::Store;
use store::model::StockFacts;
use testkit::on_both_databases;

use crate::support::{at, open, price, symbol};

pub(crate) async fn record(store: &Store, batch: Batch) {
    let recorded = store.commit(batch, |batch, unit| Box::pin(unit.record_market(batch)));
    recorded.await.unwrap();
}

fn bar(date: Date, close: &str) -> Bar {
    Bar {
        date,
        open: price("100"),
        high: price("400"),
        low: price("1"),
        close: price(close),
        volume: 1_000,
    }
}

fn bar_of(name: &str, day: i8, close: &str) -> BarRow {
    BarRow {
        symbol: symbol(name),
        bar: bar(date(2024, 7, day), close),
    }
}

fn decimal(micros: i64) -> Option<Decimal> {
    Some(Decimal::from_micros(micros))
}

fn insider(name: &str, day: i8, shares: i64) -> InsiderRow {
    InsiderRow {
        symbol: symbol("AAPL"),
        filed_on: date(2024, 7, day),
        traded_on: None,
        insider: name.to_owned(),
        code: 'P',
        side: TransactionSide::Buy,
        shares: Decimal::from_micros(shares),
        price: Decimal::from_micros(1_500_000),
    }
}

fn fundamentals(day: i8, eps: i64) -> FundamentalsRow {
    FundamentalsRow {
        symbol: symbol("AAPL"),
        as_of: date(2024, 7, day),
        eps_ttm: decimal(eps),
        eps_forward: None,
        market_cap: decimal(3_000_000_000_000_000_000),
        dividend_yield: None,
        dividend_amount: decimal(-1),
        beta: decimal(1_200_000),
    }
}

on_both_databases! {
    async fn stock_with_symbol_only_takes_over_name(database) {
        let store = open(database).await;
        record(&store, Batch { bars: vec![bar_of("AAPL", 1, "200")], ..Batch::default() }).await;
        assert_eq!(store.stock(symbol("AAPL")).await.unwrap(), Some(StockRow::named(symbol("AAPL"), "AAPL")));

        let apple = StockRow { sector: Some("Technology".to_owned()), ..StockRow::named(symbol("AAPL"), "Apple Inc.") };
        record(&store, Batch { stocks: vec![apple.clone()], ..Batch::default() }).await;
        assert_eq!(store.stock(symbol("AAPL")).await.unwrap(), Some(apple.clone()));

        let silent = StockRow { is_active: false, ..StockRow::named(symbol("AAPL"), "AAPL") };
        record(&store, Batch { stocks: vec![silent], bars: vec![bar_of("MSFT", 1, "9")], ..Batch::default() }).await;
        let expected = [StockRow { is_active: false, ..apple }, StockRow::named(symbol("MSFT"), "MSFT")];
        assert_eq!(store.stocks().await.unwrap(), expected);
    }

    async fn nul_character_is_replaced(database) {
        let store = open(database).await;
        record(&store, Batch { stocks: vec![StockRow::named(symbol("NUL"), "a\0b")], ..Batch::default() }).await;
        assert_eq!(store.stock(symbol("NUL")).await.unwrap().unwrap().name, "a\u{FFFD}b");
    }

    async fn last_of_two_bars_of_a_day_wins(database) {
        let store = open(database).await;
        let bars = vec![bar_of("MSFT", 2, "7"), bar_of("AAPL", 2, "1"), bar_of("AAPL", 1, "2"), bar_of("AAPL", 2, "3")];
        record(&store, Batch { bars, ..Batch::default() }).await;
        record(&store, Batch { bars: vec![bar_of("AAPL", 1, "4")], ..Batch::default() }).await;
        let all = store.bars(symbol("AAPL"), date(2000, 1, 1)).await.unwrap();
        assert_eq!(all, [bar_of("AAPL", 1, "4").bar, bar_of("AAPL", 2, "3").bar]);
        let from_second = store.bars(symbol("AAPL"), date(2024, 7, 2)).await.unwrap();
        assert_eq!(from_second, [bar_of("AAPL", 2, "3").bar]);
        let mut read = Vec::new();
        store.all_bars(date(2024, 7, 2), &mut |piece| read.extend(piece)).await.unwrap();
        assert_eq!(read, [bar_of("AAPL", 2, "3"), bar_of("MSFT", 2, "7")]);
    }

    async fn intraday_bars_are_read_back_and_deleted_with_time(database) {
        let store = open(database).await;
        let intraday = |name: &str, time: i64, close: &str| IntradayRow {
            symbol: symbol(name),
            bar: IntradayBar::of(&bar(date(2024, 7, 1), close), at(time)),
        };
        let (early, late, later) = (60, 120, 180);
        let intraday_bars = vec![intraday("AAPL", late, "2"), intraday("AAPL", early, "1"), intraday("MSFT", early, "9")];
        record(&store, Batch { intraday_bars, ..Batch::default() }).await;
        record(&store, Batch { intraday_bars: vec![intraday("AAPL", late, "3")], ..Batch::default() }).await;
        let of = async |until: i64| store.intraday_bars(symbol("AAPL"), at(early), at(until)).await.unwrap();
        assert_eq!(of(later).await, [intraday("AAPL", early, "1").bar, intraday("AAPL", late, "3").bar]);
        assert_eq!(of(late).await, [intraday("AAPL", early, "1").bar]);
        assert_eq!(store.purge_intraday_bars(at(late), 1).await.unwrap(), 1);
        assert_eq!(store.purge_intraday_bars(at(late), 9).await.unwrap(), 1);
        assert_eq!(of(later).await, [intraday("AAPL", late, "3").bar]);
    }

    async fn observed_bar_does_not_replace_delivered_bar(database) {
        let store = open(database).await;
        record(&store, Batch { bars: vec![bar_of("AAPL", 1, "200")], ..Batch::default() }).await;
        let observed = [bar_of("AAPL", 1, "199"), bar_of("AAPL", 2, "3"), bar_of("MSFT", 1, "9")];
        store.commit(observed, |observed, unit| Box::pin(unit.record_observed_bars(observed))).await.unwrap();
        let of = async |name| store.bars(symbol(name), date(2000, 1, 1)).await.unwrap();
        assert_eq!(of("AAPL").await, [bar_of("AAPL", 1, "200").bar, bar_of("AAPL", 2, "3").bar]);
        assert_eq!(of("MSFT").await, [bar_of("MSFT", 1, "9").bar]);
    }

    async fn observed_bar_is_replaced_by_fuller_and_by_delivered_bar(database) {
        let store = open(database).await;
        let replace = async |close: &str| {
            let observed = [bar_of("AAPL", 1, close)];
            store.commit(observed, |observed, unit| Box::pin(unit.replace_observed_bars(observed))).await.unwrap();
            store.bars(symbol("AAPL"), date(2000, 1, 1)).await.unwrap()
        };
        assert_eq!(replace("1").await, [bar_of("AAPL", 1, "1").bar]);
        assert_eq!(replace("2").await, [bar_of("AAPL", 1, "2").bar]);
        record(&store, Batch { bars: vec![bar_of("AAPL", 1, "3")], ..Batch::default() }).await;
        assert_eq!(replace("4").await, [bar_of("AAPL", 1, "3").bar]);
    }

    async fn years_of_bars_are_read_back(database) {
        let store = open(database).await;
        let first = date(1969, 12, 1);
        let bars: Vec<_> = first.series(jiff::Span::new().days(1)).take(5_000)
            .map(|date| BarRow { symbol: symbol("AAPL"), bar: bar(date, "5") }).collect();
        record(&store, Batch { bars: bars.clone(), ..Batch::default() }).await;
        let mut read = Vec::new();
        store.all_bars(first, &mut |piece| read.extend(piece)).await.unwrap();
        assert!(read == bars, "{} were read", read.len());
    }

    async fn facts_contain_latest_figures_and_all_dates(database) {
        let store = open(database).await;
        let earnings = |day, time, eps_estimate| EarningsRow { symbol: symbol("AAPL"), date: date(2024, 8, day), time, eps_estimate };
        let dividend = |day, payment_date, amount| DividendRow {
            symbol: symbol("MSFT"), ex_date: date(2024, 8, day), payment_date, amount
        };
        record(&store, Batch {
            fundamentals: vec![fundamentals(2, 6), fundamentals(1, 5)],
            earnings: vec![earnings(9, EarningsTime::AfterClose, None), earnings(1, EarningsTime::Unknown, decimal(-5))],
            dividends: vec![dividend(5, None, None)],
            ..Batch::default()
        }).await;
        record(&store, Batch {
            fundamentals: vec![fundamentals(2, 7)],
            earnings: vec![earnings(9, EarningsTime::BeforeOpen, decimal(1))],
            dividends: vec![dividend(5, Some(date(2024, 8, 20)), decimal(250_000)), dividend(1, None, None)],
            ..Batch::default()
        }).await;
        let expected = [
            (symbol("AAPL"), StockFacts {
                fundamentals: Some(fundamentals(2, 7)),
                earnings: vec![earnings(1, EarningsTime::Unknown, decimal(-5)), earnings(9, EarningsTime::BeforeOpen, decimal(1))],
                dividends: vec![],
            }),
            (symbol("MSFT"), StockFacts {
                fundamentals: None,
                earnings: vec![],
                dividends: vec![dividend(1, None, None), dividend(5, Some(date(2024, 8, 20)), decimal(250_000))],
            }),
        ];
        assert_eq!(store.stock_facts(date(2024, 7, 2)).await.unwrap(), expected);
        // Figures of a later day do not count yet.
        let earlier = store.stock_facts(date(2024, 7, 1)).await.unwrap().remove(0).1.fundamentals;
        assert!(earlier.is_none_or(|row| row.as_of < date(2024, 7, 2)));
    }

    async fn repeated_batch_does_not_duplicate_trades(database) {
        let store = open(database).await;
        // Two identical trades of one filing count as two.
        let sold = InsiderRow { traded_on: Some(date(2024, 6, 30)), code: 'S', side: TransactionSide::Sell, ..insider("Bob", 1, 5) };
        let trades = vec![insider("Ann", 2, 10), insider("Ann", 2, 10), sold.clone()];
        for _ in 0..2 {
            record(&store, Batch { insider_transactions: trades.clone(), ..Batch::default() }).await;
        }
        let all = store.insider_trades(date(2024, 1, 1)).await.unwrap();
        assert_eq!(all, [sold, insider("Ann", 2, 10), insider("Ann", 2, 10)]);
        assert_eq!(store.insider_trades(date(2024, 7, 2)).await.unwrap().len(), 2);
    }

    async fn withdrawn_filing_is_replaced_by_its_amendment(database) {
        let store = open(database).await;
        let filed = vec![insider("Ann", 1, 10), insider("Ann", 2, 20), insider("Bob", 1, 30)];
        record(&store, Batch { insider_transactions: filed, ..Batch::default() }).await;
        let withdrawn = WithdrawnFiling {
            symbol: symbol("AAPL"),
            insider: "Ann".to_owned(),
            filed_on: Some(date(2024, 7, 1)),
            traded_from: None,
            amended_on: date(2024, 7, 3),
        };
        for _ in 0..2 {
            let amendment = vec![insider("Ann", 3, 11)];
            let withdrawn_filings = vec![withdrawn.clone()];
            record(&store, Batch { withdrawn_filings, insider_transactions: amendment, ..Batch::default() }).await;
            let all = store.insider_trades(date(2024, 1, 1)).await.unwrap();
            assert_eq!(all, [insider("Bob", 1, 30), insider("Ann", 2, 20), insider("Ann", 3, 11)]);
        }
    }

    async fn later_mention_count_replaces_earlier(database) {
        let store = open(database).await;
        let count = |name: &str, seconds, mentions| MentionRow { symbol: symbol(name), time: at(seconds), mentions };
        record(&store, Batch { mentions: vec![count("AAPL", 3_600, 1), count("AAPL", 0, 2)], ..Batch::default() }).await;
        record(&store, Batch { mentions: vec![count("AAPL", 3_600, u32::MAX), count("MSFT", 3_600, 4)], ..Batch::default() }).await;
        let all = store.mentions(at(1)).await.unwrap();
        assert_eq!(all, [count("AAPL", 3_600, u32::MAX), count("MSFT", 3_600, 4)]);
    }

    async fn split_can_be_corrected_until_applied_once(database) {
        let store = open(database).await;
        let split = |name: &str, day, ratio: &str| SplitRow {
            symbol: symbol(name), date: date(2024, 7, day), ratio: ratio.parse().unwrap(),
        };
        let recorded = store.commit((), move |(), unit| Box::pin(async move {
            let unknown = unit.mark_split_applied(&split("AAPL", 2, "8")).await?;
            let first = unit.record_split(&split("AAPL", 2, "8")).await?;
            let corrected = unit.record_split(&split("AAPL", 2, "0.125")).await?;
            unit.record_split(&split("MSFT", 1, "2")).await?;
            let applied = unit.mark_split_applied(&split("AAPL", 2, "0.125")).await?;
            let twice = unit.mark_split_applied(&split("AAPL", 2, "0.125")).await?;
            let too_late = unit.record_split(&split("AAPL", 2, "3")).await?;
            Ok([unknown, first, corrected, applied, twice, too_late])
        }));
        assert_eq!(recorded.await.unwrap(), [false, true, true, true, false, false]);
        let expected = [(split("MSFT", 1, "2"), false), (split("AAPL", 2, "0.125"), true)];
        assert_eq!(store.splits().await.unwrap(), expected);
    }

    async fn splits_of_a_stock_are_sorted_by_date(database) {
        let store = open(database).await;
        let split = |name: &str, day, ratio: &str| SplitRow {
            symbol: symbol(name), date: date(2024, 7, day), ratio: ratio.parse().unwrap(),
        };
        store.commit((), move |(), unit| Box::pin(async move {
            for row in [split("AAPL", 9, "0.125"), split("MSFT", 1, "2"), split("AAPL", 2, "8")] {
                unit.record_split(&row).await?;
            }
            unit.mark_split_applied(&split("AAPL", 2, "8")).await?;
            Ok(())
        })).await.unwrap();
        let of = async |name: &str| store.splits_of(symbol(name)).await.unwrap();
        assert_eq!(of("AAPL").await, [split("AAPL", 2, "8"), split("AAPL", 9, "0.125")]);
        assert_eq!(of("MSFT").await, [split("MSFT", 1, "2")]);
        assert_eq!(of("NONE").await, []);
    }

    async fn bar_at_date_is_last_before_or_else_first(database) {
        let store = open(database).await;
        let bars = vec![bar_of("AAPL", 2, "5"), bar_of("AAPL", 4, "6"), bar_of("MSFT", 3, "7")];
        record(&store, Batch { bars, ..Batch::default() }).await;
        let at = async |name: &str, day| store.bar_at(symbol(name), date(2024, 7, day)).await.unwrap();
        for (day, found) in [(1, (2, "5")), (2, (2, "5")), (3, (2, "5")), (4, (4, "6")), (31, (4, "6"))] {
            assert_eq!(at("AAPL", day).await, Some(bar_of("AAPL", found.0, found.1).bar), "{day}");
        }
        assert_eq!(at("NONE", 3).await, None);
    }
}
