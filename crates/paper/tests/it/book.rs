//! One open trade per active item in any order of steps, and profits that add up to the millionth.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod model;

use std::collections::BTreeMap;

use jiff::civil::date;
use jiff::{Timestamp, ToSpan};
use market::calendar::new_york;
use market::records::{DividendRow, SplitRow};
use market::{Calendar, Decimal, Price, SplitRatio, Symbol};
use paper::{CorporateActions, Direction, Fill, Position, PriceSnapshot, Trade, TradeChange, TradedItem};
use proptest::prelude::*;
use uuid::Uuid;

use crate::account::{Book, BookError};

fn symbol(text: &str) -> Symbol {
    text.parse().unwrap()
}

fn price(text: &str) -> Price {
    text.parse().unwrap()
}

fn noon(day: i8) -> Timestamp {
    new_york(date(2024, 3, day), 12, 0)
}

fn quote(day: i8, text: &str) -> PriceSnapshot {
    PriceSnapshot {
        at: noon(day),
        price: Some(price(text)),
    }
}

fn unpriced(day: i8) -> PriceSnapshot {
    PriceSnapshot {
        at: noon(day),
        price: None,
    }
}

fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

fn dollars(amount: Option<Decimal>) -> String {
    amount.unwrap().to_string()
}

#[test]
fn direction_change_closes_the_trade_and_opens_the_opposite() {
    let (mut item, added) = TradedItem::add(id(1), symbol("KO"), Direction::Long, quote(4, "50"), id(2));
    assert_eq!(added.opened.unwrap().quantity().to_string(), "20");
    let swapped = item.set_direction(Direction::Short, quote(5, "55"), id(3));
    assert_eq!(dollars(swapped.closed.unwrap().realised_profit()), "100");
    let opened = swapped.opened.unwrap();
    assert_eq!(
        (opened.direction, opened.entry_price()),
        (Direction::Short, price("55"))
    );
    let closed = item.deactivate(quote(6, "49.5")).closed.unwrap();
    assert_eq!(dollars(closed.realised_profit()), "100");
}

#[test]
fn setting_the_same_direction_does_nothing() {
    let (mut item, _) = TradedItem::add(id(1), symbol("KO"), Direction::Long, quote(4, "50"), id(2));
    let before = item;
    assert_eq!(
        item.set_direction(Direction::Long, quote(5, "55"), id(3)),
        TradeChange::default()
    );
    assert_eq!(item, before);
}

#[test]
fn inactive_item_only_stores_a_new_direction() {
    let (mut item, _) = TradedItem::add(id(1), symbol("KO"), Direction::Long, quote(4, "50"), id(2));
    let _ = item.deactivate(quote(5, "51"));
    assert_eq!(
        item.set_direction(Direction::Short, quote(6, "52"), id(3)),
        TradeChange::default()
    );
    let opened = item.activate(quote(7, "53"), id(4)).opened.unwrap();
    assert_eq!(opened.direction, Direction::Short);
}

#[test]
fn trade_without_a_price_opens_at_the_first_price() {
    let (mut item, added) = TradedItem::add(id(1), symbol("NEW"), Direction::Long, unpriced(4), id(2));
    assert_eq!(
        (added, item.position),
        (TradeChange::default(), Position::AwaitingPrice)
    );
    assert!(item.is_active());
    assert_eq!(item.open_at_first_price(unpriced(5), id(2)), TradeChange::default());
    // The direction changed before it opened: the trade that opens is the new one.
    assert_eq!(
        item.set_direction(Direction::Short, unpriced(5), id(3)),
        TradeChange::default()
    );
    let opened = item.open_at_first_price(quote(6, "12.5"), id(4)).opened.unwrap();
    assert_eq!((opened.direction, opened.entry.at), (Direction::Short, noon(6)));
    assert_eq!(item.open_at_first_price(quote(7, "13"), id(5)), TradeChange::default());

    let (mut never, _) = TradedItem::add(id(6), symbol("NEVER"), Direction::Long, unpriced(4), id(7));
    assert_eq!(never.deactivate(unpriced(5)), TradeChange::default());
    assert_eq!(never.position, Position::Inactive);
}

#[test]
fn trade_closed_without_a_price_ends_at_its_entry_price() {
    let (mut item, _) = TradedItem::add(id(1), symbol("KO"), Direction::Short, quote(4, "50"), id(2));
    let swapped = item.set_direction(Direction::Long, unpriced(5), id(3));
    assert_eq!(dollars(swapped.closed.unwrap().realised_profit()), "0");
    assert_eq!(swapped.opened.unwrap().entry.price, price("50"));
}

