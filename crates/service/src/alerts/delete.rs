//! Deletes an alert.

use alerts::AlertId;
use jiff::Timestamp;
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::no_such_alert;
use crate::alerts::Alerts;
use foundation::{Actor, ServiceError};
use store::model::AccountId;

impl Alerts {
    /// Deletes an alert. Its history is kept.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn delete_alert(&self, actor: &Actor, id: AlertId) -> Result<(), ServiceError> {
        let work = DeleteAlert {
            alerts: self.clone(),
            account: actor.account,
            id,
            now: self.ports.clock.now(),
        };
        Ok(self.ports.store.write(work).await?)
    }
}

struct DeleteAlert {
    alerts: Alerts,
    account: AccountId,
    id: AlertId,
    now: Timestamp,
}

impl Transaction for DeleteAlert {
    type Output = ();
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<ServiceError>>> {
        Box::pin(async move {
            let missing = || Abort::Refused(no_such_alert());
            let found = unit.lock_alert(self.account, self.id).await?;
            let alert = found.ok_or_else(missing)?.alert;
            if unit.delete_alert(&alert, self.now).await? {
                Ok(())
            } else {
                Err(missing())
            }
        })
    }

    fn committed(&self, (): &()) {
        self.alerts.evaluator.remove_alert(self.id);
    }
}
