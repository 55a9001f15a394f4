//! Batches and missed periods that are too large for one message between the nodes of a cluster.

use std::collections::BTreeSet;

use ::market::Symbol;
use ::market::records::Batch;
use sources::MissedQuotes;
use sources::ingest::RowRejection;

/// Returns the parts of a batch that fit, in the order in which they are judged: quotes come last, because they are judged with
/// everything that is known by then. A single record that does not fit is a part nevertheless.
pub(super) fn parts(batch: Batch, fits: &dyn Fn(&Batch) -> bool) -> Vec<Batch> {
    if fits(&batch) {
        return vec![batch];
    }
    let (first, second) = halves(batch);
    if second.is_empty() {
        return vec![first];
    }
    let mut all = parts(first, fits);
    all.extend(parts(second, fits));
    all
}

/// Returns the parts of a missed period that fit: by stock, and for a single stock by time.
pub(super) fn missed_parts(missed: MissedQuotes, fits: &dyn Fn(&MissedQuotes) -> bool) -> Vec<MissedQuotes> {
    if missed.quotes.len() <= 1 || fits(&missed) {
        return vec![missed];
    }
    let symbols: BTreeSet<Symbol> = missed.quotes.iter().map(|quote| quote.symbol).collect();
    let middle = symbols.iter().nth(symbols.len() / 2).copied();
    let MissedQuotes {
        mut quotes,
        is_behind,
        complete,
    } = missed;
    let (first, second, complete) = match middle.filter(|_| symbols.len() > 1) {
        Some(middle) => {
            let (first, second) = quotes.into_iter().partition(|quote| quote.symbol < middle);
            (first, second, complete.into_iter().partition(|symbol| *symbol < middle))
        }
        None => {
            let second = quotes.split_off(quotes.len() / 2);
            (quotes, second, (complete.clone(), complete))
        }
    };
    let part = |quotes, complete| MissedQuotes {
        quotes,
        is_behind,
        complete,
    };
    let mut all = missed_parts(part(first, complete.0), fits);
    all.extend(missed_parts(part(second, complete.1), fits));
    all
}

/// Returns the two parts of a batch. The second one is empty if the batch has at most one record of each kind, which are far smaller
/// than a message may be.
fn halves(mut batch: Batch) -> (Batch, Batch) {
    let quotes = std::mem::take(&mut batch.quotes);
    let of_quotes = |quotes| Batch {
        quotes,
        ..Batch::default()
    };
    if batch != Batch::default() && !quotes.is_empty() {
        return (batch, of_quotes(quotes));
    }
    if quotes.len() > 1 {
        let mut first = quotes;
        let second = first.split_off(first.len() / 2);
        return (of_quotes(first), of_quotes(second));
    }
    batch.quotes = quotes;
    let mut second = Batch::default();
    macro_rules! split {
        ($($rows:ident),*) => {
            $(second.$rows = batch.$rows.split_off(batch.$rows.len().div_ceil(2));)*
        };
    }
    split!(
        stocks,
        bars,
        intraday_bars,
        fundamentals,
        earnings,
        dividends,
        splits,
        insider_transactions,
        withdrawn_filings,
        mentions
    );
    (batch, second)
}

/// The numbers of records of each kind whose rejections are reported by index.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BatchCounts([(&'static str, usize); KINDS]);

const KINDS: usize = 7;

impl BatchCounts {
    pub(super) fn of(batch: &Batch) -> Self {
        Self([
            ("quotes", batch.quotes.len()),
            ("bars", batch.bars.len()),
            ("intraday_bars", batch.intraday_bars.len()),
            ("splits", batch.splits.len()),
            ("fundamentals", batch.fundamentals.len()),
            ("insider_transactions", batch.insider_transactions.len()),
            ("mentions", batch.mentions.len()),
        ])
    }

    /// Adds the numbers of the next part.
    pub(super) fn add(&mut self, part: &Self) {
        for (all, (kind, count)) in self.0.iter_mut().zip(part.0) {
            *all = (kind, all.1 + count);
        }
    }

    /// Returns a rejection of the part after these records, with its index in the whole batch.
    pub(super) fn in_whole(&self, row: RowRejection) -> RowRejection {
        let before = self.0.iter().find(|(kind, _)| *kind == row.kind);
        RowRejection {
            index: row.index + before.map_or(0, |(_, count)| *count),
            ..row
        }
    }
}

#[cfg(test)]
mod tests {
    use ::market::records::{QuoteRow, StockRow};

    use super::*;

    fn quote(symbol: &str) -> QuoteRow {
        QuoteRow {
            symbol: symbol.parse().unwrap(),
            price: "10".parse().unwrap(),
            volume: None,
            time: None,
            bid: None,
            ask: None,
            vwap: None,
        }
    }

    fn stock(symbol: &str) -> StockRow {
        StockRow::named(symbol.parse().unwrap(), symbol)
    }

    fn batch() -> Batch {
        Batch {
            stocks: ["A", "B", "C"].map(stock).to_vec(),
            quotes: ["A", "B", "C", "D", "E"].map(quote).to_vec(),
            ..Batch::default()
        }
    }

    #[test]
    fn batch_that_fits_is_one_part() {
        assert_eq!(parts(batch(), &|part| part.len() <= 8), [batch()]);
    }

    #[test]
    fn parts_have_all_records_in_order_and_quotes_come_last() {
        for most in 1..8 {
            let parts = parts(batch(), &|part| part.len() <= most);
            assert!(parts.iter().all(|part| part.len() <= most), "{most}");
            let first_quotes = parts.iter().position(|part| !part.quotes.is_empty()).unwrap();
            assert!(
                parts[first_quotes..].iter().all(|part| part.stocks.is_empty()),
                "{most}"
            );
            let mut whole = Batch::default();
            for part in parts {
                whole.append(part);
            }
            assert_eq!(whole, batch(), "{most}");
        }
    }

    #[test]
    fn missed_period_is_divided_by_stock_and_then_by_time() {
        let missed = MissedQuotes {
            quotes: ["A", "B", "A", "C", "A", "A"].map(quote).to_vec(),
            is_behind: true,
            complete: vec!["A".parse().unwrap(), "C".parse().unwrap()],
        };
        let parts = missed_parts(missed, &|part| part.quotes.len() <= 2);
        let stocks: Vec<String> = parts
            .iter()
            .map(|part| part.quotes.iter().map(|quote| quote.symbol.to_string()).collect())
            .collect();
        assert_eq!(stocks, ["AA", "AA", "BC"]);
        assert!(parts.iter().all(|part| part.is_behind));
        let complete: Vec<usize> = parts.iter().map(|part| part.complete.len()).collect();
        assert_eq!(complete, [1, 1, 1]);
    }

    #[test]
    fn record_that_does_not_fit_is_a_part() {
        assert_eq!(parts(batch(), &|_| false).len(), 8);
    }

    #[test]
    fn rejection_of_a_part_is_reported_by_its_index_in_the_whole() {
        let mut sent = BatchCounts::default();
        sent.add(&BatchCounts::of(&batch()));
        let rejected = |kind| RowRejection {
            kind,
            index: 2,
            reason: String::new(),
        };
        assert_eq!(sent.in_whole(rejected("quotes")).index, 7);
        assert_eq!(sent.in_whole(rejected("bars")).index, 2);
        sent.add(&BatchCounts::of(&batch()));
        assert_eq!(sent.in_whole(rejected("quotes")).index, 12);
    }
}
