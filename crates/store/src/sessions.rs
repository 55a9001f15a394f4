//! Sessions and their refresh tokens.

use jiff::Timestamp;
use uuid::Uuid;

use crate::columns::Table;
use crate::database::query;
use crate::forget::Forget;
use crate::model::{Account, AccountId, Refreshed, Session, SessionId};
use crate::unit::{ask, write};
use crate::{Abort, BoxFuture, Store, StoreError, Unit, Work};

const TABLE: Table = Table("sessions");

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, account_id, created_at, last_seen_at, expires_at, ended_at FROM sessions ",
            $rest
        )
    };
}

#[derive(sqlx_macros::FromRow)]
struct SessionRow {
    id: Uuid,
    account_id: Uuid,
    created_at: i64,
    last_seen_at: i64,
    expires_at: i64,
    ended_at: Option<i64>,
}

impl TryFrom<SessionRow> for Session {
    type Error = StoreError;

    fn try_from(row: SessionRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: SessionId(row.id),
            account: AccountId(row.account_id),
            created_at: TABLE.instant(row.created_at)?,
            last_seen_at: TABLE.instant(row.last_seen_at)?,
            expires_at: TABLE.instant(row.expires_at)?,
            ended_at: TABLE.instant_if_any(row.ended_at)?,
        })
    }
}

/// What is over.
const OVER: Forget = Forget {
    with_them: &["DELETE FROM refresh_tokens WHERE session_seq IN
         (SELECT seq FROM sessions WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)"],
    counted: &[
        "DELETE FROM sessions WHERE seq IN
         (SELECT seq FROM sessions WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)",
        "DELETE FROM codes WHERE seq IN
         (SELECT seq FROM codes WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)",
    ],
};

impl Store {
    /// A session with its account, whether it is over or not.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn session(&self, id: SessionId) -> Result<Option<(Session, Account)>, StoreError> {
        let row = query!(fetch_optional SessionRow, &self.pools, select!("WHERE id = $1"), id.0)?;
        self.with_account(row).await
    }

    /// The session of a cookie with its account, whether it is over or not.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn session_by_cookie(&self, hash: [u8; 32]) -> Result<Option<(Session, Account)>, StoreError> {
        let row = query!(fetch_optional SessionRow, &self.pools, select!("WHERE cookie_hash = $1"), &hash[..])?;
        self.with_account(row).await
    }

    async fn with_account(&self, row: Option<SessionRow>) -> Result<Option<(Session, Account)>, StoreError> {
        let Some(row) = row else { return Ok(None) };
        let session = Session::try_from(row)?;
        let account = self.account(session.account).await?;
        Ok(account.map(|account| (session, account)))
    }

    /// All sessions of an account that are kept, oldest first.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn sessions(&self, account: AccountId) -> Result<Vec<Session>, StoreError> {
        let sql = select!("WHERE account_id = $1 ORDER BY seq");
        let rows = query!(fetch_all SessionRow, &self.pools, sql, account.0)?;
        rows.into_iter().map(Session::try_from).collect()
    }

    /// Notes that a session was used, and until when it goes on for that.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn touch_session(&self, id: SessionId, at: Timestamp, expires_at: Timestamp) -> Result<(), StoreError> {
        let touched = self.write(Touch { id, at, expires_at }).await;
        touched.map_err(|abort| match abort {
            Abort::Store(error) => error,
            Abort::Refused(never) => match never {},
        })
    }

    /// Removes sessions that ended before `before`, with their tokens, and codes whose time was over by then: at most
    /// so many of each. Says how many.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn forget_sessions_and_codes(&self, before: Timestamp, at_most: u32) -> Result<u64, StoreError> {
        self.forget(OVER, before, at_most).await
    }
}

/// Notes that a session was used.
struct Touch {
    id: SessionId,
    at: Timestamp,
    expires_at: Timestamp,
}

impl Work for Touch {
    type Done = ();
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<(), Abort<Self::Refusal>>> {
        Box::pin(async move { Ok(unit.touch_session(self.id, self.at, self.expires_at).await?) })
    }
}

