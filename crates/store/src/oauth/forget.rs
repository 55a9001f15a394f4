//! What is over is forgotten, and so are programs that nobody uses.

use jiff::Timestamp;

use crate::deliveries::never;
use crate::unit::write;
use crate::{Abort, BoxFuture, Store, StoreError, Unit, Work};

impl Store {
    /// Removes grants that were over before `before`, with their codes and tokens, used refresh tokens among them: as long as a
    /// grant goes on, whoever shows one of them again ends it. And what was over before `unused` already and nobody will show again: grants that never came to tokens, and access tokens.
    /// At most so many rows of each. Says how many rows that were; none, if there is nothing more to remove.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn forget_grants(&self, before: Timestamp, unused: Timestamp, at_most: u32) -> Result<u64, StoreError> {
        let work = ForgetGrants {
            before,
            unused,
            at_most,
        };
        self.write(work).await.map_err(never)
    }

    /// Removes registered programs that nobody allowed anything and that came before `unused`, and those that nobody has used
    /// since `idle`: at most so many of each. Says how many.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn forget_oauth_clients(
        &self,
        unused: Timestamp,
        idle: Timestamp,
        at_most: u32,
    ) -> Result<u64, StoreError> {
        let work = ForgetClients { unused, idle, at_most };
        self.write(work).await.map_err(never)
    }
}

struct ForgetGrants {
    before: Timestamp,
    unused: Timestamp,
    at_most: u32,
}

/// The grants that are to go, as `$1`, `$2` and `$3` say.
macro_rules! over {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            "(SELECT seq FROM oauth_grants
              WHERE expires_at < $1 OR (ended_at IS NOT NULL AND ended_at < $1) OR (last_used_at IS NULL AND expires_at < $2)
              ORDER BY seq LIMIT $3)",
            $after
        )
    };
}

impl Work for ForgetGrants {
    type Done = u64;
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<u64, Abort<Self::Refusal>>> {
        let (before, unused) = (self.before.as_microsecond(), self.unused.as_microsecond());
        let at_most = i64::from(self.at_most);
        Box::pin(async move {
            let mut gone = 0;
            // A grant may have come to very many tokens. It goes once they are all gone, and it has one code.
            for sql in [
                over!(
                    "DELETE FROM oauth_access_tokens WHERE hash IN
                     (SELECT hash FROM oauth_access_tokens WHERE grant_seq IN ",
                    " LIMIT $3)"
                ),
                over!(
                    "DELETE FROM oauth_refresh_tokens WHERE hash IN
                     (SELECT hash FROM oauth_refresh_tokens WHERE grant_seq IN ",
                    " LIMIT $3)"
                ),
                over!(
                    "DELETE FROM oauth_codes WHERE hash IN (SELECT hash FROM oauth_codes WHERE grant_seq IN ",
                    " LIMIT $3)"
                ),
                over!(
                    "DELETE FROM oauth_grants WHERE seq IN ",
                    " AND NOT EXISTS (SELECT 1 FROM oauth_access_tokens WHERE grant_seq = oauth_grants.seq)
                      AND NOT EXISTS (SELECT 1 FROM oauth_refresh_tokens WHERE grant_seq = oauth_grants.seq)
                      AND NOT EXISTS (SELECT 1 FROM oauth_codes WHERE grant_seq = oauth_grants.seq)"
                ),
            ] {
                gone += write!(unit, sql, before, unused, at_most);
            }
            gone += write!(
                unit,
                "DELETE FROM oauth_access_tokens WHERE hash IN
                 (SELECT hash FROM oauth_access_tokens WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)",
                unused, at_most,
            );
            Ok(gone)
        })
    }
}

struct ForgetClients {
    unused: Timestamp,
    idle: Timestamp,
    at_most: u32,
}

impl Work for ForgetClients {
    type Done = u64;
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<u64, Abort<Self::Refusal>>> {
        let at_most = i64::from(self.at_most);
        Box::pin(async move {
            let unused = write!(
                unit,
                "DELETE FROM oauth_clients WHERE last_used_at IS NULL AND seq IN
                 (SELECT seq FROM oauth_clients WHERE last_used_at IS NULL AND created_at < $1 ORDER BY created_at LIMIT $2)",
                self.unused.as_microsecond(),
                at_most,
            );
            let idle = write!(
                unit,
                "DELETE FROM oauth_clients WHERE seq IN
                 (SELECT seq FROM oauth_clients WHERE last_used_at IS NOT NULL AND last_used_at < $1
                  ORDER BY last_used_at LIMIT $2)",
                self.idle.as_microsecond(),
                at_most,
            );
            Ok(unused + idle)
        })
    }
}
