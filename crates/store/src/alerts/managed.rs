//! Alerts that programs manage under names, and the revisions of their sources.

use alerts::{AlertId, ManagedBy};

use super::row::{AlertRow, select};
use crate::database::{OptionalUuidRow, query};
use crate::model::{AccountId, SourceRevision, StoredAlert, UndoId};
use crate::unit_of_work::{fetch, write_rows};
use crate::{StoreError, UnitOfWork};

impl UnitOfWork {
    /// Returns the account's alert with a name. Deleted alerts are missing. Callers that decide based on the result must
    /// [lock the account](UnitOfWork::lock_account) first.
    pub async fn managed_alert(
        &mut self,
        account: AccountId,
        managed_by: &ManagedBy,
    ) -> Result<Option<StoredAlert>, StoreError> {
        let sql = select!("WHERE account_id = $1 AND managed_source = $2 AND managed_name = $3 AND deleted_at IS NULL");
        let (source, name) = (managed_by.source(), managed_by.name());
        let row = fetch!(self, fetch_optional AlertRow, sql, account.0, source, name);
        row.map(StoredAlert::try_from).transpose()
    }

    /// Gives an alert a source and a name, or takes them away.
    pub async fn set_managed_by(&mut self, id: AlertId, managed_by: Option<&ManagedBy>) -> Result<(), StoreError> {
        let sql = "UPDATE alerts SET managed_source = $2, managed_name = $3
                   WHERE id = $1 AND deleted_at IS NULL RETURNING account_id";
        let written = query!(
            fetch_optional OptionalUuidRow,
            &mut self.connection,
            sql,
            id.0,
            managed_by.map(ManagedBy::source),
            managed_by.map(ManagedBy::name)
        );
        if let Some((Some(account),)) = self.track_optional_write(written)? {
            self.note_listed_change(account);
        }
        Ok(())
    }

    /// Returns the revision of the alerts of a source.
    pub async fn source_revision(&mut self, account: AccountId, source: &str) -> Result<SourceRevision, StoreError> {
        let sql = "SELECT revision FROM alert_sources WHERE account_id = $1 AND source = $2";
        let found = fetch!(self, fetch_optional(i64,), sql, account.0, source);
        Ok(SourceRevision(found.map_or(0, |(revision,)| revision)))
    }

    /// Raises the revision of the alerts of a source.
    pub async fn raise_source_revision(&mut self, account: AccountId, source: &str) -> Result<(), StoreError> {
        write_rows!(
            self,
            "INSERT INTO alert_sources (account_id, source, revision) VALUES ($1, $2, 1)
             ON CONFLICT (account_id, source) DO UPDATE SET revision = alert_sources.revision + 1",
            account.0,
            source,
        );
        Ok(())
    }

    /// Returns the source and the name of a deleted alert that another alert has meanwhile, if a change is undone.
    pub async fn name_taken_since(
        &mut self,
        undo: UndoId,
        account: AccountId,
    ) -> Result<Option<StoredAlert>, StoreError> {
        let sql = select!(
            "WHERE account_id = $2 AND deleted_at IS NULL AND (managed_source, managed_name) IN \
             (SELECT d.managed_source, d.managed_name FROM undo_states s JOIN alerts d ON d.seq = s.alert_seq \
              WHERE s.undo_id = $1 AND s.account_id = $2 AND d.deleted_at IS NOT NULL AND d.managed_source IS NOT NULL) \
             ORDER BY alerts.seq LIMIT 1"
        );
        let row = fetch!(self, fetch_optional AlertRow, sql, undo.0, account.0);
        row.map(StoredAlert::try_from).transpose()
    }
}
