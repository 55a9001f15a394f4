//! Deletes an alert.

use std::sync::Arc;

use alerts::AlertId;
use store::Abort;
use store::model::UndoId;

use super::no_such_alert;
use crate::alerts::Alerts;
use foundation::{Actor, ServiceError};

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
        let evaluator = Arc::clone(&self.evaluator);
        let inputs = (actor.account, id, undo, self.ports.clock.now());
        let transaction = self.ports.transaction_then(
            inputs,
            |&(account, id, undo, now), unit| {
                Box::pin(async move {
                    let found = unit.lock_alert(account, id).await?;
                    let alert = found.ok_or_else(no_such_alert)?.alert;
                    if let Some(undo) = undo {
                        unit.keep_state(undo, account, id, now).await?;
                    }
                    let members = unit.lock_members(id).await?;
                    for member in &members {
                        unit.delete_alert(&member.alert, now).await?;
                    }
                    if unit.delete_alert(&alert, now).await? {
                        let members = members.iter().map(|member| member.alert.id);
                        Ok(members.chain([id]).collect::<Vec<_>>())
                    } else {
                        Err(Abort::Refused(no_such_alert()))
                    }
                })
            },
            move |deleted| deleted.iter().for_each(|id| evaluator.remove_alert(*id)),
        );
        transaction.await?;
        Ok(())
    }
}
