//! One open trade per active item in any order of steps, and profits that add up to the millionth.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

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

#[derive(Debug, Clone, Copy)]
enum Step {
    Add(usize, bool),
    Turn(usize, bool),
    Deactivate(usize),
    Activate(usize),
    Delete(usize),
    FirstPrice(usize),
    Settle,
}

const STOCKS: [&str; 4] = ["A", "BRK.A", "C", "NEW"];

fn steps() -> impl Strategy<Value = Vec<(Step, i64, u8)>> {
    let stock = 0..STOCKS.len();
    let step = prop_oneof![
        (stock.clone(), any::<bool>()).prop_map(|(stock, long)| Step::Add(stock, long)),
        (stock.clone(), any::<bool>()).prop_map(|(stock, long)| Step::Turn(stock, long)),
        stock.clone().prop_map(Step::Deactivate),
        stock.clone().prop_map(Step::Activate),
        stock.clone().prop_map(Step::Delete),
        stock.prop_map(Step::FirstPrice),
        Just(Step::Settle),
    ];
    // A step, the price in millionths, the hours that pass before it.
    prop::collection::vec((step, 1_000..800_000_000_000_i64, 0..40_u8), 1..60)
}

fn direction(long: bool) -> Direction {
    if long { Direction::Long } else { Direction::Short }
}

/// The expected state of an item: its direction, and the id of its open trade, if there is one.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Model {
    Inactive(Direction),
    Awaited(Direction),
    Open(Direction, Uuid),
}

impl Model {
    fn direction(self) -> Direction {
        match self {
            Self::Inactive(direction) | Self::Awaited(direction) | Self::Open(direction, _) => direction,
        }
    }
}

/// Computes a trade's profit independently in integers: shares as the product of one fraction per action.
fn profit(trade: &Trade, splits: &[SplitRow], dividends: &[DividendRow]) -> i64 {
    let exit = trade.exit.unwrap();
    let (entered, left) = (trade.entry.at, exit.at);
    let held = |moment: Timestamp| entered < moment && moment <= left;
    let mut facts: Vec<(Timestamp, i64, bool)> = Vec::new();
    for row in splits.iter().filter(|row| row.symbol == trade.symbol) {
        facts.push((new_york(row.date, 0, 0), row.ratio.micros(), true));
    }
    for row in dividends.iter().filter(|row| row.symbol == trade.symbol) {
        facts.push((new_york(row.ex_date, 9, 30), row.amount.unwrap().micros(), false));
    }
    facts.sort_unstable();
    let (mut above, mut below) = (1_000_000_000_i128, i128::from(trade.entry.price.micros()));
    let nearest = |above: i128, below: i128| (2 * above + below).div_euclid(2 * below);
    let mut cash = 0;
    for (_, micros, _) in facts.iter().filter(|fact| fact.2 && held(fact.0)) {
        // Dividends before this split are counted below, in the shares of their day.
        (above, below) = (above * i128::from(*micros), below * 1_000_000);
    }
    let end = nearest(above * i128::from(exit.price.micros()), below);
    for (ex, amount, _) in facts.iter().filter(|fact| !fact.2 && held(fact.0)) {
        let (mut above, mut below) = (1_000_000_000_i128, i128::from(trade.entry.price.micros()));
        for (_, micros, _) in facts.iter().filter(|fact| fact.2 && held(fact.0) && fact.0 < *ex) {
            (above, below) = (above * i128::from(*micros), below * 1_000_000);
        }
        cash += nearest(above * i128::from(*amount), below);
    }
    let gain = i64::try_from(end - 1_000_000_000 + cash).unwrap();
    if trade.direction == Direction::Long {
        gain
    } else {
        -gain
    }
}

