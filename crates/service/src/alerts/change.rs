//! Changing an alert: updating, pausing, activating.

use alerts::AlertId;
use serde_json::Value;

use super::AlertDetail;
use crate::{Actor, Service, ServiceError};

impl Service {
    /// Takes over what an update request asks for.
    ///
    /// # Errors
    /// As [`Service::create_alert`], and [`ServiceError::NotFound`] for an alert the actor does not have.
    pub async fn update_alert(&self, _actor: &Actor, _id: AlertId, _body: &Value) -> Result<AlertDetail, ServiceError> {
        todo!()
    }

    /// Puts an alert aside.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Invalid`] for one that is not judged anyway.
    pub async fn pause_alert(&self, _actor: &Actor, _id: AlertId) -> Result<AlertDetail, ServiceError> {
        todo!()
    }

    /// Makes an alert active with a new initial price.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`], [`ServiceError::Forbidden`] for an alert too many,
    /// [`ServiceError::Unavailable`] without a price.
    pub async fn activate_alert(&self, _actor: &Actor, _id: AlertId) -> Result<AlertDetail, ServiceError> {
        todo!()
    }
}
