//! Reading alerts.

use alerts::AlertId;
use store::model::{AlertFilter, AlertSort, Page, PageRequest};

use super::{AlertDetail, AlertItem};
use crate::{Actor, Service, ServiceError};

impl Service {
    /// An alert with its stock and whether it is judged.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn alert(&self, _actor: &Actor, _id: AlertId) -> Result<AlertDetail, ServiceError> {
        todo!()
    }

    /// A page of the actor's alerts; `extended` adds to each how near it is to firing.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] only.
    pub async fn alerts(
        &self,
        _actor: &Actor,
        _filter: &AlertFilter,
        _sort: AlertSort,
        _page: PageRequest,
        _extended: bool,
    ) -> Result<Page<AlertItem>, ServiceError> {
        todo!()
    }
}
