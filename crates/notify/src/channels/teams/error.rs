//! Classification of the responses of a Teams workflow.
//!
//! The workflow accepts a request with 202 before it posts the message:
//! <https://learn.microsoft.com/azure/connectors/connectors-native-reqres>. Errors are JSON, `{"error": {"code", "message"}}`. A
//! workflow that was deleted is 404 `WorkflowNotFound`; one that is off is 400 `WorkflowTriggerIsNotEnabled`; a wrong signature is 401;
//! a trigger that is only for members of the organisation is 401 `DirectApiAuthorizationRequired`; too many requests are 429 with
//! `Retry-After`: <https://learn.microsoft.com/azure/logic-apps/handle-throttling-problems-429-errors>.

use jiff::Timestamp;

use super::models::WorkflowError;
use crate::channels::outcome::{SendFailure, SendResult, ServiceResponse, accepted, parse};

pub(super) fn result(response: &ServiceResponse, now: Timestamp) -> SendResult {
    if response.status().is_success() {
        return accepted(response, None);
    }
    // Only the code: the message may repeat parts of the URL.
    let error: Option<WorkflowError> = parse(response);
    let code = error.and_then(|error| error.error.code);
    Err(SendFailure::of_status(response, now, code))
}
