//! Authorization codes. Each is exchanged once for a grant's first tokens.

use jiff::Timestamp;

use super::grants::TABLE;
use crate::model::{AuthorizationCode, GrantId, PresentedCode};
use crate::sqlite::row;
use crate::unit_of_work::{fetch, write_rows};
use crate::{StoreError, UnitOfWork};

row! {
    struct CodeRow {
        grant_seq: i64,
        redirect_uri: String,
        challenge: String,
        expires_at: i64,
        used_at: Option<i64>,
    }
}

impl UnitOfWork {
    /// Inserts an authorization code of a grant. Returns `false` if there is no such grant.
    pub async fn insert_authorization_code(
        &mut self,
        grant: GrantId,
        code: &AuthorizationCode,
    ) -> Result<bool, StoreError> {
        let rows = write_rows!(
            self,
            "INSERT INTO oauth_codes (hash, grant_seq, redirect_uri, challenge, expires_at)
             SELECT $2, seq, $3, $4, $5 FROM oauth_grants WHERE id = $1",
            grant.0,
            &code.hash[..],
            &code.redirect_uri,
            &code.challenge,
            code.expires_at.as_microsecond(),
        );
        Ok(rows == 1)
    }

    /// Returns an authorization code with its grant, in any state.
    pub async fn authorization_code(&mut self, hash: [u8; 32]) -> Result<Option<PresentedCode>, StoreError> {
        let sql = "SELECT grant_seq, redirect_uri, challenge, expires_at, used_at FROM oauth_codes WHERE hash = $1";
        let Some(row) = fetch!(self, fetch_optional CodeRow, sql, &hash[..]) else {
            return Ok(None);
        };
        let Some(grant) = self.grant_row(row.grant_seq).await? else {
            return Ok(None);
        };
        Ok(Some(PresentedCode {
            code: AuthorizationCode {
                hash,
                redirect_uri: row.redirect_uri,
                challenge: row.challenge,
                expires_at: TABLE.instant(row.expires_at)?,
            },
            is_used: row.used_at.is_some(),
            grant,
        }))
    }

    /// Uses an authorization code. Returns `false` if it was used before. Of concurrent uses, one succeeds.
    pub async fn use_authorization_code(&mut self, hash: [u8; 32], at: Timestamp) -> Result<bool, StoreError> {
        let sql = "UPDATE oauth_codes SET used_at = $2 WHERE hash = $1 AND used_at IS NULL";
        Ok(write_rows!(self, sql, &hash[..], at.as_microsecond()) == 1)
    }
}
