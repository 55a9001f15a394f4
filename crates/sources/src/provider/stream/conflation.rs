//! Conflation buffer: the lowest, highest and newest unread price of each symbol.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use jiff::Timestamp;
use market::records::QuoteRow;
use market::{Price, Symbol};

use super::Tick;
use crate::provider::ticker_style::TickerStyle;

/// The newest prices of the wanted symbols, until the consumer takes them.
#[derive(Debug, Default)]
pub(super) struct ConflationBuffer {
    symbols: HashMap<Symbol, SymbolState>,
    /// The symbols with unread changes, in order of their first change.
    updated: Vec<Symbol>,
    /// The requested spellings of each canonical symbol.
    aliases: BTreeMap<Symbol, Vec<Symbol>>,
    /// The number of trades that were dropped: neither lowest, highest nor newest.
    pub(super) conflated: u64,
}

/// A price and the time of its trade.
type TimedPrice = (Price, Timestamp);

#[derive(Debug, Default)]
struct SymbolState {
    last: Option<TimedPrice>,
    /// The trades since the last [`ConflationBuffer::take`].
    unread: Option<UnreadTrades>,
    bid: Option<Price>,
    ask: Option<Price>,
    volume: Option<i64>,
    is_updated: bool,
    subscription: Subscription,
}

/// The state of a symbol's subscription on the current connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Subscription {
    /// The subscription was requested.
    #[default]
    Requested,
    /// A trade has arrived.
    Confirmed,
    /// The provider has refused some symbols without naming them; this one may be among them.
    Refused,
}

/// A summary of unread trades. If any of them crosses an alert's threshold, the lowest or the highest does too.
#[derive(Debug, Clone, Copy)]
struct UnreadTrades {
    low: TimedPrice,
    high: TimedPrice,
    trades: u64,
}

impl UnreadTrades {
    const fn of(trade: TimedPrice) -> Self {
        Self {
            low: trade,
            high: trade,
            trades: 1,
        }
    }

    fn add(&mut self, trade: TimedPrice) {
        if trade.0 < self.low.0 {
            self.low = trade;
        }
        if trade.0 > self.high.0 {
            self.high = trade;
        }
        self.trades += 1;
    }

    /// Returns the lowest and highest prices that differ from the last price, in order of time.
    fn extremes_before(&self, last: TimedPrice) -> impl Iterator<Item = TimedPrice> + use<> {
        let mut both = [self.low, self.high];
        both.sort_by_key(|(_, time)| *time);
        // With a single price, the lowest and the highest are the same.
        let count = if self.low.0 == self.high.0 { 1 } else { 2 };
        both.into_iter().take(count).filter(move |(price, _)| *price != last.0)
    }
}

impl SymbolState {
    /// Records a trade. A trade older than the last one counts for the range, but does not become the last.
    fn record_trade(&mut self, trade: TimedPrice) {
        if self.last.is_none_or(|(_, last)| last <= trade.1) {
            self.last = Some(trade);
        }
        match &mut self.unread {
            Some(unread) => unread.add(trade),
            None => self.unread = Some(UnreadTrades::of(trade)),
        }
    }
}

impl ConflationBuffer {
    /// Sets the wanted symbols. Data of other symbols is dropped.
    pub(super) fn set_wanted(&mut self, wanted: &BTreeSet<Symbol>) {
        self.aliases.clear();
        for &symbol in wanted {
            self.aliases.entry(canonical_symbol(symbol)).or_default().push(symbol);
        }
        let aliases = &self.aliases;
        self.symbols.retain(|symbol, _| aliases.contains_key(symbol));
        self.updated.retain(|symbol| aliases.contains_key(symbol));
        for &symbol in aliases.keys() {
            self.symbols.entry(symbol).or_default();
        }
    }

    /// Applies a tick and returns whether the consumer has something new to read. Ticks of other symbols are ignored.
    pub(super) fn apply(&mut self, tick: Tick) -> bool {
        let (Tick::Trade { symbol, .. } | Tick::TopOfBook { symbol, .. } | Tick::Volume { symbol, .. }) = tick;
        let Some(state) = self.symbols.get_mut(&symbol) else {
            return false;
        };
        match tick {
            Tick::Trade { price, time, .. } => {
                state.subscription = Subscription::Confirmed;
                state.record_trade((price, time));
            }
            Tick::TopOfBook { bid, ask, .. } => {
                (state.bid, state.ask) = (bid, ask);
                return false;
            }
            Tick::Volume { volume, .. } => {
                state.volume = Some(volume);
                if state.last.is_none() {
                    return false;
                }
            }
        }
        if !state.is_updated {
            state.is_updated = true;
            self.updated.push(symbol);
        }
        true
    }

    /// Takes the unread prices in order of each symbol's first change: the lowest and the highest price since the last call, then the
    /// newest. Rows use the requested spellings.
    pub(super) fn take(&mut self) -> Vec<QuoteRow> {
        let mut rows = Vec::with_capacity(self.updated.len());
        for canonical in self.updated.drain(..) {
            let Some(state) = self.symbols.get_mut(&canonical) else {
                continue;
            };
            state.is_updated = false;
            let names = self.aliases.get(&canonical).map_or(&[] as &[_], Vec::as_slice);
            let Some(last) = state.last else { continue };
            let unread = state.unread.take();
            let before = unread.into_iter().flat_map(|unread| unread.extremes_before(last));
            let mut emitted = 0;
            for (price, time) in before.chain([last]) {
                emitted += 1;
                rows.extend(names.iter().map(|&symbol| QuoteRow {
                    symbol,
                    price,
                    volume: state.volume,
                    time: Some(time),
                    bid: state.bid,
                    ask: state.ask,
                    vwap: None,
                }));
            }
            self.conflated += unread.map_or(0, |unread| unread.trades.saturating_sub(emitted));
        }
        rows
    }

