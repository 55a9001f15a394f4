//! Purges expired grants and unused clients.

use jiff::Timestamp;

use crate::unit_of_work::write_rows;
use crate::{Store, StoreError};

/// The grants to delete, selected by `$1`, `$2` and `$3`.
macro_rules! with_expired_grants {
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

/// Deletes expired grants. A grant may have very many tokens, so it is deleted after all of them.
const EXPIRED_GRANTS: [&str; 4] = [
    with_expired_grants!(
        "DELETE FROM oauth_access_tokens WHERE hash IN (SELECT hash FROM oauth_access_tokens WHERE grant_seq IN ",
        " LIMIT $3)"
    ),
    with_expired_grants!(
        "DELETE FROM oauth_refresh_tokens WHERE hash IN (SELECT hash FROM oauth_refresh_tokens WHERE grant_seq IN ",
        " LIMIT $3)"
    ),
    with_expired_grants!(
        "DELETE FROM oauth_codes WHERE hash IN (SELECT hash FROM oauth_codes WHERE grant_seq IN ",
        " LIMIT $3)"
    ),
    with_expired_grants!(
        "DELETE FROM oauth_grants WHERE seq IN ",
        " AND NOT EXISTS (SELECT 1 FROM oauth_access_tokens WHERE grant_seq = oauth_grants.seq)
          AND NOT EXISTS (SELECT 1 FROM oauth_refresh_tokens WHERE grant_seq = oauth_grants.seq)
          AND NOT EXISTS (SELECT 1 FROM oauth_codes WHERE grant_seq = oauth_grants.seq)"
    ),
];

impl Store {
    /// Deletes grants that were over before `before`, with their codes and tokens. Used refresh tokens are kept as
    /// long as their grant is live, because presenting one again ends the grant. Also deletes data that was over
    /// before `unused` and that no client will present again: grants without tokens, and access tokens. Deletes at
    /// most `limit` rows of each kind and returns the total; 0 means that nothing is left to delete.
    pub async fn purge_grants(&self, before: Timestamp, unused: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let inputs = (before.as_microsecond(), unused.as_microsecond(), i64::from(limit));
        let transaction = self.commit(inputs, |&(before, unused, limit), unit| {
            Box::pin(async move {
                let mut removed = 0;
                for sql in EXPIRED_GRANTS {
                    removed += write_rows!(unit, sql, before, unused, limit);
                }
                let sql = "DELETE FROM oauth_access_tokens WHERE hash IN
                           (SELECT hash FROM oauth_access_tokens WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)";
                Ok(removed + write_rows!(unit, sql, unused, limit))
            })
        });
        transaction.await
    }

    /// Deletes clients without any grant that registered before `unused`, and clients not used since `idle`: at most
    /// `limit` of each. Returns the number deleted.
    pub async fn purge_oauth_clients(&self, unused: Timestamp, idle: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let inputs = (unused.as_microsecond(), idle.as_microsecond(), i64::from(limit));
        let transaction = self.commit(inputs, |&(unused, idle, limit), unit| {
            Box::pin(async move {
                let sql = "DELETE FROM oauth_clients WHERE last_used_at IS NULL AND seq IN
                           (SELECT seq FROM oauth_clients WHERE last_used_at IS NULL AND created_at < $1
                            ORDER BY created_at LIMIT $2)";
                let unused = write_rows!(unit, sql, unused, limit);
                let sql = "DELETE FROM oauth_clients WHERE seq IN
                           (SELECT seq FROM oauth_clients WHERE last_used_at IS NOT NULL AND last_used_at < $1
                            ORDER BY last_used_at LIMIT $2)";
                Ok(unused + write_rows!(unit, sql, idle, limit))
            })
        });
        transaction.await
    }
}
