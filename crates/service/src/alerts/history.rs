//! An alert's history.

use alerts::AlertId;
use store::model::{HistoryRow, Page, PageRequest};

use crate::{Actor, Service, ServiceError};

impl Service {
    /// A page of an alert's history, newest first; also of a deleted alert.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn alert_history(
        &self,
        _actor: &Actor,
        _id: AlertId,
        _page: PageRequest,
    ) -> Result<Page<HistoryRow>, ServiceError> {
        todo!()
    }
}
