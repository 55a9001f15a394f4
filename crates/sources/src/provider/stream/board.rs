//! The newest of each symbol, and how low and how high it was before.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use jiff::Timestamp;
use market::records::QuoteRow;
use market::{Price, Symbol};

use super::Tick;
use crate::provider::symbols::Style;

/// One place for each symbol that is wanted.
#[derive(Debug, Default)]
pub(super) struct Board {
    places: HashMap<Symbol, Place>,
    /// The symbols with a price that nobody has taken yet.
    fresh: Vec<Symbol>,
    /// The other names under which a symbol is wanted.
    aliases: BTreeMap<Symbol, Vec<Symbol>>,
    /// Trades that nobody was told of: between the lowest and the highest price, and not the last.
    pub(super) conflated: u64,
}

/// A price, and when it was made.
type Made = (Price, Timestamp);

#[derive(Debug, Default)]
struct Place {
    last: Option<Made>,
    /// The trades since somebody took them.
    since: Option<Since>,
    bid: Option<Price>,
    ask: Option<Price>,
    volume: Option<i64>,
    is_fresh: bool,
    subscription: Subscription,
}

/// The state of a symbol's subscription on the present connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Subscription {
    /// It was requested.
    #[default]
    Requested,
    /// A trade has come in.
    Confirmed,
    /// The provider has refused symbols, and this one may be among them.
    Refused,
}

/// The trades that nobody has taken yet. An alert that one of them crosses is crossed by the lowest or the highest.
#[derive(Debug, Clone, Copy)]
struct Since {
    low: Made,
    high: Made,
    trades: u64,
}

impl Since {
    const fn of(made: Made) -> Self {
        Self {
            low: made,
            high: made,
            trades: 1,
        }
    }

    fn add(&mut self, made: Made) {
        if made.0 < self.low.0 {
            self.low = made;
        }
        if made.0 > self.high.0 {
            self.high = made;
        }
        self.trades += 1;
    }

    /// What is told besides the last trade, in the order in which it was made.
    fn before(&self, last: Made) -> impl Iterator<Item = Made> + use<> {
        let mut both = [self.low, self.high];
        both.sort_by_key(|(_, time)| *time);
        // They are one where there was one price.
        let count = if self.low.0 == self.high.0 { 1 } else { 2 };
        both.into_iter().take(count).filter(move |(price, _)| *price != last.0)
    }
}

impl Place {
    /// A trade. One that was made before the last is told, and does not become the last.
    fn trade(&mut self, made: Made) {
        if self.last.is_none_or(|(_, last)| last <= made.1) {
            self.last = Some(made);
        }
        match &mut self.since {
            Some(since) => since.add(made),
            None => self.since = Some(Since::of(made)),
        }
    }
}

impl Board {
    /// Makes places for the symbols that are wanted, and clears those of the others.
    pub(super) fn want(&mut self, wanted: &BTreeSet<Symbol>) {
        self.aliases.clear();
        for &symbol in wanted {
            self.aliases.entry(canonical(symbol)).or_default().push(symbol);
        }
        let aliases = &self.aliases;
        self.places.retain(|symbol, _| aliases.contains_key(symbol));
        self.fresh.retain(|symbol| aliases.contains_key(symbol));
        for &symbol in aliases.keys() {
            self.places.entry(symbol).or_default();
        }
    }

    /// Takes what was said about a stock; who is not wanted is passed over. True if it is news.
    pub(super) fn put(&mut self, tick: Tick) -> bool {
        let (Tick::Trade { symbol, .. } | Tick::Book { symbol, .. } | Tick::Volume { symbol, .. }) = tick;
        let Some(place) = self.places.get_mut(&symbol) else {
            return false;
        };
        match tick {
            Tick::Trade { price, time, .. } => {
                place.subscription = Subscription::Confirmed;
                place.trade((price, time));
            }
            Tick::Book { bid, ask, .. } => {
                (place.bid, place.ask) = (bid, ask);
                return false;
            }
            Tick::Volume { volume, .. } => {
                place.volume = Some(volume);
                if place.last.is_none() {
                    return false;
                }
            }
        }
        if !place.is_fresh {
            place.is_fresh = true;
            self.fresh.push(symbol);
        }
        true
    }

    /// The symbols with something new, in the order in which that began, under the names they are wanted by: of each the lowest
    /// and the highest price since it was taken, and the last.
    pub(super) fn take(&mut self) -> Vec<QuoteRow> {
        let mut rows = Vec::with_capacity(self.fresh.len());
        for canonical in self.fresh.drain(..) {
            let Some(place) = self.places.get_mut(&canonical) else {
                continue;
            };
            place.is_fresh = false;
            let names = self.aliases.get(&canonical).map_or(&[] as &[_], Vec::as_slice);
            let Some(last) = place.last else { continue };
            let since = place.since.take();
            let before = since.into_iter().flat_map(|since| since.before(last));
            let mut told = 0;
            for (price, time) in before.chain([last]) {
                told += 1;
                rows.extend(names.iter().map(|&symbol| QuoteRow {
                    symbol,
                    price,
                    volume: place.volume,
                    time: Some(time),
                    bid: place.bid,
                    ask: place.ask,
                }));
            }
            self.conflated += since.map_or(0, |since| since.trades.saturating_sub(told));
        }
        rows
    }

