//! The error of a batch: the errors of its refused changes.

use serde::Serialize;
use serde_json::{Map, Value, json};
use service::alerts::{BatchError, RefusedChange};
use utoipa::ToSchema;

use super::{ApiError, ApiErrorCode};

/// The number of refused changes that the message of an error names.
const MAX_NAMED_CHANGES: usize = 3;

/// A refused change of a batch, with the error of the same change as a single request.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RefusedChange)]
pub struct RefusedChangeView {
    /// Its list: `create`, `update` or `delete`.
    #[schema(example = "create")]
    pub list: &'static str,
    /// Its place in the list, from 0.
    #[schema(minimum = 0, example = 3)]
    pub index: usize,
    /// The HTTP status of the single request.
    #[schema(minimum = 400, maximum = 599, example = 422)]
    pub status: u16,
    /// The error code of the single request.
    pub code: ApiErrorCode,
    /// The message of the single request.
    #[schema(example = "threshold: must be omitted for new_high")]
    pub message: String,
    /// The details of the single request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Object>, example = json!({"fields": {"threshold": ["must be omitted for new_high"]}}))]
    pub details: Option<Map<String, Value>>,
}

impl From<BatchError> for ApiError {
    /// The status and the code are those of the first refused change.
    fn from(error: BatchError) -> Self {
        let refused = match error {
            BatchError::Whole(error) => return error.into(),
            BatchError::Refused(refused) => refused,
        };
        let places: Vec<_> = refused.iter().map(|refused| (refused.list, refused.index)).collect();
        let errors: Vec<Self> = refused
            .into_iter()
            .map(|RefusedChange { error, .. }| error.into())
            .collect();
        let named = places.iter().zip(&errors).take(MAX_NAMED_CHANGES);
        let named: Vec<String> = named
            .map(|((list, index), error)| format!("{}.{index}: {}", list.name(), error.message()))
            .collect();
        let more = match errors.len().saturating_sub(MAX_NAMED_CHANGES) {
            0 => String::new(),
            more => format!(" | and {more} more"),
        };
        let message = format!(
            "{} of the changes are refused, so nothing was changed: {}{more}",
            errors.len(),
            named.join(" | ")
        );
        let code = errors.first().map_or(ApiErrorCode::InternalError, Self::code);
        let retry_after_s = errors.iter().filter_map(Self::retry_after_s).max();
        let views = places
            .into_iter()
            .zip(errors)
            .map(|((list, index), error)| RefusedChangeView {
                list: list.name(),
                index,
                status: error.status().as_u16(),
                code: error.code(),
                message: error.body.message,
                details: error.body.details,
            });
        let views: Vec<RefusedChangeView> = views.collect();
        Self {
            retry_after_s,
            ..Self::new(code, message).with_details([("refused", json!(views))])
        }
    }
}
