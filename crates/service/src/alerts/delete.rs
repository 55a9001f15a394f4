//! Deleting an alert.

use alerts::AlertId;

use crate::{Actor, Service, ServiceError};

impl Service {
    /// Deletes an alert for good; its history stays.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn delete_alert(&self, _actor: &Actor, _id: AlertId) -> Result<(), ServiceError> {
        todo!()
    }
}