    /// Forgets what belongs to an earlier connection: bids, asks and volumes are another time's, and symbols are subscribed anew.
    pub(super) fn begin_connection(&mut self) {
        for place in self.places.values_mut() {
            (place.bid, place.ask, place.volume) = (None, None, None);
            place.subscription = Subscription::Requested;
        }
    }

    /// Marks the symbols without a trade as refused: the provider has refused symbols without naming them.
    pub(super) fn refuse_unconfirmed(&mut self) {
        for place in self.places.values_mut() {
            if place.subscription == Subscription::Requested {
                place.subscription = Subscription::Refused;
            }
        }
    }

    /// The symbols that may be refused, under their canonical names.
    pub(super) fn refused(&self) -> impl Iterator<Item = Symbol> {
        let refused =
            |(&symbol, place): (&Symbol, &Place)| (place.subscription == Subscription::Refused).then_some(symbol);
        self.places.iter().filter_map(refused)
    }

    /// The symbols that may be refused, under the names they are wanted by.
    pub(super) fn refused_names(&self) -> impl Iterator<Item = Symbol> {
        let names = |symbol| self.aliases.get(&symbol).map_or(&[] as &[_], Vec::as_slice);
        self.refused().flat_map(names).copied()
    }
}

/// The form in which streams name a symbol.
pub(crate) fn canonical(symbol: Symbol) -> Symbol {
    Style::Dash.read(symbol.as_str()).unwrap_or(symbol)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(text: &str) -> Symbol {
        text.parse().unwrap()
    }

    fn trade(text: &str, price: &str, second: i64) -> Tick {
        Tick::Trade {
            symbol: symbol(text),
            price: price.parse().unwrap(),
            time: Timestamp::from_second(second).unwrap(),
        }
    }

    fn board(wanted: &[&str]) -> Board {
        let mut board = Board::default();
        board.want(&wanted.iter().map(|text| symbol(text)).collect());
        board
    }

    fn taken(board: &mut Board) -> Vec<String> {
        board
            .take()
            .iter()
            .map(|row| format!("{} {}", row.symbol, row.price))
            .collect()
    }

    #[test]
    fn the_lowest_the_highest_and_the_newest_price_of_each_symbol_are_taken_once_and_others_are_counted() {
        let mut board = board(&["A", "B", "C"]);
        for tick in [
            trade("A", "2", 1),
            trade("B", "5", 2),
            trade("A", "4", 3),
            trade("A", "1", 4),
            trade("A", "2", 5),
            trade("A", "3", 6),
            trade("C", "7", 7),
            trade("C", "7", 8),
        ] {
            board.put(tick);
        }
        assert_eq!(taken(&mut board), ["A 4", "A 1", "A 3", "B 5", "C 7"]);
        assert_eq!(board.conflated, 3);
        assert!(board.take().is_empty());
        board.put(trade("A", "2", 9));
        assert_eq!(taken(&mut board), ["A 2"], "what was taken is not told again");
    }

    #[test]
    fn a_trade_that_is_told_late_does_not_become_the_newest() {
        let mut board = board(&["A"]);
        board.put(trade("A", "2", 5));
        board.put(trade("A", "9", 4));
        assert_eq!(taken(&mut board), ["A 9", "A 2"]);
    }

    #[test]
    fn who_is_not_wanted_has_no_place() {
        let mut board = board(&["A", "B"]);
        assert!(!board.put(trade("C", "1", 1)));
        board.put(trade("B", "1", 1));
        board.want(&[symbol("A")].into());
        assert!(board.take().is_empty() && board.places.len() == 1);
    }

    #[test]
    fn a_class_comes_under_each_name_it_is_wanted_by() {
        let mut board = board(&["BRK-B", "BRK.B"]);
        board.put(trade("BRK.B", "400", 1));
        assert_eq!(taken(&mut board), ["BRK-B 400", "BRK.B 400"]);
    }

    #[test]
    fn symbols_without_a_trade_may_be_refused_until_one_comes() {
        let mut board = board(&["A", "BRK-B", "BRK.B"]);
        let refused = |board: &Board| board.refused_names().collect::<BTreeSet<Symbol>>();
        board.put(trade("A", "1", 1));
        assert_eq!(refused(&board), BTreeSet::new());
        board.refuse_unconfirmed();
        assert_eq!(refused(&board), [symbol("BRK-B"), symbol("BRK.B")].into());
        board.put(trade("BRK.B", "400", 1));
        assert_eq!(refused(&board), BTreeSet::new());
        board.begin_connection();
        board.refuse_unconfirmed();
        assert_eq!(refused(&board).len(), 3, "a new connection has confirmed nothing");
    }

    #[test]
    fn bids_and_volumes_come_with_the_price_they_belong_to() {
        let mut board = board(&["A"]);
        let volume = |volume| Tick::Volume {
            symbol: symbol("A"),
            volume,
        };
        assert!(!board.put(volume(5)), "without a price there is nothing to tell");
        board.put(Tick::Book {
            symbol: symbol("A"),
            bid: "9".parse().ok(),
            ask: "11".parse().ok(),
        });
        board.put(trade("A", "10", 1));
        let row = board.take()[0];
        assert_eq!(
            (row.volume, row.bid.map(|bid| bid.to_string())),
            (Some(5), Some("9".into()))
        );
        assert!(board.put(volume(6)), "more volume is news: alerts watch it");
        assert_eq!(board.take()[0].volume, Some(6));
    }
}