impl Unit {
    /// Adds a session, with the hash of its cookie if a browser may have it.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn insert_session(&mut self, session: &Session, cookie_hash: Option<[u8; 32]>) -> Result<(), StoreError> {
        write!(
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

    /// A session, whether it is over or not.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn session(&mut self, id: SessionId) -> Result<Option<Session>, StoreError> {
        let row = ask!(self, fetch_optional SessionRow, select!("WHERE id = $1"), id.0);
        row.map(Session::try_from).transpose()
    }

    /// Notes that a session was used, and until when it goes on for that. One that was ended stays so.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn touch_session(
        &mut self,
        id: SessionId,
        at: Timestamp,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        write!(
            self,
            "UPDATE sessions SET last_seen_at = $2, expires_at = $3
             WHERE id = $1 AND ended_at IS NULL AND last_seen_at < $2",
            id.0,
            at.as_microsecond(),
            expires_at.as_microsecond(),
        );
        Ok(())
    }

    /// Adds a refresh token to a session. `false`: there is no such session.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn insert_refresh_token(
        &mut self,
        session: SessionId,
        hash: [u8; 32],
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let rows = write!(
            self,
            "INSERT INTO refresh_tokens (hash, session_seq, created_at)
             SELECT $2, seq, $3 FROM sessions WHERE id = $1",
            session.0,
            &hash[..],
            at.as_microsecond(),
        );
        Ok(rows == 1)
    }

    /// Uses a refresh token up. One that was used before ends its session: either it was stolen, or the one who used it
    /// first has stolen it.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn use_refresh_token(&mut self, hash: [u8; 32], at: Timestamp) -> Result<Refreshed, StoreError> {
        let micros = at.as_microsecond();
        // What decides is how many rows are written: of any number at once one finds the token unused.
        let sql = "UPDATE refresh_tokens SET used_at = $2 WHERE hash = $1 AND used_at IS NULL";
        let is_first = write!(self, sql, &hash[..], micros) == 1;
        let sql = select!("WHERE seq = (SELECT session_seq FROM refresh_tokens WHERE hash = $1)");
        let Some(row) = ask!(self, fetch_optional SessionRow, sql, &hash[..]) else {
            return Ok(Refreshed::Unknown);
        };
        let session = Session::try_from(row)?;
        if !is_first {
            self.end_session(session.account, session.id, at).await?;
            return Ok(Refreshed::Reused(session));
        }
        let account = self.lock_account(session.account).await?;
        // Read again under the account's lock: whoever ends sessions holds it, or is seen here.
        let session = self.session(session.id).await?;
        Ok(match (session, account) {
            (Some(session), Some(account)) if session.is_live(at) => Refreshed::Good(Box::new((session, account))),
            _ => Refreshed::Unknown,
        })
    }

    /// Ends a session of an account. `false`: it has none such, or it was ended before.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn end_session(&mut self, account: AccountId, id: SessionId, at: Timestamp) -> Result<bool, StoreError> {
        let sql = "UPDATE sessions SET ended_at = $3 WHERE account_id = $1 AND id = $2 AND ended_at IS NULL";
        Ok(write!(self, sql, account.0, id.0, at.as_microsecond()) == 1)
    }

    /// Ends all sessions of an account, but for one if it is given. Says how many.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn end_sessions(
        &mut self,
        account: AccountId,
        but: Option<SessionId>,
        at: Timestamp,
    ) -> Result<u64, StoreError> {
        let at = at.as_microsecond();
        Ok(match but {
            Some(but) => {
                let sql = "UPDATE sessions SET ended_at = $2 WHERE account_id = $1 AND ended_at IS NULL AND id <> $3";
                write!(self, sql, account.0, at, but.0)
            }
            None => {
                let sql = "UPDATE sessions SET ended_at = $2 WHERE account_id = $1 AND ended_at IS NULL";
                write!(self, sql, account.0, at)
            }
        })
    }
}
