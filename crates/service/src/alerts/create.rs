//! Creating an alert.

use serde_json::Value;

use super::AlertDetail;
use crate::{Actor, Service, ServiceError};

/// What a create request came to.
#[derive(Clone, PartialEq, Debug)]
pub enum Created {
    /// A new alert.
    New(Box<AlertDetail>),
    /// There was an equivalent one already; it is unchanged.
    Existing(Box<AlertDetail>),
}

impl Service {
    /// Creates an alert from the body of a create request (interface 2.1, decisions 2.15, 2.16, 2.22).
    ///
    /// # Errors
    /// [`ServiceError::Malformed`], [`ServiceError::Invalid`]; [`ServiceError::NotFound`] for an unknown symbol,
    /// [`ServiceError::Forbidden`] for what the plan does not have, [`ServiceError::Unavailable`] for a percentage
    /// without a price.
    pub async fn create_alert(&self, _actor: &Actor, _body: &Value) -> Result<Created, ServiceError> {
        todo!()
    }
}
