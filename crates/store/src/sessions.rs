//! Sessions and their refresh tokens.

use jiff::Timestamp;
use uuid::Uuid;

use crate::columns::{Table, values};
use crate::database::query;
use crate::model::{
    Account, AccountId, Browser, OperatingSystem, RefreshOutcome, SessionClient, SessionId, UserSession,
};
use crate::purge::Purge;
use crate::sqlite::row;
use crate::unit_of_work::{fetch, write_rows};
use crate::{Store, StoreError, UnitOfWork};

const TABLE: Table = Table("sessions");

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, account_id, created_at, last_seen_at, expires_at, ended_at, address, browser, system FROM sessions ",
            $rest
        )
    };
}

row! {
    struct SessionRow {
        id: Uuid,
        account_id: Uuid,
        created_at: i64,
        last_seen_at: i64,
        expires_at: i64,
        ended_at: Option<i64>,
        address: Option<String>,
        browser: Option<String>,
        system: Option<String>,
    }
}

impl SessionRow {
    fn client(&self) -> Result<Option<SessionClient>, StoreError> {
        let (Some(address), Some(browser), Some(system)) = (&self.address, &self.browser, &self.system) else {
            return Ok(None);
        };
        Ok(Some(SessionClient {
            address: TABLE.parse("address", address, |text| text.parse().ok())?,
            browser: TABLE.parse("browser", browser, Browser::from_name)?,
            system: TABLE.parse("system", system, OperatingSystem::from_name)?,
        }))
    }
}

impl TryFrom<SessionRow> for UserSession {
    type Error = StoreError;

    fn try_from(row: SessionRow) -> Result<Self, StoreError> {
        Ok(Self {
            client: row.client()?,
            id: SessionId(row.id),
            account: AccountId(row.account_id),
            created_at: TABLE.instant(row.created_at)?,
            last_seen_at: TABLE.instant(row.last_seen_at)?,
            expires_at: TABLE.instant(row.expires_at)?,
            ended_at: TABLE.optional_instant(row.ended_at)?,
        })
    }
}

