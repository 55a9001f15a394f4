//! Withdraws amended insider filings.

use std::collections::BTreeMap;

use jiff::civil::Date;
use market::records::{InsiderRow, WithdrawnFiling};

use super::row::StoredInsiderTrade;
use crate::columns::{days, text, values};
use crate::unit_of_work::{fetch, write_rows};
use crate::{StoreError, UnitOfWork};

impl UnitOfWork {
    /// Deletes the trades of withdrawn filings. The trades of their amendments are recorded afterwards.
    pub(super) async fn withdraw_filings(&mut self, withdrawn: &[WithdrawnFiling]) -> Result<(), StoreError> {
        for withdrawn in withdrawn {
            let insider = text(&withdrawn.insider);
            // The filing date is on or before the day of the amendment, and not before its trades.
            let first = withdrawn.filed_on.or(withdrawn.traded_from).map_or(i64::MIN, days);
            let last = days(withdrawn.filed_on.unwrap_or(withdrawn.amended_on));
            let sql = "SELECT symbol, filed_on, traded_on, insider, code, side, shares, price FROM insider_trades
                       WHERE symbol = $1 AND insider = $2 AND filed_on >= $3 AND filed_on <= $4";
            let rows =
                fetch!(self, fetch_all StoredInsiderTrade, sql, withdrawn.symbol.as_str(), &insider, first, last);
            let mut filings: BTreeMap<Date, Vec<InsiderRow>> = BTreeMap::new();
            for row in values::<_, InsiderRow>(rows)? {
                filings.entry(row.filed_on).or_default().push(row);
            }
            // The stored name may differ from the delivered one in characters that cannot be stored.
            let kept = WithdrawnFiling {
                insider: insider.clone(),
                ..withdrawn.clone()
            };
            for (filed_on, _) in filings.into_iter().filter(|(_, filing)| kept.withdraws(filing)) {
                write_rows!(
                    self,
                    "DELETE FROM insider_trades WHERE symbol = $1 AND insider = $2 AND filed_on = $3",
                    withdrawn.symbol.as_str(),
                    &insider,
                    days(filed_on),
                );
            }
        }
        Ok(())
    }
}
