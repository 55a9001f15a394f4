//! The source and the name of an alert that a program manages, in updates.

use alerts::ManagedBy;
use alerts::request::read_managed_by;
use foundation::ServiceError;
use store::{Abort, UnitOfWork};

use super::change::{ChangeAlert, ChangeResult, UpdateRequest};
use super::name_taken;

impl ChangeAlert {
    /// Gives the alert another source and name, if the request does.
    pub(super) async fn rename(
        &self,
        unit: &mut UnitOfWork,
        request: &UpdateRequest,
        result: &mut ChangeResult,
    ) -> Result<(), Abort<ServiceError>> {
        let sent = read_managed_by(&request.body).map_err(ServiceError::from)?;
        let Some(managed_by) = sent.filter(|sent| *sent != result.stored.managed_by) else {
            return Ok(());
        };
        if let Some(managed_by) = &managed_by
            && let Some(other) = unit.managed_alert(self.account, managed_by).await?
        {
            return Err(Abort::Refused(name_taken(&other)));
        }
        unit.set_managed_by(self.id, managed_by.as_ref()).await?;
        result.stored.managed_by = managed_by;
        result.is_changed = true;
        Ok(())
    }

    /// Raises the revisions of the alert's former and present source, if the alert has changed.
    pub(super) async fn raise_source_revisions(
        &self,
        unit: &mut UnitOfWork,
        before: Option<&ManagedBy>,
        result: &ChangeResult,
    ) -> Result<(), Abort<ServiceError>> {
        if !result.is_changed {
            return Ok(());
        }
        let (before, after) = (
            before.map(ManagedBy::source),
            result.stored.managed_by.as_ref().map(ManagedBy::source),
        );
        for source in before.into_iter().chain(after.filter(|after| Some(*after) != before)) {
            unit.raise_source_revision(self.account, source).await?;
        }
        Ok(())
    }
}
