//! Erases an account: deletes its owner's data and leaves an anonymous row.
//!
//! Its alerts are deleted one by one before, each with a history entry. Rows that limits still count for a day
//! (messages paid by the operator, codes sent to a number) remain without a reference to the account.

use jiff::{SignedDuration, Timestamp};

use crate::alerts::{AlertRow, select};
use crate::columns::values;
use crate::model::{Account, AccountId, StoredAlert};
use crate::unit_of_work::{fetch, select_locked, write_rows};
use crate::{StoreError, UnitOfWork};

/// The longest period over which limits count.
const LIMIT_WINDOW: SignedDuration = SignedDuration::from_hours(24);

impl UnitOfWork {
    /// Returns all alerts of an account and locks them until the end of the transaction. Deleted alerts are missing.
    pub async fn lock_alerts_of_account(&mut self, account: AccountId) -> Result<Vec<StoredAlert>, StoreError> {
        let sql = select_locked!(
            self,
            select!("WHERE account_id = $1 AND deleted_at IS NULL ORDER BY seq")
        );
        values(fetch!(self, fetch_all AlertRow, sql, account.0))
    }

    /// Deletes everything of an account except its alerts: notification channels and routes, webhooks with their deliveries, keys, sessions, OAuth
    /// grants, codes, messages, feedback and likes, stored responses, the notes, tags, routings and sources of alerts, the acknowledgements of firings, the
    /// watchlist and its paper trades.
    pub async fn erase_account_data(&mut self, account: &Account, now: Timestamp) -> Result<(), StoreError> {
        let id = account.id.0;
        self.erase_deliveries(account.id).await?;
        for sql in [
            "DELETE FROM notification_channels WHERE account_id = $1",
            "DELETE FROM notification_routes WHERE account_id = $1",
            "DELETE FROM escalations WHERE account_id = $1",
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
            "DELETE FROM undo_states WHERE account_id = $1",
            "DELETE FROM acknowledgements WHERE account_id = $1",
            "UPDATE history SET details = NULL WHERE action = 'acknowledged'
             AND alert_seq IN (SELECT seq FROM alerts WHERE account_id = $1)",
            "DELETE FROM alert_tags WHERE account_id = $1",
            "UPDATE alerts SET note = NULL, tags = NULL, routing = NULL, templates = NULL, managed_source = NULL, managed_name = NULL
             WHERE account_id = $1 AND (note IS NOT NULL OR tags IS NOT NULL OR routing IS NOT NULL OR templates IS NOT NULL
              OR managed_source IS NOT NULL)",
            "DELETE FROM alert_sources WHERE account_id = $1",
            "DELETE FROM blind_stretches WHERE account_id = $1",
            "DELETE FROM approvals WHERE account_id = $1",
            "DELETE FROM analyst_queue WHERE account_id = $1",
            "DELETE FROM paper_returns WHERE account_id = $1",
            "DELETE FROM paper_progress WHERE account_id = $1",
            "DELETE FROM paper_trades WHERE account_id = $1",
            "DELETE FROM watchlist_items WHERE account_id = $1",
        ] {
            write_rows!(self, sql, id);
        }
        self.erase_messages(account, now).await
    }

    /// Deletes the deliveries of an account's webhooks, of which there may be millions: in parts, because the time of a statement is limited.
    async fn erase_deliveries(&mut self, account: AccountId) -> Result<(), StoreError> {
        macro_rules! of_account {
            ($statement:literal) => {
                concat!(
                    $statement,
                    " IN (SELECT deliveries.seq FROM deliveries JOIN webhooks ON webhooks.seq = deliveries.webhook_seq
                      WHERE webhooks.account_id = $1 ORDER BY deliveries.seq LIMIT 10000)"
                )
            };
        }
        loop {
            write_rows!(
                self,
                of_account!("DELETE FROM delivery_attempts WHERE delivery_seq"),
                account.0
            );
            let deleted = write_rows!(self, of_account!("DELETE FROM deliveries WHERE seq"), account.0);
            if deleted == 0 {
                return Ok(());
            }
        }
    }

    async fn erase_messages(&mut self, account: &Account, now: Timestamp) -> Result<(), StoreError> {
        let id = account.id.0;
        // Includes messages to the account's former addresses and numbers. An outbox row has the id of its message.
        let sql = "DELETE FROM outbox WHERE id IN (SELECT id FROM messages WHERE account_id = $1)";
        write_rows!(self, sql, id);
        let counted = now
            .saturating_sub(LIMIT_WINDOW)
            .unwrap_or(Timestamp::MIN)
            .as_microsecond();
        write_rows!(
            self,
            "DELETE FROM messages WHERE account_id = $1 AND (status = 'pending' OR COALESCE(admitted_at, $2) <= $2)",
            id,
            counted,
        );
        let sql = "UPDATE messages SET account_id = NULL, recipient = NULL, content = NULL, alert_seq = NULL,
                   event_seq = NULL WHERE account_id = $1";
        write_rows!(self, sql, id);
        let phone = account.profile.phone.as_ref().map(|phone| phone.number.as_str());
        let sql = "DELETE FROM outbox WHERE recipient = $1 OR recipient = $2";
        write_rows!(self, sql, &account.email, phone.unwrap_or(&account.email));
        write_rows!(
            self,
            "DELETE FROM codes WHERE account_id = $1 AND created_at <= $2",
            id,
            counted
        );
        let sql =
            "UPDATE codes SET account_id = NULL, payload = NULL, used_at = COALESCE(used_at, $2) WHERE account_id = $1";
        write_rows!(self, sql, id, now.as_microsecond());
        Ok(())
    }
}
