//! The history of alerts.

use alerts::AlertId;
use jiff::Timestamp;
use store::model::{HistoryRow, Page, PageRequest};

use super::no_such_alert;
use crate::alerts::Alerts;
use foundation::{Actor, ServiceError};

impl Alerts {
    /// Returns a page of an alert's history, newest first. Works for deleted alerts, too.
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

    /// Returns a page of an alert's history from an instant on, as [`Self::alert_history`].
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

    /// Returns a page of the firings of all the actor's alerts from an instant on, newest first, including those of
    /// deleted alerts.
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
