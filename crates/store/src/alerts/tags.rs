//! The rows of alerts' tags, by which lists are filtered. The alert has its tags as a column, too (`row.rs`).

use alerts::{AlertId, Tags};
use uuid::Uuid;

use crate::bulk::{Statement, write_many};
use crate::unit_of_work::{fetch, write_rows};
use crate::{StoreError, UnitOfWork};

const INSERT: Statement = Statement {
    before: "INSERT INTO alert_tags (account_id, tag, alert_seq) VALUES ",
    columns: 3,
    after: "",
};

impl UnitOfWork {
    /// Adds the rows of an account's new alert. A guest has no lists, so a guest's alert has no rows.
    pub(super) async fn insert_alert_tags(
        &mut self,
        account: Option<Uuid>,
        seq: i64,
        tags: &Tags,
    ) -> Result<(), StoreError> {
        if let Some(account) = account {
            let tags = tags.as_slice();
            write_many!(self, INSERT, tags, |query, tag| query
                .bind(account)
                .bind(tag.as_str())
                .bind(seq));
        }
        Ok(())
    }

    /// Replaces the rows of an alert.
    pub(super) async fn replace_alert_tags(&mut self, id: AlertId, tags: &Tags) -> Result<(), StoreError> {
        self.delete_alert_tags(id).await?;
        if tags.is_empty() {
            return Ok(());
        }
        let sql = "SELECT account_id, seq FROM alerts WHERE id = $1";
        let (account, seq) = fetch!(self, fetch_one(Option<Uuid>, i64), sql, id.0);
        self.insert_alert_tags(account, seq, tags).await
    }

    /// Deletes the rows of an alert.
    pub(super) async fn delete_alert_tags(&mut self, id: AlertId) -> Result<(), StoreError> {
        let sql = "DELETE FROM alert_tags WHERE alert_seq = (SELECT seq FROM alerts WHERE id = $1)";
        write_rows!(self, sql, id.0);
        Ok(())
    }
}
