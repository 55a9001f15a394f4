//! Addresses whose owners want no more mail about alerts.

use jiff::Timestamp;

use crate::bulk::{Statement, query_many};
use crate::columns::text;
use crate::unit::write;
use crate::{Store, StoreError, Unit};

const UNSUBSCRIBED: Statement = Statement {
    before: "SELECT address FROM unsubscribed WHERE address IN (VALUES ",
    columns: 1,
    after: ")",
};

impl Store {
    /// Which of some addresses want no mail about alerts.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn unsubscribed(&self, addresses: &[String]) -> Result<Vec<String>, StoreError> {
        let found = query_many!((String,), &self.pools, UNSUBSCRIBED, addresses, |query, address| query
            .bind(text(address)))?;
        Ok(found.into_iter().map(|(address,)| address).collect())
    }
}

impl Unit {
    /// Takes an address off all mail about alerts, or puts it back on.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn set_unsubscribed(&mut self, address: &str, since: Option<Timestamp>) -> Result<(), StoreError> {
        let address = text(address);
        match since {
            Some(at) => {
                let sql = "INSERT INTO unsubscribed (address, at) VALUES ($1, $2) ON CONFLICT (address) DO NOTHING";
                write!(self, sql, address, at.as_microsecond());
            }
            None => {
                write!(self, "DELETE FROM unsubscribed WHERE address = $1", address);
            }
        }
        Ok(())
    }
}
