//! Deletes obsolete rows, a limited number at a time.

use jiff::Timestamp;

use crate::unit_of_work::write_rows;
use crate::{PlainTransaction, Store, StoreError, UnitOfWork};

/// Statements that delete rows together. Each takes the instant as `$1` and the row limit as `$2`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Purge {
    /// Statements for dependent rows, run first.
    pub(crate) dependents: &'static [&'static str],
    /// Statements whose rows are counted.
    pub(crate) counted: &'static [&'static str],
}

struct PurgeRows {
    purge: Purge,
    before: Timestamp,
    limit: u32,
}

impl Store {
    /// Deletes rows older than `before`, at most `limit` rows per statement. Returns the number of counted rows.
    pub(crate) async fn purge(&self, purge: Purge, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let purge_rows = PurgeRows { purge, before, limit };
        self.commit(purge_rows).await
    }
}

impl PlainTransaction for PurgeRows {
    type Output = u64;

    async fn run(&self, unit: &mut UnitOfWork) -> Result<u64, StoreError> {
        let (before, limit) = (self.before.as_microsecond(), i64::from(self.limit));
        for &sql in self.purge.dependents {
            write_rows!(unit, sql, before, limit);
        }
        let mut removed = 0;
        for &sql in self.purge.counted {
            removed += write_rows!(unit, sql, before, limit);
        }
        Ok(removed)
    }
}
