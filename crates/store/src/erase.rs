//! Taking an account away: what was its owner's goes, and the row that stays says nothing of them.
//!
//! Its alerts are deleted one by one before, each with its history, as their owner would have done it. What has to be counted
//! for a day (how many messages the operator pays for, how many codes a number was sent) is counted on, but not as anybody's.

use jiff::{SignedDuration, Timestamp};

use crate::alerts::{AlertRow, select};
use crate::model::{Account, AccountId, StoredAlert};
use crate::unit::{ask, write};
use crate::{StoreError, Unit};

/// For how long things are counted that limits look at.
const COUNTED_FOR: SignedDuration = SignedDuration::from_hours(24);

impl Unit {
    /// All alerts of an account that are not deleted, kept from changing until the end of the transaction.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn alerts_of_account_to_change(&mut self, account: AccountId) -> Result<Vec<StoredAlert>, StoreError> {
        let sql = if self.link.is_pg() {
            select!("WHERE account_id = $1 AND deleted_at IS NULL ORDER BY seq FOR NO KEY UPDATE")
        } else {
            select!("WHERE account_id = $1 AND deleted_at IS NULL ORDER BY seq")
        };
        let rows = ask!(self, fetch_all AlertRow, sql, account.0);
        rows.into_iter().map(StoredAlert::try_from).collect()
    }

    /// Removes what belongs to an account besides its alerts: webhooks with their deliveries, keys, sessions, what programs were
    /// allowed, codes, messages, feedback and likes, answers kept for repeated requests, the watchlist and its paper trades.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn erase_belongings(&mut self, account: &Account, now: Timestamp) -> Result<(), StoreError> {
        let id = account.id.0;
        for sql in [
            "DELETE FROM delivery_attempts WHERE delivery_seq IN
             (SELECT deliveries.seq FROM deliveries JOIN webhooks ON webhooks.seq = deliveries.webhook_seq
              WHERE webhooks.account_id = $1)",
            "DELETE FROM deliveries WHERE webhook_seq IN (SELECT seq FROM webhooks WHERE account_id = $1)",
            "DELETE FROM webhook_former_secrets WHERE webhook_seq IN (SELECT seq FROM webhooks WHERE account_id = $1)",
            "DELETE FROM webhooks WHERE account_id = $1",
            "DELETE FROM api_keys WHERE account_id = $1",
            "DELETE FROM refresh_tokens WHERE session_seq IN (SELECT seq FROM sessions WHERE account_id = $1)",
            "DELETE FROM sessions WHERE account_id = $1",
            "DELETE FROM oauth_access_tokens WHERE grant_seq IN (SELECT seq FROM oauth_grants WHERE account_id = $1)",
            "DELETE FROM oauth_refresh_tokens WHERE grant_seq IN (SELECT seq FROM oauth_grants WHERE account_id = $1)",
            "DELETE FROM oauth_codes WHERE grant_seq IN (SELECT seq FROM oauth_grants WHERE account_id = $1)",
            "DELETE FROM oauth_grants WHERE account_id = $1",
            "DELETE FROM repeatable_requests WHERE requester_id = $1",
            "UPDATE feedback SET likes = likes - 1 WHERE seq IN
             (SELECT feedback_seq FROM feedback_likes WHERE account_id = $1)",
            "DELETE FROM feedback_likes WHERE account_id = $1 OR feedback_seq IN
             (SELECT seq FROM feedback WHERE account_id = $1)",
            "DELETE FROM feedback WHERE account_id = $1",
            "DELETE FROM blind_stretches WHERE account_id = $1",
            "DELETE FROM approvals WHERE account_id = $1",
            "DELETE FROM analyst_queue WHERE account_id = $1",
            "DELETE FROM paper_returns WHERE account_id = $1",
            "DELETE FROM paper_progress WHERE account_id = $1",
            "DELETE FROM paper_trades WHERE account_id = $1",
            "DELETE FROM watchlist_items WHERE account_id = $1",
        ] {
            write!(self, sql, id);
        }
        self.erase_messages(account, now).await
    }

    async fn erase_messages(&mut self, account: &Account, now: Timestamp) -> Result<(), StoreError> {
        let id = account.id.0;
        // Those to addresses and numbers that were the account's before, too. What was kept has the message's id.
        let sql = "DELETE FROM outbox WHERE id IN (SELECT id FROM messages WHERE account_id = $1)";
        write!(self, sql, id);
        let counted = now
            .saturating_sub(COUNTED_FOR)
            .unwrap_or(Timestamp::MIN)
            .as_microsecond();
        write!(
            self,
            "DELETE FROM messages WHERE account_id = $1 AND (status = 'pending' OR COALESCE(admitted_at, $2) <= $2)",
            id, counted,
        );
        let sql = "UPDATE messages SET account_id = NULL, recipient = NULL, content = NULL, alert_seq = NULL,
                   event_seq = NULL WHERE account_id = $1";
        write!(self, sql, id);
        let phone = account.profile.phone.as_ref().map(|phone| phone.number.as_str());
        let sql = "DELETE FROM outbox WHERE recipient = $1 OR recipient = $2";
        write!(self, sql, &account.email, phone.unwrap_or(&account.email));
        write!(
            self,
            "DELETE FROM codes WHERE account_id = $1 AND created_at <= $2",
            id, counted
        );
        let sql =
            "UPDATE codes SET account_id = NULL, payload = NULL, used_at = COALESCE(used_at, $2) WHERE account_id = $1";
        write!(self, sql, id, now.as_microsecond());
        Ok(())
    }
}
