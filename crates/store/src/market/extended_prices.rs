//! The newest prices in extended hours.

use jiff::Timestamp;
use market::Price;

use super::record::last_of_each;
use super::row::StoredExtendedPrice;
use crate::bulk::{Statement, write_many};
use crate::columns::{days, values};
use crate::database::query;
use crate::model::LatestExtendedPrice;
use crate::{Store, StoreError, UnitOfWork};

/// A price that is dated later is replaced, too: a clock that was ahead must not keep it.
const UPSERT_EXTENDED_PRICES: Statement = Statement {
    before: "INSERT INTO extended_prices (symbol, session, price, at, bid, ask) VALUES ",
    columns: 6,
    after: " ON CONFLICT (symbol) DO UPDATE SET session = excluded.session, price = excluded.price, at = excluded.at,
             bid = excluded.bid, ask = excluded.ask",
};

impl Store {
    /// Returns the newest price of each stock in extended hours, by symbol. The session to which it belongs may be over.
    pub async fn latest_extended_prices(&self) -> Result<Vec<LatestExtendedPrice>, StoreError> {
        let sql = "SELECT symbol, session, price, at, bid, ask FROM extended_prices ORDER BY symbol";
        values(query!(fetch_all StoredExtendedPrice, &self.pools, sql)?)
    }
}

impl UnitOfWork {
    /// Stores the newest prices in extended hours.
    pub(crate) async fn record_extended_prices(&mut self, prices: &[LatestExtendedPrice]) -> Result<(), StoreError> {
        let prices = last_of_each(prices, |row| row.symbol);
        write_many!(self, UPSERT_EXTENDED_PRICES, &prices, |query, row| {
            query
                .bind(row.symbol.as_str())
                .bind(days(row.session))
                .bind(Price::micros(row.price))
                .bind(Timestamp::as_microsecond(row.at))
                .bind(row.bid.map(Price::micros))
                .bind(row.ask.map(Price::micros))
        });
        Ok(())
    }
}
