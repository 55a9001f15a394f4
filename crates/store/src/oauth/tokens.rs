//! Access tokens and refresh tokens.

use jiff::Timestamp;

use super::grants::{TABLE, scopes, scopes_text};
use crate::database::query;
use crate::model::{Grant, GrantId, NewTokens, ShownToken};
use crate::unit::{ask, write};
use crate::{Store, StoreError, Unit};

impl Store {
    /// An access token with its grant and account, whether they are over or not.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn grant_access_token(&self, hash: [u8; 32]) -> Result<Option<ShownToken>, StoreError> {
        let sql = "SELECT grant_seq, scopes, expires_at FROM oauth_access_tokens WHERE hash = $1";
        let row = query!(fetch_optional(i64, String, i64), &self.pools, sql, &hash[..])?;
        let Some((grant, kept, expires_at)) = row else {
            return Ok(None);
        };
        let Some(grant) = self.grant_by_seq(grant).await? else {
            return Ok(None);
        };
        let Some(account) = self.account(grant.account).await? else {
            return Ok(None);
        };
        Ok(Some(ShownToken {
            scopes: scopes(&kept)?,
            expires_at: TABLE.instant(expires_at)?,
            grant,
            account,
        }))
    }
}

impl Unit {
    /// Adds tokens of a grant. `false`: there is no such grant.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn insert_grant_tokens(
        &mut self,
        grant: GrantId,
        tokens: &NewTokens,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let kept = scopes_text(&tokens.scopes)?;
        write!(
            self,
            "INSERT INTO oauth_access_tokens (hash, grant_seq, scopes, expires_at)
             SELECT $2, seq, $3, $4 FROM oauth_grants WHERE id = $1",
            grant.0,
            &tokens.access[..],
            &kept,
            tokens.expires_at.as_microsecond(),
        );
        let rows = write!(
            self,
            "INSERT INTO oauth_refresh_tokens (hash, grant_seq, created_at)
             SELECT $2, seq, $3 FROM oauth_grants WHERE id = $1",
            grant.0,
            &tokens.refresh[..],
            at.as_microsecond(),
        );
        Ok(rows == 1)
    }

    /// The grant of a refresh token, and whether the token was used before.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn grant_of_refresh_token(&mut self, hash: [u8; 32]) -> Result<Option<(Grant, bool)>, StoreError> {
        let sql = "SELECT grant_seq, used_at FROM oauth_refresh_tokens WHERE hash = $1";
        let Some((grant, used_at)) = ask!(self, fetch_optional(i64, Option<i64>), sql, &hash[..]) else {
            return Ok(None);
        };
        Ok(self.grant_row(grant).await?.map(|grant| (grant, used_at.is_some())))
    }

    /// When the refresh token of a grant was made that `newer` others came after, if it is kept.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn refresh_token_made_before(
        &mut self,
        grant: GrantId,
        newer: u32,
    ) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT created_at FROM oauth_refresh_tokens
                   WHERE grant_seq = (SELECT seq FROM oauth_grants WHERE id = $1)
                   ORDER BY created_at DESC LIMIT 1 OFFSET $2";
        let found = ask!(self, fetch_optional(i64,), sql, grant.0, i64::from(newer));
        found.map(|(at,)| TABLE.instant(at)).transpose()
    }

    /// Uses a refresh token up. `false`: it was used before. Of any number at once one is first.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn use_grant_refresh_token(&mut self, hash: [u8; 32], at: Timestamp) -> Result<bool, StoreError> {
        let sql = "UPDATE oauth_refresh_tokens SET used_at = $2 WHERE hash = $1 AND used_at IS NULL";
        Ok(write!(self, sql, &hash[..], at.as_microsecond()) == 1)
    }

    /// The grant of an access token.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn grant_of_access_token(&mut self, hash: [u8; 32]) -> Result<Option<Grant>, StoreError> {
        let sql = "SELECT grant_seq FROM oauth_access_tokens WHERE hash = $1";
        match ask!(self, fetch_optional(i64,), sql, &hash[..]) {
            Some((grant,)) => self.grant_row(grant).await,
            None => Ok(None),
        }
    }

    /// Takes one access token away; all else of its grant stays. `false`: there is no such token.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn delete_grant_access_token(&mut self, hash: [u8; 32]) -> Result<bool, StoreError> {
        Ok(write!(self, "DELETE FROM oauth_access_tokens WHERE hash = $1", &hash[..]) == 1)
    }
}
