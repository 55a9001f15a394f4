//! Accounts. Deleted accounts are never returned.

use alerts::Plan;
use jiff::Timestamp;
use uuid::Uuid;

use crate::bulk::{Statement, fetch_many};
use crate::columns::{Table, values};
use crate::database::query;
use crate::model::{Account, AccountId, Page, PageRequest, Phone, Profile, QuietHours};
use crate::sqlite::row;
use crate::unit_of_work::{fetch, select_locked, write_rows};
use crate::{Store, StoreError, UnitOfWork};

const TABLE: Table = Table("accounts");

/// The columns that [`AccountRow`] is read from.
macro_rules! account_columns {
    () => {
        "id, email, password_hash, full_name, plan, is_operator, is_verified, time_zone, created_at, phone, \
         phone_verified_at, quiet_from, quiet_until, away_until, agents_wait, notify_blind, deactivated_at, deleted_at"
    };
}
pub(crate) use account_columns;

macro_rules! select {
    ($rest:expr) => {
        concat!("SELECT ", account_columns!(), " FROM accounts ", $rest)
    };
}

/// Accounts by id, including deleted ones.
const BY_ID: Statement = Statement {
    before: select!("WHERE id IN (VALUES "),
    columns: 1,
    after: ")",
};

/// An account, deleted or not.
const ANY_ACCOUNT: &str = "SELECT CAST(1 AS BIGINT) FROM accounts LIMIT 1";

row! {
    pub(crate) struct AccountRow {
        id: Uuid,
        email: String,
        password_hash: Option<String>,
        full_name: Option<String>,
        plan: String,
        is_operator: bool,
        is_verified: bool,
        time_zone: String,
        created_at: i64,
        phone: Option<String>,
        phone_verified_at: Option<i64>,
        quiet_from: Option<i64>,
        quiet_until: Option<i64>,
        away_until: Option<i64>,
        agents_wait: bool,
        notify_blind: bool,
        deactivated_at: Option<i64>,
        deleted_at: Option<i64>,
    }
}

impl TryFrom<AccountRow> for Account {
    type Error = StoreError;

    fn try_from(row: AccountRow) -> Result<Self, StoreError> {
        let profile = Profile {
            phone: match (row.phone, row.phone_verified_at) {
                (Some(number), Some(at)) => Some(Phone {
                    number,
                    verified_at: TABLE.instant(at)?,
                }),
                _ => None,
            },
            quiet_hours: match (row.quiet_from, row.quiet_until) {
                (Some(from), Some(until)) => Some(QuietHours {
                    from: TABLE.narrow("quiet_from", from)?,
                    until: TABLE.narrow("quiet_until", until)?,
                }),
                _ => None,
            },
            away_until: TABLE.optional_instant(row.away_until)?,
            agents_wait: row.agents_wait,
            notify_blind: row.notify_blind,
            deactivated_at: TABLE.optional_instant(row.deactivated_at)?,
            deleted_at: TABLE.optional_instant(row.deleted_at)?,
        };
        Ok(Self {
            id: AccountId(row.id),
            email: row.email,
            password_hash: row.password_hash,
            full_name: row.full_name,
            plan: TABLE.parse("plan", &row.plan, Plan::from_name)?,
            is_operator: row.is_operator,
            is_verified: row.is_verified,
            time_zone: row.time_zone,
            created_at: TABLE.instant(row.created_at)?,
            profile,
        })
    }
}

impl Store {
    /// Returns a page of the accounts, newest first.
    pub async fn accounts_page(&self, page: PageRequest) -> Result<Page<Account>, StoreError> {
        let sql = "SELECT COUNT(*) FROM accounts WHERE deleted_at IS NULL";
        let (total,) = query!(fetch_one(i64,), &self.pools, sql)?;
        let sql = select!("WHERE deleted_at IS NULL ORDER BY created_at DESC, id LIMIT $1 OFFSET $2");
        let (limit, offset) = (i64::from(page.limit), page.offset());
        Ok(Page {
            items: values(query!(fetch_all AccountRow, &self.pools, sql, limit, offset)?)?,
            total: TABLE.narrow("COUNT(*)", total)?,
        })
    }

    /// Returns whether there is an account, deleted or not.
    pub async fn has_accounts(&self) -> Result<bool, StoreError> {
        let found = query!(fetch_optional(i64,), &self.pools, ANY_ACCOUNT);
        Ok(found?.is_some())
    }

