//! The history of alerts.

use alerts::AlertId;
use jiff::Timestamp;
use store::model::{HistoryPosition, HistoryRow, ListRequest, ListedHistoryRow, Page, PageRequest};

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
        let store = &self.ports.store;
        let found = store.history(actor.account, id, page).await?;
        found.ok_or_else(no_such_alert)
    }

    /// Returns a page of an alert's history from an instant on, as [`Self::alert_history`], with the positions of its entries.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Invalid`] if the history has no entry `after`.
    pub async fn alert_history_since(
        &self,
        actor: &Actor,
        id: AlertId,
        since: Option<Timestamp>,
        request: impl Into<ListRequest<HistoryPosition>>,
    ) -> Result<Page<ListedHistoryRow>, ServiceError> {
        let store = &self.ports.store;
        let found = store.history_since(actor.account, id, since, request).await?;
        found.ok_or_else(no_such_alert)
    }

    /// Returns a page of the firings of all the actor's alerts, newest first, including those of deleted alerts.
    pub async fn latest_firings(&self, actor: &Actor, page: PageRequest) -> Result<Page<HistoryRow>, ServiceError> {
        let page = self.firings_since(actor, None, page).await?;
        Ok(page.map(|listed| listed.row))
    }

    /// Returns a page of firings from an instant on, as [`Self::latest_firings`], with their positions.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] if the list has no firing `after`.
    pub async fn firings_since(
        &self,
        actor: &Actor,
        since: Option<Timestamp>,
        request: impl Into<ListRequest<HistoryPosition>>,
    ) -> Result<Page<ListedHistoryRow>, ServiceError> {
        let store = &self.ports.store;
        Ok(store.firings_of_account(actor.account, since, request).await?)
    }
}
