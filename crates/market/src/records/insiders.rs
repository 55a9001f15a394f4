//! Insiders' transactions and filings that an amendment has replaced.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::{Decimal, Symbol};

/// The direction of an insider's transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransactionSide {
    /// The insider acquired shares.
    Buy,
    /// The insider disposed of shares.
    Sell,
}

/// An insider's transaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InsiderRow {
    /// The stock.
    pub symbol: Symbol,
    /// The date of the filing, from which the transaction is known.
    pub filed_on: Date,
    /// The date of the transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traded_on: Option<Date>,
    /// The insider's name.
    pub insider: String,
    /// The transaction code of the SEC's Form 4 in upper case: `P` for a purchase, `S` for a sale, and others.
    pub code: char,
    /// The direction of the transaction.
    pub side: TransactionSide,
    /// The number of shares, zero or more.
    pub shares: Decimal,
    /// Dollars per share, zero or more; zero for a grant.
    pub price: Decimal,
}

/// A filing of an insider that an amendment has replaced. Its transactions are no longer valid; the amendment
/// contains the valid ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WithdrawnFiling {
    /// The stock.
    pub symbol: Symbol,
    /// The insider's name.
    pub insider: String,
    /// The date of the withdrawn filing; `None` means any earlier filing of the same period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filed_on: Option<Date>,
    /// The period of both filings: the day of the earliest transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traded_from: Option<Date>,
    /// The date of the amendment. It withdraws neither itself nor later filings.
    pub amended_on: Date,
}

impl WithdrawnFiling {
    /// Whether this withdraws `filing`: the transactions of one insider in one stock that were filed on one day.
    ///
    /// Without the filing's date the period identifies it. A filing's period begins with its earliest transaction, so
    /// a filing of another period does not match, even if it was filed in between.
    #[must_use]
    pub fn withdraws(&self, filing: &[InsiderRow]) -> bool {
        let Some(one) = filing.first() else {
            return false;
        };
        if (one.symbol, &one.insider) != (self.symbol, &self.insider) {
            return false;
        }
        match (self.filed_on, self.traded_from) {
            (Some(filed_on), _) => one.filed_on == filed_on,
            (None, Some(_)) if one.filed_on >= self.amended_on => false,
            (None, Some(period)) => filing.iter().filter_map(|row| row.traded_on).min() == Some(period),
            (None, None) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn trade(day: i8, filed: i8) -> InsiderRow {
        InsiderRow {
            symbol: "AAPL".parse().unwrap(),
            filed_on: date(2024, 3, filed),
            traded_on: Some(date(2024, 3, day)),
            insider: "DOE JANE".to_owned(),
            code: 'P',
            side: TransactionSide::Buy,
            shares: Decimal::from_micros(1),
            price: Decimal::from_micros(1),
        }
    }

    /// Amended on the 20th.
    fn withdrawn(filed_on: Option<Date>, traded_from: Option<Date>) -> WithdrawnFiling {
        WithdrawnFiling {
            symbol: "AAPL".parse().unwrap(),
            insider: "DOE JANE".to_owned(),
            filed_on,
            traded_from,
            amended_on: date(2024, 3, 20),
        }
    }

    #[test]
    fn withdraws_a_filing_by_its_date() {
        let withdrawn = withdrawn(Some(date(2024, 3, 6)), None);
        assert!(withdrawn.withdraws(&[trade(4, 6)]));
        assert!(!withdrawn.withdraws(&[trade(4, 7)]));
        assert!(!withdrawn.withdraws(&[]));
    }

    #[test]
    fn withdraws_a_filing_by_its_period_without_a_date() {
        let withdrawn = withdrawn(None, Some(date(2024, 3, 4)));
        assert!(withdrawn.withdraws(&[trade(5, 6), trade(4, 6)]));
        assert!(!withdrawn.withdraws(&[trade(5, 7)]), "a later period");
        assert!(!withdrawn.withdraws(&[trade(3, 6), trade(4, 6)]), "an earlier period");
        assert!(!withdrawn.withdraws(&[trade(4, 20)]), "the amendment itself");
        assert!(withdrawn.withdraws(&[trade(4, 19)]));
    }

    #[test]
    fn does_not_withdraw_filings_of_other_insiders_or_stocks() {
        let withdrawn = withdrawn(Some(date(2024, 3, 6)), Some(date(2024, 3, 4)));
        let of = |insider: &str, symbol: &str| InsiderRow {
            insider: insider.to_owned(),
            symbol: symbol.parse().unwrap(),
            ..trade(4, 6)
        };
        assert!(withdrawn.withdraws(&[of("DOE JANE", "AAPL")]));
        assert!(!withdrawn.withdraws(&[of("DOE JOHN", "AAPL")]));
        assert!(!withdrawn.withdraws(&[of("DOE JANE", "MSFT")]));
    }
}