fn facts() -> (Vec<SplitRow>, Vec<DividendRow>) {
    let split = |stock: &str, day, ratio: &str| SplitRow {
        symbol: symbol(stock),
        date: date(2024, 3, day),
        ratio: ratio.parse::<SplitRatio>().unwrap(),
    };
    let dividend = |stock: &str, day, amount: &str| DividendRow {
        symbol: symbol(stock),
        ex_date: date(2024, 3, day),
        payment_date: None,
        amount: Some(amount.parse().unwrap()),
    };
    let splits = vec![split("A", 6, "4"), split("A", 20, "0.125"), split("C", 12, "1.253")];
    let dividends = vec![
        dividend("A", 5, "0.123457"),
        dividend("A", 6, "0.01"),
        dividend("A", 21, "1.5"),
        dividend("C", 12, "0.333333"),
        dividend("BRK.A", 14, "7"),
    ];
    (splits, dividends)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_order_of_steps_keeps_one_open_trade_per_active_item(
        steps in steps(),
    ) {
        let (splits, dividends) = facts();
        let actions = CorporateActions::new(&Calendar::nyse(), &splits, &dividends);
        let mut book = Book::default();
        let mut model: BTreeMap<usize, Model> = BTreeMap::new();
        let mut priced = [true, true, true, false];
        let mut now = new_york(date(2024, 3, 1), 12, 0);
        let (mut opened, mut closed) = (0, 0);
        for (number, (step, micros, hours)) in steps.iter().enumerate() {
            now += i64::from(*hours).hours();
            let trade_id = id(1_000 + number as u128);
            let item_id = |stock: usize| id(stock as u128);
            let at = |stock: usize, priced: &[bool]| PriceSnapshot {
                at: now,
                price: priced[stock].then(|| Price::from_micros(*micros).unwrap()),
            };
            let start = |priced: bool, way| if priced { Model::Open(way, trade_id) } else { Model::Awaited(way) };
            let (stock, change) = match *step {
                Step::Settle => {
                    book.apply_actions(&actions, now);
                    (0, Ok(TradeChange::default()))
                }
                Step::Add(stock, long) => {
                    let change =
                        book.add(item_id(stock), symbol(STOCKS[stock]), direction(long), at(stock, &priced), trade_id);
                    model.entry(stock).or_insert(start(priced[stock], direction(long)));
                    (stock, change)
                }
                Step::Turn(stock, long) => {
                    if let Some(item) = model.get_mut(&stock).filter(|item| item.direction() != direction(long)) {
                        *item = match item {
                            Model::Inactive(_) => Model::Inactive(direction(long)),
                            Model::Awaited(_) | Model::Open(..) => start(priced[stock], direction(long)),
                        };
                    }
                    (stock, book.set_direction(item_id(stock), direction(long), at(stock, &priced), trade_id))
                }
                Step::Deactivate(stock) => {
                    if let Some(item) = model.get_mut(&stock) {
                        *item = Model::Inactive(item.direction());
                    }
                    (stock, book.deactivate(item_id(stock), at(stock, &priced)))
                }
                Step::Activate(stock) => {
                    if let Some(item @ Model::Inactive(_)) = model.get_mut(&stock) {
                        *item = start(priced[stock], item.direction());
                    }
                    (stock, book.activate(item_id(stock), at(stock, &priced), trade_id))
                }
                Step::Delete(stock) => {
                    model.remove(&stock);
                    (stock, book.delete(item_id(stock), at(stock, &priced)))
                }
                Step::FirstPrice(stock) => {
                    priced[stock] = true;
                    if let Some(item @ Model::Awaited(_)) = model.get_mut(&stock) {
                        *item = Model::Open(item.direction(), trade_id);
                    }
                    (stock, Ok(book.open_at_first_price(symbol(STOCKS[stock]), at(stock, &priced), trade_id)))
                }
            };
            if let Ok(change) = change {
                opened += usize::from(change.opened.is_some());
                closed += usize::from(change.closed.is_some());
                for trade in change.closed.iter().chain(&change.opened) {
                    prop_assert_eq!(trade.symbol, symbol(STOCKS[stock]));
                }
            }
            // Every item is in the expected state, with one open trade if it is active and priced.
            let stands: BTreeMap<usize, Model> = book.items().map(|item| {
                let stock = STOCKS.iter().position(|name| *name == item.symbol.as_str()).unwrap();
                let stands = match item.position {
                    Position::Inactive => Model::Inactive(item.direction),
                    Position::AwaitingPrice => Model::Awaited(item.direction),
                    Position::Open(trade) => {
                        assert_eq!((trade.direction, trade.is_open()), (item.direction, true));
                        Model::Open(trade.direction, trade.id)
                    }
                };
                (stock, stands)
            }).collect();
            prop_assert_eq!(&stands, &model);
            let open: Vec<&Trade> = book.trades().filter(|trade| trade.is_open()).collect();
            prop_assert_eq!(open.len(), model.values().filter(|item| matches!(item, Model::Open(..))).count());
            prop_assert_eq!(open.len(), opened - closed);
            prop_assert_eq!(book.trades().count(), opened);
        }
        // However often actions were applied in between, the profit equals the sum computed independently.
        book.apply_actions(&actions, now + 24.hours());
        let ended: Vec<&Trade> = book.trades().filter(|trade| !trade.is_open()).collect();
        prop_assert_eq!(ended.len(), closed);
        let mut sum = 0;
        for trade in ended {
            let expected = profit(trade, &splits, &dividends);
            prop_assert_eq!(trade.realised_profit().unwrap().micros(), expected, "{:?}", trade);
            prop_assert_eq!(trade.notional.to_string(), "1000");
            sum += expected;
        }
        prop_assert_eq!(book.realised_profit().micros(), sum);
    }
}
