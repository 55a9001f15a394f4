//! An alert's history.

use alerts::AlertId;
use jiff::Timestamp;
use store::model::{HistoryRow, Page, PageRequest};

use super::no_such_alert;
use crate::alerts::Alerts;
use crate::{Actor, ServiceError};

impl Alerts {
    /// A page of an alert's history, newest first; also of a deleted alert.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn alert_history(
        &self,
        actor: &Actor,
        id: AlertId,
        page: PageRequest,
    ) -> Result<Page<HistoryRow>, ServiceError> {
        self.alert_history_since(actor, id, Timestamp::MIN, page).await
    }

    /// A page of an alert's history from an instant on, as [`Service::alert_history`].
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn alert_history_since(
        &self,
        actor: &Actor,
        id: AlertId,
        since: Timestamp,
        page: PageRequest,
    ) -> Result<Page<HistoryRow>, ServiceError> {
        let store = &self.ports.store;
        let found = store.history_since(actor.account, id, since, page).await?;
        found.ok_or_else(no_such_alert)
    }

    /// A page of the firings of all the actor's alerts from an instant on, newest first; also of deleted alerts.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] only.
    pub async fn firings(
        &self,
        actor: &Actor,
        since: Timestamp,
        page: PageRequest,
    ) -> Result<Page<HistoryRow>, ServiceError> {
        let store = &self.ports.store;
        Ok(store.firings_of_account(actor.account, since, page).await?)
    }
}
