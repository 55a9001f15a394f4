//! Random steps of an account, compared with a naive model.

use super::*;

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
