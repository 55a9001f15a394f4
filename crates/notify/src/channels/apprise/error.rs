//! Classification of the responses of an Apprise API server: <https://github.com/caronc/apprise-api#api-details>.
//!
//! Notified is 200. No services are configured for the address: 204, also if its key is unknown. The message is invalid: 400. At least
//! one service failed: 424. The server itself failed: 500.

use http::StatusCode;
use jiff::Timestamp;

use super::models::AppriseError;
use crate::channels::outcome::{SendFailure, SendResult, ServiceResponse, accepted, parse};
use crate::message_attempt::MessageOutcome;

pub(super) fn result(response: &ServiceResponse, now: Timestamp) -> SendResult {
    if response.status() == StatusCode::NO_CONTENT {
        let problem = "the Apprise server has no configuration for this address; check its key and tags";
        let outcome = MessageOutcome::Refused { code: 204 };
        return Err(SendFailure::of(response, outcome, Some(problem.to_owned())));
    }
    if response.status().is_success() {
        return accepted(response, None);
    }
    let error: Option<AppriseError> = parse(response);
    // A retry after 424 reaches services again that were notified: twice is better than not at all.
    Err(SendFailure::of_status(
        response,
        now,
        error.and_then(|error| error.error),
    ))
}
