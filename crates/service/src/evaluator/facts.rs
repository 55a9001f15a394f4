//! Records as the engine wants them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ::alerts::engine::{Dividend, Event, InsiderTrade};
use ::market::records::{Batch, DividendRow, EarningsRow, InsiderRow, TransactionSide, WithdrawnFiling};
use ::market::{Decimal, MICROS_PER_UNIT, Symbol};
use jiff::civil::Date;

/// The dates on which a company reports.
pub(crate) fn earnings_dates(rows: &[EarningsRow]) -> Vec<Date> {
    rows.iter().map(|row| row.date).collect()
}

/// The dividends of one stock.
pub(crate) fn dividends(rows: &[DividendRow]) -> Vec<Dividend> {
    let dividends = rows.iter().map(|row| Dividend {
        ex_date: row.ex_date,
        payment_date: row.payment_date,
        amount: row.amount,
    });
    dividends.collect()
}

/// Insiders' trades, stock by stock.
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

/// The insiders' trades that are known, so that a filing that is delivered again is not counted again.
///
/// A filing may list two trades that are equal in everything, and both count. So rows are compared as one would two
/// piles of paper: of a delivery only as many equal rows are new as it has more of them than are known.
///
/// A source may tell of a filing alone that was taken back before, because the amendment is in none of its lists yet. So what was
/// taken back is remembered.
#[derive(Debug, Default)]
pub(crate) struct Filings {
    /// The rows of each filing.
    known: HashMap<Key, Vec<InsiderRow>>,
    withdrawn: Vec<WithdrawnFiling>,
}

/// A filing: about whom, when, by whom.
type Key = (Symbol, Date, String);

fn key(row: &InsiderRow) -> Key {
    (row.symbol, row.filed_on, row.insider.clone())
}

impl Filings {
    /// Takes rows in as known.
    pub(crate) fn extend(&mut self, rows: impl IntoIterator<Item = InsiderRow>) {
        for row in rows {
            self.known.entry(key(&row)).or_default().push(row);
        }
    }

    /// Takes these rows for all that are known.
    pub(crate) fn replace(&mut self, rows: impl IntoIterator<Item = InsiderRow>) {
        self.known.clear();
        self.extend(rows);
    }

    /// The rows of a delivery that are not known yet.
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

    /// Leaves filings out of a delivery that an earlier one has taken back.
    pub(crate) fn leave_out_withdrawn(&self, batch: &mut Batch) {
        if self.withdrawn.is_empty() || batch.insider_transactions.is_empty() {
            return;
        }
        let mut delivered = Self::default();
        delivered.extend(batch.insider_transactions.iter().cloned());
        // What was filed on the day of the amendment may be the amendment itself.
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
            .retain(|row| !delivered.known.contains_key(&key(row)));
    }

    /// Takes in a delivery's filings, and tells the engine what is new: what does not stand any more goes before its amendment
    /// comes, and a filing that is delivered again is not counted again.
    pub(crate) fn take(&mut self, batch: &Batch, mut tell: impl FnMut(Event<'_>)) {
        for symbol in self.withdraw(&batch.withdrawn_filings) {
            let trades = &self.of(symbol);
            tell(Event::InsiderTradesReplaced { symbol, trades });
        }
        let new = self.new_among(&batch.insider_transactions);
        for (symbol, trades) in by_symbol(&new) {
            let trades = &trades;
            tell(Event::InsiderTrades { symbol, trades });
        }
        self.extend(new);
    }

    /// Takes back filings that do not stand any more. Answers of which stocks.
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

    /// The trades of a stock.
    fn of(&self, symbol: Symbol) -> Vec<InsiderTrade> {
        let filings = self.known.iter().filter(|((of, _, _), _)| *of == symbol);
        filings.flat_map(|(_, rows)| rows.iter().map(trade)).collect()
    }

    /// Forgets what was filed before `date`.
    pub(crate) fn forget_before(&mut self, date: Date) {
        self.known.retain(|&(_, filed_on, _), _| filed_on >= date);
        self.withdrawn.retain(|withdrawn| withdrawn.amended_on >= date);
    }

    fn count(&self, row: &InsiderRow) -> usize {
        let known = self.known.get(&key(row));
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
    fn a_filing_that_is_delivered_again_has_nothing_new() {
        let mut filings = Filings::default();
        let delivery = [row(1), row(2), row(1)];
        assert_eq!(filings.new_among(&delivery), delivery);
        filings.extend(delivery.clone());
        assert_eq!(filings.new_among(&delivery), []);
    }

    #[test]
    fn of_equal_rows_those_beyond_the_known_ones_are_new() {
        let mut filings = Filings::default();
        filings.extend([row(1)]);
        assert_eq!(filings.new_among(&[row(1), row(1), row(2)]), [row(1), row(2)]);
    }
}