    /// Returns an account by id.
    pub async fn account(&self, id: AccountId) -> Result<Option<Account>, StoreError> {
        let row =
            query!(fetch_optional AccountRow, &self.pools, select!("WHERE id = $1 AND deleted_at IS NULL"), id.0)?;
        row.map(Account::try_from).transpose()
    }

    /// Returns the account with an email address. The address must be in lower case.
    pub async fn account_by_email(&self, email: &str) -> Result<Option<Account>, StoreError> {
        if email.contains('\0') {
            return Ok(None);
        }
        let row = query!(fetch_optional AccountRow, &self.pools, select!("WHERE email = $1"), email)?;
        row.map(Account::try_from).transpose()
    }
}

impl UnitOfWork {
    /// Returns accounts by id, in any order and without a lock. Deleted accounts are missing.
    pub async fn accounts(&mut self, ids: &[AccountId]) -> Result<Vec<Account>, StoreError> {
        let rows = fetch_many!(self, AccountRow, BY_ID, ids, |query, id| query.bind(id.0));
        values(rows.into_iter().filter(|row| row.deleted_at.is_none()))
    }

    /// Returns an account and locks it until the end of the transaction. The lock also covers everything that is
    /// counted per account.
    pub async fn lock_account(&mut self, id: AccountId) -> Result<Option<Account>, StoreError> {
        let sql = select_locked!(self, select!("WHERE id = $1 AND deleted_at IS NULL"));
        let row = fetch!(self, fetch_optional AccountRow, sql, id.0);
        row.map(Account::try_from).transpose()
    }

    /// Inserts an account without a profile. Returns `false`, and writes nothing, if the email address is taken.
    pub async fn insert_account(&mut self, account: &Account) -> Result<bool, StoreError> {
        let rows = write_rows!(
            self,
            "INSERT INTO accounts
             (id, email, password_hash, full_name, plan, is_operator, is_verified, time_zone, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
             ON CONFLICT (email) DO NOTHING",
            account.id.0,
            &account.email,
            account.password_hash.as_deref(),
            account.full_name.as_deref(),
            account.plan.name(),
            account.is_operator,
            account.is_verified,
            &account.time_zone,
            account.created_at.as_microsecond(),
        );
        Ok(rows == 1)
    }

    /// Returns whether there is an account, and keeps other callers waiting until the end of the transaction.
    pub async fn has_accounts_locked(&mut self) -> Result<bool, StoreError> {
        if self.connection.is_pg() {
            let lock = "SELECT CAST(pg_advisory_xact_lock(hashtextextended('first account', 0)) AS TEXT)";
            fetch!(self, fetch_one(String,), lock);
        }
        Ok(fetch!(self, fetch_optional(i64,), ANY_ACCOUNT).is_some())
    }

    /// Overwrites an account's fields. Returns `false` if the account does not exist.
    ///
    /// # Errors
    ///
    /// [`StoreError::Database`] also if the email address belongs to another account.
    pub async fn update_account(&mut self, account: &Account) -> Result<bool, StoreError> {
        let profile = &account.profile;
        let rows = write_rows!(
            self,
            "UPDATE accounts SET email = $2, password_hash = $3, full_name = $4, plan = $5, is_operator = $6,
             is_verified = $7, time_zone = $8, phone = $9, phone_verified_at = $10, quiet_from = $11, quiet_until = $12,
             deactivated_at = $13, deleted_at = $14, agents_wait = $15, notify_blind = $16, away_until = $17
             WHERE id = $1",
            account.id.0,
            &account.email,
            account.password_hash.as_deref(),
            account.full_name.as_deref(),
            account.plan.name(),
            account.is_operator,
            account.is_verified,
            &account.time_zone,
            profile.phone.as_ref().map(|phone| phone.number.as_str()),
            profile.phone.as_ref().map(|phone| phone.verified_at.as_microsecond()),
            profile.quiet_hours.map(|hours| i64::from(hours.from)),
            profile.quiet_hours.map(|hours| i64::from(hours.until)),
            profile.deactivated_at.map(Timestamp::as_microsecond),
            profile.deleted_at.map(Timestamp::as_microsecond),
            profile.agents_wait,
            profile.notify_blind,
            profile.away_until.map(Timestamp::as_microsecond),
        );
        Ok(rows == 1)
    }

    /// Returns the account with an email address.
    pub async fn account_by_email(&mut self, email: &str) -> Result<Option<Account>, StoreError> {
        if email.contains('\0') {
            return Ok(None);
        }
        let row = fetch!(self, fetch_optional AccountRow, select!("WHERE email = $1"), email);
        row.map(Account::try_from).transpose()
    }
}
