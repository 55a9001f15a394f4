//! Access tokens and refresh tokens.

use jiff::Timestamp;

use super::grants::TABLE;
use crate::columns::json_list;
use crate::database::query;
use crate::model::{Grant, GrantId, NewTokens, PresentedToken};
use crate::unit_of_work::{fetch, write_rows};
use crate::{Store, StoreError, UnitOfWork};

impl Store {
    /// Returns an access token with its grant and account, valid or not.
    pub async fn grant_access_token(&self, hash: [u8; 32]) -> Result<Option<PresentedToken>, StoreError> {
        let sql = "SELECT grant_seq, scopes, expires_at FROM oauth_access_tokens WHERE hash = $1";
        let row = query!(fetch_optional(i64, String, i64), &self.pools, sql, &hash[..])?;
        let Some((grant, scopes, expires_at)) = row else {
            return Ok(None);
        };
        let Some(grant) = self.grant_by_seq(grant).await? else {
            return Ok(None);
        };
        let Some(account) = self.account(grant.account).await? else {
            return Ok(None);
        };
        Ok(Some(PresentedToken {
            scopes: TABLE.list(&scopes)?,
            expires_at: TABLE.instant(expires_at)?,
            grant,
            account,
        }))
    }
}

impl UnitOfWork {
    /// Inserts tokens of a grant. Returns `false` if there is no such grant.
    pub async fn insert_grant_tokens(
        &mut self,
        grant: GrantId,
        tokens: &NewTokens,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        write_rows!(
            self,
            "INSERT INTO oauth_access_tokens (hash, grant_seq, scopes, expires_at)
             SELECT $2, seq, $3, $4 FROM oauth_grants WHERE id = $1",
            grant.0,
            &tokens.access[..],
            json_list(&tokens.scopes),
            tokens.expires_at.as_microsecond(),
        );
        let rows = write_rows!(
            self,
            "INSERT INTO oauth_refresh_tokens (hash, grant_seq, created_at)
             SELECT $2, seq, $3 FROM oauth_grants WHERE id = $1",
            grant.0,
            &tokens.refresh[..],
            at.as_microsecond(),
        );
        Ok(rows == 1)
    }

    /// Returns the grant of a refresh token, and whether the token was used before.
    pub async fn grant_of_refresh_token(&mut self, hash: [u8; 32]) -> Result<Option<(Grant, bool)>, StoreError> {
        let sql = "SELECT grant_seq, used_at FROM oauth_refresh_tokens WHERE hash = $1";
        let Some((grant, used_at)) = fetch!(self, fetch_optional(i64, Option<i64>), sql, &hash[..]) else {
            return Ok(None);
        };
        Ok(self.grant_row(grant).await?.map(|grant| (grant, used_at.is_some())))
    }

    /// Returns the creation time of the grant's refresh token that `offset` newer ones follow, if it is stored.
    pub async fn nth_newest_refresh_token_created_at(
        &mut self,
        grant: GrantId,
        offset: u32,
    ) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT created_at FROM oauth_refresh_tokens
                   WHERE grant_seq = (SELECT seq FROM oauth_grants WHERE id = $1)
                   ORDER BY created_at DESC LIMIT 1 OFFSET $2";
        let found = fetch!(self, fetch_optional(i64,), sql, grant.0, i64::from(offset));
        found.map(|(at,)| TABLE.instant(at)).transpose()
    }

    /// Uses a refresh token. Returns `false` if it was used before. Of concurrent uses, one succeeds.
    pub async fn use_grant_refresh_token(&mut self, hash: [u8; 32], at: Timestamp) -> Result<bool, StoreError> {
        let sql = "UPDATE oauth_refresh_tokens SET used_at = $2 WHERE hash = $1 AND used_at IS NULL";
        Ok(write_rows!(self, sql, &hash[..], at.as_microsecond()) == 1)
    }

    /// Returns the grant of an access token.
    pub async fn grant_of_access_token(&mut self, hash: [u8; 32]) -> Result<Option<Grant>, StoreError> {
        let sql = "SELECT grant_seq FROM oauth_access_tokens WHERE hash = $1";
        match fetch!(self, fetch_optional(i64,), sql, &hash[..]) {
            Some((grant,)) => self.grant_row(grant).await,
            None => Ok(None),
        }
    }

    /// Deletes one access token. Everything else of its grant remains. Returns `false` if there is no such token.
    pub async fn delete_grant_access_token(&mut self, hash: [u8; 32]) -> Result<bool, StoreError> {
        Ok(write_rows!(self, "DELETE FROM oauth_access_tokens WHERE hash = $1", &hash[..]) == 1)
    }
}
