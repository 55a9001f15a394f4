//! Deletes obsolete rows, a limited number at a time.

use jiff::Timestamp;

use crate::deliveries::into_store_error;
use crate::unit_of_work::write_rows;
use crate::{Abort, BoxFuture, Store, StoreError, Transaction, UnitOfWork};

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
        self.write(purge_rows).await.map_err(into_store_error)
    }
}

impl Transaction for PurgeRows {
    type Output = u64;
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<u64, Abort<Self::Refusal>>> {
        let (before, limit) = (self.before.as_microsecond(), i64::from(self.limit));
        Box::pin(async move {
            for &sql in self.purge.dependents {
                write_rows!(unit, sql, before, limit);
            }
            let mut removed = 0;
            for &sql in self.purge.counted {
                removed += write_rows!(unit, sql, before, limit);
            }
            Ok(removed)
        })
    }
}
