//! What nobody needs any more, removed a limited number of rows at a time.

use jiff::Timestamp;

use crate::deliveries::never;
use crate::unit::write;
use crate::{Abort, BoxFuture, Store, StoreError, Unit, Work};

/// What is removed together. Each statement takes the instant as `$1` and the number of rows as `$2`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Forget {
    /// What hangs on the rows that are counted, and goes before them.
    pub(crate) with_them: &'static [&'static str],
    /// The rows that are counted.
    pub(crate) counted: &'static [&'static str],
}

struct Forgetting {
    what: Forget,
    before: Timestamp,
    at_most: u32,
}

impl Store {
    /// Removes what is from before `before`, at most so many rows by each statement. Says how many.
    pub(crate) async fn forget(&self, what: Forget, before: Timestamp, at_most: u32) -> Result<u64, StoreError> {
        let forgetting = Forgetting { what, before, at_most };
        self.write(forgetting).await.map_err(never)
    }
}

impl Work for Forgetting {
    type Done = u64;
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<u64, Abort<Self::Refusal>>> {
        let (before, at_most) = (self.before.as_microsecond(), i64::from(self.at_most));
        Box::pin(async move {
            for &sql in self.what.with_them {
                write!(unit, sql, before, at_most);
            }
            let mut forgotten = 0;
            for &sql in self.what.counted {
                forgotten += write!(unit, sql, before, at_most);
            }
            Ok(forgotten)
        })
    }
}