    /// Clears the bids, asks, volumes and subscription states of an earlier connection. Last prices are kept.
    pub(super) fn reset_for_new_connection(&mut self) {
        for state in self.symbols.values_mut() {
            (state.bid, state.ask, state.volume) = (None, None, None);
            state.subscription = Subscription::Requested;
        }
    }

    /// Marks all symbols without a trade as possibly refused, since the provider refused symbols without naming them.
    pub(super) fn mark_unconfirmed_as_refused(&mut self) {
        for state in self.symbols.values_mut() {
            if state.subscription == Subscription::Requested {
                state.subscription = Subscription::Refused;
            }
        }
    }

    /// Returns the possibly refused symbols in canonical spelling.
    pub(super) fn refused_symbols(&self) -> impl Iterator<Item = Symbol> {
        let refused =
            |(&symbol, state): (&Symbol, &SymbolState)| (state.subscription == Subscription::Refused).then_some(symbol);
        self.symbols.iter().filter_map(refused)
    }

    /// Returns the possibly refused symbols in the requested spellings.
    pub(super) fn refused_names(&self) -> impl Iterator<Item = Symbol> {
        let names = |symbol| self.aliases.get(&symbol).map_or(&[] as &[_], Vec::as_slice);
        self.refused_symbols().flat_map(names).copied()
    }
}

/// Returns the canonical spelling of a symbol, with a dot before the share class.
pub(crate) fn canonical_symbol(symbol: Symbol) -> Symbol {
    TickerStyle::Dash.read(symbol.as_str()).unwrap_or(symbol)
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

    fn buffer(wanted: &[&str]) -> ConflationBuffer {
        let mut buffer = ConflationBuffer::default();
        buffer.set_wanted(&wanted.iter().map(|text| symbol(text)).collect());
        buffer
    }

    fn taken(buffer: &mut ConflationBuffer) -> Vec<String> {
        buffer
            .take()
            .iter()
            .map(|row| format!("{} {}", row.symbol, row.price))
            .collect()
    }

    #[test]
    fn takes_low_high_and_newest_price_once_and_counts_the_rest() {
        let mut buffer = buffer(&["A", "B", "C"]);
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
            buffer.apply(tick);
        }
        assert_eq!(taken(&mut buffer), ["A 4", "A 1", "A 3", "B 5", "C 7"]);
        assert_eq!(buffer.conflated, 3);
        assert!(buffer.take().is_empty());
        buffer.apply(trade("A", "2", 9));
        assert_eq!(taken(&mut buffer), ["A 2"], "taken prices are not delivered again");
    }

    #[test]
    fn late_trade_does_not_become_the_newest() {
        let mut buffer = buffer(&["A"]);
        buffer.apply(trade("A", "2", 5));
        buffer.apply(trade("A", "9", 4));
        assert_eq!(taken(&mut buffer), ["A 9", "A 2"]);
    }

    #[test]
    fn ignores_unwanted_symbols() {
        let mut buffer = buffer(&["A", "B"]);
        assert!(!buffer.apply(trade("C", "1", 1)));
        buffer.apply(trade("B", "1", 1));
        buffer.set_wanted(&[symbol("A")].into());
        assert!(buffer.take().is_empty() && buffer.symbols.len() == 1);
    }

    #[test]
    fn share_class_is_delivered_in_each_requested_spelling() {
        let mut buffer = buffer(&["BRK-B", "BRK.B"]);
        buffer.apply(trade("BRK.B", "400", 1));
        assert_eq!(taken(&mut buffer), ["BRK-B 400", "BRK.B 400"]);
    }

    #[test]
    fn symbols_without_a_trade_may_be_refused_until_one_arrives() {
        let mut buffer = buffer(&["A", "BRK-B", "BRK.B"]);
        let refused = |buffer: &ConflationBuffer| buffer.refused_names().collect::<BTreeSet<Symbol>>();
        buffer.apply(trade("A", "1", 1));
        assert_eq!(refused(&buffer), BTreeSet::new());
        buffer.mark_unconfirmed_as_refused();
        assert_eq!(refused(&buffer), [symbol("BRK-B"), symbol("BRK.B")].into());
        buffer.apply(trade("BRK.B", "400", 1));
        assert_eq!(refused(&buffer), BTreeSet::new());
        buffer.reset_for_new_connection();
        buffer.mark_unconfirmed_as_refused();
        assert_eq!(
            refused(&buffer).len(),
            3,
            "a new connection has no confirmed subscriptions"
        );
    }

    #[test]
    fn bid_ask_and_volume_are_delivered_with_the_price() {
        let mut buffer = buffer(&["A"]);
        let volume = |volume| Tick::Volume {
            symbol: symbol("A"),
            volume,
        };
        assert!(!buffer.apply(volume(5)), "without a price there is no quote");
        buffer.apply(Tick::TopOfBook {
            symbol: symbol("A"),
            bid: "9".parse().ok(),
            ask: "11".parse().ok(),
        });
        buffer.apply(trade("A", "10", 1));
        let row = buffer.take()[0];
        assert_eq!(
            (row.volume, row.bid.map(|bid| bid.to_string())),
            (Some(5), Some("9".into()))
        );
        assert!(
            buffer.apply(volume(6)),
            "a volume update is delivered, since alerts use it"
        );
        assert_eq!(buffer.take()[0].volume, Some(6));
    }
}