#[test]
fn closed_trade_cannot_be_closed_again() {
    let fill = Fill {
        at: noon(6),
        price: price("50"),
    };
    let mut trade = Trade::open(id(1), symbol("KO"), Direction::Long, fill);
    trade.close(noon(4), Some(price("60"))).unwrap();
    assert_eq!(trade.exit.unwrap().at, noon(6));
    let error = trade.close(noon(7), Some(price("70"))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the trade is already closed; activate its item again for a new one"
    );
    assert_eq!(dollars(trade.realised_profit()), "200");
}

#[test]
fn rejects_duplicate_stocks_and_unknown_items() {
    let mut book = Book::default();
    let _ = book
        .add(id(1), symbol("KO"), Direction::Long, quote(4, "50"), id(2))
        .unwrap();
    let again = book.add(id(3), symbol("KO"), Direction::Short, quote(4, "50"), id(4));
    assert_eq!(again, Err(BookError::AlreadyListed(symbol("KO"))));
    let taken = book.add(id(1), symbol("PEP"), Direction::Short, quote(4, "50"), id(4));
    assert_eq!(taken, Err(BookError::IdTaken));
    assert_eq!(book.deactivate(id(9), quote(5, "50")), Err(BookError::NoSuchItem));
    let _ = book.delete(id(1), quote(5, "51")).unwrap();
    assert_eq!(book.delete(id(1), quote(5, "51")), Err(BookError::NoSuchItem));
    assert_eq!(book.realised_profit().to_string(), "20");
    assert!(
        book.add(id(5), symbol("KO"), Direction::Long, quote(6, "50"), id(6))
            .is_ok()
    );
}

fn split(day: i8, ratio: &str) -> SplitRow {
    SplitRow {
        symbol: symbol("KO"),
        date: date(2024, 3, day),
        ratio: ratio.parse().unwrap(),
    }
}

fn dividend(day: i8, amount: &str) -> DividendRow {
    DividendRow {
        symbol: symbol("KO"),
        ex_date: date(2024, 3, day),
        payment_date: None,
        amount: Some(amount.parse().unwrap()),
    }
}

#[test]
fn dividends_and_splits_adjust_longs_and_shorts() {
    let actions = CorporateActions::new(
        &Calendar::nyse(),
        &[split(6, "4")],
        &[dividend(5, "2"), dividend(7, "0.5")],
    );
    for (direction, dividends, profit) in [(Direction::Long, "80", "280"), (Direction::Short, "-80", "-280")] {
        let fill = Fill {
            at: noon(4),
            price: price("50"),
        };
        let mut trade = Trade::open(id(1), symbol("KO"), direction, fill);
        trade.apply_actions(&actions, noon(8));
        assert_eq!(trade.quantity().to_string(), "80");
        assert_eq!(trade.entry_price(), price("12.5"));
        assert_eq!(trade.adjustments.dividends.to_string(), dividends);
        assert_eq!(trade.profit_at(price("15")).to_string(), profit);
    }
}

#[test]
fn order_and_repetition_of_applying_actions_do_not_matter() {
    let actions = CorporateActions::new(
        &Calendar::nyse(),
        &[split(6, "4"), split(8, "0.5")],
        &[dividend(5, "2"), dividend(6, "0.5"), dividend(8, "3")],
    );
    let fill = Fill {
        at: noon(4),
        price: price("37.41"),
    };
    let open = Trade::open(id(1), symbol("KO"), Direction::Short, fill);
    // Exit before the open of the last ex-date, after the split of that day.
    let left_at = new_york(date(2024, 3, 8), 8, 0);

    let mut late = open;
    late.close(left_at, Some(price("20"))).unwrap();
    late.apply_actions(&actions, noon(15));
    let mut daily = open;
    for day in 4..=8 {
        daily.apply_actions(&actions, new_york(date(2024, 3, day), 8, 0));
        daily.apply_actions(&actions, new_york(date(2024, 3, day), 8, 0));
    }
    daily.close(left_at, Some(price("20"))).unwrap();
    daily.apply_actions(&actions, noon(15));
    assert_eq!(daily, late);
    assert_eq!(daily.quantity().to_string(), "53.461641");
    // 26.73… × 2 on the 5th, 106.92… × 0.5 on the 6th; 53.46… shares bought back at 20 cost 69.232825 more than 1,000.
    assert_eq!(daily.adjustments.dividends.to_string(), "-106.923282");
    assert_eq!(dollars(daily.realised_profit()), "-176.156107");

    let mut anew = Trade {
        adjustments: open.adjustments,
        ..daily
    };
    assert_eq!(anew.quantity(), open.quantity());
    anew.apply_actions(&actions, noon(15));
    assert_eq!(anew, daily);
}
