//! Conversion of stored records to the engine's types.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ::alerts::engine::{Dividend, Event, InsiderTrade};
use ::market::records::{Batch, DividendRow, EarningsRow, InsiderRow, TransactionSide, WithdrawnFiling};
use ::market::{Decimal, MICROS_PER_UNIT, Symbol};
use jiff::civil::Date;

/// Returns the report dates of a company.
pub(crate) fn earnings_dates(rows: &[EarningsRow]) -> Vec<Date> {
    rows.iter().map(|row| row.date).collect()
}

/// Returns the dividends of a stock.
pub(crate) fn dividends(rows: &[DividendRow]) -> Vec<Dividend> {
    let dividends = rows.iter().map(|row| Dividend {
        ex_date: row.ex_date,
        payment_date: row.payment_date,
        amount: row.amount,
    });
    dividends.collect()
}

/// Groups insider trades by stock.
pub(crate) fn by_symbol(rows: &[InsiderRow]) -> BTreeMap<Symbol, Vec<InsiderTrade>> {
    let mut trades: BTreeMap<Symbol, Vec<InsiderTrade>> = BTreeMap::new();
    for row in rows {
        trades.entry(row.symbol).or_default().push(trade(row));
    }
    trades
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

/// The known insider filings. A filing that is delivered again does not count twice.
///
/// A filing may list two trades that are equal in every field, and both count. Rows are therefore compared as
/// multisets: of equal rows in a delivery, only those beyond the known number are new.
///
/// A source may deliver a withdrawn filing again without its amendment, because its lists do not contain the
/// amendment yet. Withdrawals are therefore remembered.
#[derive(Debug, Default)]
pub(crate) struct InsiderFilings {
    /// The rows of each filing.
    known: HashMap<FilingKey, Vec<InsiderRow>>,
    withdrawn: Vec<WithdrawnFiling>,
}

/// The stock, the filing date and the insider of a filing.
type FilingKey = (Symbol, Date, String);

fn filing_key(row: &InsiderRow) -> FilingKey {
    (row.symbol, row.filed_on, row.insider.clone())
}

impl InsiderFilings {
    /// Adds known rows.
    pub(crate) fn extend(&mut self, rows: impl IntoIterator<Item = InsiderRow>) {
        for row in rows {
            self.known.entry(filing_key(&row)).or_default().push(row);
        }
    }

    /// Replaces all known rows.
    pub(crate) fn replace(&mut self, rows: impl IntoIterator<Item = InsiderRow>) {
        self.known.clear();
        self.extend(rows);
    }

    /// Returns the rows of a delivery that are not known yet.
    fn new_among(&self, rows: &[InsiderRow]) -> Vec<InsiderRow> {
        let mut delivered = Self::default();
        let mut new = Vec::new();
        for row in rows {
            delivered.extend([row.clone()]);
            if delivered.count(row) > self.count(row) {
                new.push(row.clone());
            }
        }
        new
    }

    /// Removes from a delivery the filings that an earlier one has withdrawn.
    pub(crate) fn remove_withdrawn(&self, batch: &mut Batch) {
        if self.withdrawn.is_empty() || batch.insider_transactions.is_empty() {
            return;
        }
        let mut delivered = Self::default();
        delivered.extend(batch.insider_transactions.iter().cloned());
        // A filing of the amendment's date may be the amendment itself.
        let is_withdrawn = |filing: &[InsiderRow]| {
            let mut withdrawn = self.withdrawn.iter();
            withdrawn.any(|one| {
                let is_before = filing.first().is_some_and(|row| row.filed_on < one.amended_on);
                is_before && one.withdraws(filing)
            })
        };
        delivered.known.retain(|_, filing| is_withdrawn(filing));
        batch
            .insider_transactions
            .retain(|row| !delivered.known.contains_key(&filing_key(row)));
    }

    /// Adds a delivery's filings and processes the new ones. Withdrawals come before amendments. A filing that is
    /// delivered again is not counted again.
    pub(crate) fn ingest(&mut self, batch: &Batch, mut process: impl FnMut(Event<'_>)) {
        for symbol in self.withdraw(&batch.withdrawn_filings) {
            let trades = &self.of(symbol);
            process(Event::InsiderTradesReplaced { symbol, trades });
        }
        let new = self.new_among(&batch.insider_transactions);
        for (symbol, trades) in by_symbol(&new) {
            let trades = &trades;
            process(Event::InsiderTrades { symbol, trades });
        }
        self.extend(new);
    }

    /// Removes withdrawn filings. Returns their stocks.
    fn withdraw(&mut self, withdrawn: &[WithdrawnFiling]) -> BTreeSet<Symbol> {
        let mut symbols = BTreeSet::new();
        for withdrawn in withdrawn {
            let known = self.known.len();
            self.known.retain(|_, filing| !withdrawn.withdraws(filing));
            if self.known.len() < known {
                symbols.insert(withdrawn.symbol);
            }
            if !self.withdrawn.contains(withdrawn) {
                self.withdrawn.push(withdrawn.clone());
            }
        }
        symbols
    }

    /// Returns the trades of a stock.
    pub(crate) fn of(&self, symbol: Symbol) -> Vec<InsiderTrade> {
        let filings = self.known.iter().filter(|((of, _, _), _)| *of == symbol);
        filings.flat_map(|(_, rows)| rows.iter().map(trade)).collect()
    }

    /// Removes filings from before `date`.
    pub(crate) fn forget_before(&mut self, date: Date) {
        self.known.retain(|&(_, filed_on, _), _| filed_on >= date);
        self.withdrawn.retain(|withdrawn| withdrawn.amended_on >= date);
    }

    fn count(&self, row: &InsiderRow) -> usize {
        let known = self.known.get(&filing_key(row));
        known.map_or(0, |rows| rows.iter().filter(|known| *known == row).count())
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn row(shares: i64) -> InsiderRow {
        InsiderRow {
            symbol: "AAPL".parse().unwrap(),
            filed_on: date(2026, 3, 2),
            traded_on: None,
            insider: "Jane Doe".to_owned(),
            code: 'P',
            side: TransactionSide::Buy,
            shares: Decimal::from_units(shares).unwrap(),
            price: Decimal::from_units(10).unwrap(),
        }
    }

    #[test]
    fn repeated_filing_has_no_new_rows() {
        let mut filings = InsiderFilings::default();
        let delivery = [row(1), row(2), row(1)];
        assert_eq!(filings.new_among(&delivery), delivery);
        filings.extend(delivery.clone());
        assert_eq!(filings.new_among(&delivery), []);
    }

    #[test]
    fn equal_rows_beyond_the_known_number_are_new() {
        let mut filings = InsiderFilings::default();
        filings.extend([row(1)]);
        assert_eq!(filings.new_among(&[row(1), row(1), row(2)]), [row(1), row(2)]);
    }
}
