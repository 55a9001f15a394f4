//! Deletes an alert.

use alerts::AlertId;
use foundation::scope_members::MemberChanges;
use foundation::{Actor, ServiceError};
use jiff::Timestamp;
use store::model::{AccountId, UndoId};
use store::{Abort, UnitOfWork};

use super::no_such_alert;
use crate::alerts::Alerts;

/// The deletion of an alert: everything that its transaction needs.
pub(super) struct DeleteAlert {
    account: AccountId,
    id: AlertId,
    /// The id by which the deletion can be undone.
    undo: Option<UndoId>,
    now: Timestamp,
}

impl Alerts {
    /// Deletes an alert, and the members of one over many stocks. Its history is kept.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn delete_alert(&self, actor: &Actor, id: AlertId) -> Result<(), ServiceError> {
        self.delete(actor, id, None).await
    }

    /// Deletes an alert so that it can be undone with an `undo` id.
    pub(super) async fn delete(&self, actor: &Actor, id: AlertId, undo: Option<UndoId>) -> Result<(), ServiceError> {
        let alerts = self.clone();
        let work = self.prepare_delete(actor, id, undo);
        let transaction = self.ports.transaction_then(
            work,
            |work, unit| Box::pin(work.run(unit)),
            move |changes| alerts.apply_changes(changes),
        );
        transaction.await.map(drop)
    }

    pub(super) fn prepare_delete(&self, actor: &Actor, id: AlertId, undo: Option<UndoId>) -> DeleteAlert {
        DeleteAlert {
            account: actor.account,
            id,
            undo,
            now: self.ports.clock.now(),
        }
    }
}

impl DeleteAlert {
    pub(super) const fn id(&self) -> AlertId {
        self.id
    }

    /// Returns the changes that the engine must know.
    pub(super) async fn run(&self, unit: &mut UnitOfWork) -> Result<MemberChanges, Abort<ServiceError>> {
        let found = unit.lock_alert(self.account, self.id).await?;
        let stored = found.ok_or_else(no_such_alert)?;
        if let Some(undo) = self.undo {
            unit.keep_state(undo, self.account, self.id, self.now).await?;
        }
        let members = unit.lock_members(self.id).await?;
        for member in &members {
            unit.delete_alert(&member.alert, self.now).await?;
        }
        if !unit.delete_alert(&stored.alert, self.now).await? {
            return Err(Abort::Refused(no_such_alert()));
        }
        if let Some(managed_by) = &stored.managed_by {
            unit.raise_source_revision(self.account, managed_by.source()).await?;
        }
        let members = members.iter().map(|member| member.alert.id);
        Ok(MemberChanges {
            changed: Vec::new(),
            removed: members.chain([self.id]).collect(),
        })
    }
}
