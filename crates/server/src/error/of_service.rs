//! The codes and statuses of the service's errors.

use foundation::ServiceError;
use serde_json::json;

use super::{ApiError, ApiErrorCode, STORAGE_RETRY_AFTER_SECONDS};

impl From<ServiceError> for ApiError {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::Malformed(message) => Self::bad_request(message),
            ServiceError::Invalid {
                message,
                fields,
                expression: None,
            } => Self::validation(message, &fields),
            ServiceError::Invalid {
                message,
                fields,
                expression: Some(error),
            } => Self::new(ApiErrorCode::ValidationError, message).with_details([
                ("fields", json!(fields)),
                ("position", json!(error.position)),
                ("expected", json!(error.expected)),
                ("suggestions", json!(error.suggestions)),
            ]),
            ServiceError::Unauthenticated(message) => Self::unauthorized(message),
            ServiceError::Forbidden {
                reason,
                required,
                message,
            } => Self::forbidden(reason, required.as_deref(), message),
            ServiceError::NotFound(_) => Self::new(ApiErrorCode::NotFound, error.to_string()),
            ServiceError::UnknownStock { ref candidates, .. } => Self::unknown_stock(error.to_string(), candidates),
            ServiceError::Conflict(message) => Self::new(ApiErrorCode::Conflict, message),
            ServiceError::RateLimited { message, retry_after_s } => {
                Self::new(ApiErrorCode::RateLimited, message).retry_after(retry_after_s)
            }
            ServiceError::Unavailable(message) => Self::not_now(message),
            ServiceError::Overloaded { message, retry_after_s } => Self::not_now(message).retry_after(retry_after_s),
            ServiceError::StorageUnavailable(ref source) => {
                tracing::error!(error = %source, "the database is not available");
                Self::new(ApiErrorCode::ServiceUnavailable, error.to_string()).retry_after(STORAGE_RETRY_AFTER_SECONDS)
            }
            ServiceError::Internal(source) => Self::internal(source),
        }
    }
}
