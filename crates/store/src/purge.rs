//! Deletes obsolete rows, a limited number at a time.

use jiff::Timestamp;

use crate::unit_of_work::write_rows;
use crate::{Store, StoreError};

/// Statements that delete rows together. Each takes the instant as `$1` and the row limit as `$2`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Purge {
    /// Statements for dependent rows, run first.
    pub(crate) dependents: &'static [&'static str],
    /// Statements whose rows are counted.
    pub(crate) counted: &'static [&'static str],
}

impl Store {
    /// Deletes rows older than `before`, at most `limit` rows per statement. Returns the number of counted rows.
    pub(crate) async fn purge(&self, purge: Purge, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let inputs = (purge, before, limit);
        let transaction = self.commit(inputs, |&(ref purge, before, limit), unit| {
            Box::pin(async move {
                let (before, limit) = (before.as_microsecond(), i64::from(limit));
                for &sql in purge.dependents {
                    write_rows!(unit, sql, before, limit);
                }
                let mut removed = 0;
                for &sql in purge.counted {
                    removed += write_rows!(unit, sql, before, limit);
                }
                Ok(removed)
            })
        });
        transaction.await
    }
}
