//! The newest of each symbol.

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
    /// Prices that were replaced before anybody took them.
    pub(super) conflated: u64,
}

#[derive(Debug, Default)]
struct Place {
    last: Option<(Price, Timestamp)>,
    bid: Option<Price>,
    ask: Option<Price>,
    volume: Option<i64>,
    is_fresh: bool,
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
                self.conflated += u64::from(place.is_fresh);
                place.last = Some((price, time));
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

    /// The symbols with something new, in the order in which that began, under the names they are wanted by.
    pub(super) fn take(&mut self) -> Vec<QuoteRow> {
        let mut rows = Vec::with_capacity(self.fresh.len());
        for canonical in self.fresh.drain(..) {
            let Some(place) = self.places.get_mut(&canonical) else {
                continue;
            };
            place.is_fresh = false;
            let names = self.aliases.get(&canonical).map_or(&[] as &[_], Vec::as_slice);
            if let Some((price, time)) = place.last {
                rows.extend(names.iter().map(|&symbol| QuoteRow {
                    symbol,
                    price,
                    volume: place.volume,
                    time: Some(time),
                    bid: place.bid,
                    ask: place.ask,
                }));
            }
        }
        rows
    }

    /// Forgets bids, asks and volumes: after a gap they are another time's.
    pub(super) fn forget_surroundings(&mut self) {
        for place in self.places.values_mut() {
            (place.bid, place.ask, place.volume) = (None, None, None);
        }
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
    fn the_newest_price_of_each_symbol_is_taken_once_and_the_replaced_are_counted() {
        let mut board = board(&["A", "B"]);
        for tick in [
            trade("A", "1", 1),
            trade("B", "5", 2),
            trade("A", "2", 3),
            trade("A", "3", 4),
        ] {
            board.put(tick);
        }
        assert_eq!(taken(&mut board), ["A 3", "B 5"]);
        assert_eq!(board.conflated, 2);
        assert!(board.take().is_empty());
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