/// Expired sessions and codes.
const EXPIRED_SESSIONS_AND_CODES: Purge = Purge {
    dependents: &["DELETE FROM refresh_tokens WHERE session_seq IN
         (SELECT seq FROM sessions WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)"],
    counted: &[
        "DELETE FROM sessions WHERE seq IN
         (SELECT seq FROM sessions WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)",
        "DELETE FROM codes WHERE seq IN
         (SELECT seq FROM codes WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)",
    ],
};

impl Store {
    /// Returns a session with its account, live or not.
    pub async fn session(&self, id: SessionId) -> Result<Option<(UserSession, Account)>, StoreError> {
        let row = query!(fetch_optional SessionRow, &self.pools, select!("WHERE id = $1"), id.0)?;
        self.with_account(row).await
    }

    /// Returns the session of a cookie with its account, live or not.
    pub async fn session_by_cookie(&self, hash: [u8; 32]) -> Result<Option<(UserSession, Account)>, StoreError> {
        let row = query!(fetch_optional SessionRow, &self.pools, select!("WHERE cookie_hash = $1"), &hash[..])?;
        self.with_account(row).await
    }

    async fn with_account(&self, row: Option<SessionRow>) -> Result<Option<(UserSession, Account)>, StoreError> {
        let Some(row) = row else { return Ok(None) };
        let session = UserSession::try_from(row)?;
        let account = self.account(session.account).await?;
        Ok(account.map(|account| (session, account)))
    }

    /// Returns all stored sessions of an account, oldest first.
    pub async fn sessions(&self, account: AccountId) -> Result<Vec<UserSession>, StoreError> {
        let sql = select!("WHERE account_id = $1 ORDER BY seq");
        values(query!(fetch_all SessionRow, &self.pools, sql, account.0)?)
    }

    /// Returns the sessions of an account that are valid at `now`, the last used first, at most `limit`.
    pub async fn live_sessions(
        &self,
        account: AccountId,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<UserSession>, StoreError> {
        let sql = select!(
            "WHERE account_id = $1 AND ended_at IS NULL AND expires_at > $2 ORDER BY last_seen_at DESC, seq DESC LIMIT $3"
        );
        let (now, limit) = (now.as_microsecond(), i64::from(limit));
        values(query!(fetch_all SessionRow, &self.pools, sql, account.0, now, limit)?)
    }

    /// Records that a session was used by a client, and extends it.
    pub async fn touch_session(
        &self,
        id: SessionId,
        at: Timestamp,
        expires_at: Timestamp,
        client: Option<SessionClient>,
    ) -> Result<(), StoreError> {
        self.commit((), move |(), unit| {
            Box::pin(unit.touch_session(id, at, expires_at, client))
        })
        .await
    }

    /// Deletes sessions that ended before `before`, with their tokens, and codes that expired before then: at most
    /// `limit` of each. Returns the number deleted.
    pub async fn purge_sessions_and_codes(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.purge(EXPIRED_SESSIONS_AND_CODES, before, limit).await
    }
}

impl UnitOfWork {
    /// Inserts a session. `cookie_hash` is the hash of its cookie, if it has one.
    pub async fn insert_session(
        &mut self,
        session: &UserSession,
        cookie_hash: Option<[u8; 32]>,
    ) -> Result<(), StoreError> {
        write_rows!(
            self,
            "INSERT INTO sessions (id, account_id, cookie_hash, created_at, last_seen_at, expires_at, ended_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
            session.id.0,
            session.account.0,
            cookie_hash.map(|hash| hash.to_vec()),
            session.created_at.as_microsecond(),
            session.last_seen_at.as_microsecond(),
            session.expires_at.as_microsecond(),
            session.ended_at.map(Timestamp::as_microsecond),
        );
        Ok(())
    }

    /// Returns a session, live or not.
    pub async fn session(&mut self, id: SessionId) -> Result<Option<UserSession>, StoreError> {
        let row = fetch!(self, fetch_optional SessionRow, select!("WHERE id = $1"), id.0);
        row.map(UserSession::try_from).transpose()
    }

    /// Records that a session was used by a client, and extends it. An ended session remains ended.
    pub async fn touch_session(
        &mut self,
        id: SessionId,
        at: Timestamp,
        expires_at: Timestamp,
        client: Option<SessionClient>,
    ) -> Result<(), StoreError> {
        write_rows!(
            self,
            "UPDATE sessions SET last_seen_at = $2, expires_at = $3, address = COALESCE($4, address),
             browser = COALESCE($5, browser), system = COALESCE($6, system)
             WHERE id = $1 AND ended_at IS NULL AND last_seen_at <= $2",
            id.0,
            at.as_microsecond(),
            expires_at.as_microsecond(),
            client.map(|client| client.address.to_string()),
            client.map(|client| client.browser.name()),
            client.map(|client| client.system.name()),
        );
        Ok(())
    }

    /// Inserts a refresh token of a session. Returns `false` if there is no such session.
    pub async fn insert_refresh_token(
        &mut self,
        session: SessionId,
        hash: [u8; 32],
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let rows = write_rows!(
            self,
            "INSERT INTO refresh_tokens (hash, session_seq, created_at)
             SELECT $2, seq, $3 FROM sessions WHERE id = $1",
            session.0,
            &hash[..],
            at.as_microsecond(),
        );
        Ok(rows == 1)
    }

    /// Uses a refresh token. If it was used before, its session is ended: one of the two uses was a theft.
    pub async fn use_refresh_token(&mut self, hash: [u8; 32], at: Timestamp) -> Result<RefreshOutcome, StoreError> {
        let micros = at.as_microsecond();
        // The number of written rows decides: of concurrent uses, one finds the token unused.
        let sql = "UPDATE refresh_tokens SET used_at = $2 WHERE hash = $1 AND used_at IS NULL";
        let is_first = write_rows!(self, sql, &hash[..], micros) == 1;
        let sql = select!("WHERE seq = (SELECT session_seq FROM refresh_tokens WHERE hash = $1)");
        let Some(row) = fetch!(self, fetch_optional SessionRow, sql, &hash[..]) else {
            return Ok(RefreshOutcome::Unknown);
        };
        let session = UserSession::try_from(row)?;
        if !is_first {
            self.end_session(session.account, session.id, at).await?;
            return Ok(RefreshOutcome::Reused(session));
        }
        let account = self.lock_account(session.account).await?;
        // Read again under the account's lock: a transaction that ends sessions either holds this lock or is visible
        // here.
        let session = self.session(session.id).await?;
        Ok(match (session, account) {
            (Some(session), Some(account)) if session.is_live(at) => {
                RefreshOutcome::Valid(Box::new((session, account)))
            }
            _ => RefreshOutcome::Unknown,
        })
    }

    /// Ends a session of an account. Returns `false` if the account has no such session, or it had ended before.
    pub async fn end_session(&mut self, account: AccountId, id: SessionId, at: Timestamp) -> Result<bool, StoreError> {
        let sql = "UPDATE sessions SET ended_at = $3 WHERE account_id = $1 AND id = $2 AND ended_at IS NULL";
        Ok(write_rows!(self, sql, account.0, id.0, at.as_microsecond()) == 1)
    }

    /// Ends all sessions of an account, except one if given. Returns their number.
    pub async fn end_sessions(
        &mut self,
        account: AccountId,
        except: Option<SessionId>,
        at: Timestamp,
    ) -> Result<u64, StoreError> {
        let at = at.as_microsecond();
        Ok(match except {
            Some(except) => {
                let sql = "UPDATE sessions SET ended_at = $2 WHERE account_id = $1 AND ended_at IS NULL AND id <> $3";
                write_rows!(self, sql, account.0, at, except.0)
            }
            None => {
                let sql = "UPDATE sessions SET ended_at = $2 WHERE account_id = $1 AND ended_at IS NULL";
                write_rows!(self, sql, account.0, at)
            }
        })
    }
}
