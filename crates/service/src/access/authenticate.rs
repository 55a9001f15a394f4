//! Who is it?

use super::Actor;
use crate::{Service, ServiceError};

impl Service {
    /// Who shows this API key. The answer may be a few seconds old.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if there is no such key.
    pub async fn authenticate_key(&self, _key: &str) -> Result<Actor, ServiceError> {
        todo!()
    }
}
