//! Addresses that have unsubscribed from email about alerts.

use jiff::Timestamp;

use crate::bulk::{Statement, query_many};
use crate::columns::text;
use crate::unit_of_work::write_rows;
use crate::{Store, StoreError, UnitOfWork};

const UNSUBSCRIBED: Statement = Statement {
    before: "SELECT address FROM unsubscribed WHERE address IN (VALUES ",
    columns: 1,
    after: ")",
};

impl Store {
    /// Returns those of some addresses that have unsubscribed.
    pub async fn unsubscribed(&self, addresses: &[String]) -> Result<Vec<String>, StoreError> {
        let found = query_many!((String,), &self.pools, UNSUBSCRIBED, addresses, |query, address| query
            .bind(text(address)));
        Ok(found.into_iter().map(|(address,)| address).collect())
    }
}

impl UnitOfWork {
    /// Unsubscribes an address from email about alerts, or subscribes it again.
    pub async fn set_unsubscribed(&mut self, address: &str, since: Option<Timestamp>) -> Result<(), StoreError> {
        let address = text(address);
        match since {
            Some(at) => {
                let sql = "INSERT INTO unsubscribed (address, at) VALUES ($1, $2) ON CONFLICT (address) DO NOTHING";
                write_rows!(self, sql, address, at.as_microsecond());
            }
            None => {
                write_rows!(self, "DELETE FROM unsubscribed WHERE address = $1", address);
            }
        }
        Ok(())
    }
}
