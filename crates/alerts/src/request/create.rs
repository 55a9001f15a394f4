//! The body of a create request.

use serde_json::Value;

use super::conditions::{self, Asked};
use super::fields::{Faults, Noted, member};
use super::numbers::Threshold;
use super::parameters;
use super::{Context, RequestError, body};
use crate::alert::NewAlert;

/// Reads the body of a create request.
///
/// `symbol` and `condition` are required; `notification` is email unless it says otherwise; a null
/// is as good as leaving the member out; members that are not known are ignored. An `email` has to
/// look like one, and is otherwise kept as it came: whether a guest needs one, or an account may
/// send one, is decided where it is known who asks.
///
/// # Errors
/// [`RequestError`], with every fault of the body.
pub fn parse_create(body: &Value, context: &Context<'_>) -> Result<NewAlert, RequestError> {
    let body = body::object(body)?;
    let mut faults = Faults::default();
    let symbol = body::symbol(body, &mut faults);
    let kind = body::condition(body, &mut faults).and_then(|kind| {
        kind.ok_or_else(|| {
            let names = body::names_of_conditions();
            faults.note("condition", format!("is required; give one of {names}"))
        })
    });
    let notification = body::notification(body, &mut faults);
    let email = body::email(body, &mut faults);
    let parameters = member(body, "parameters").map_or(Ok(None), |value| parameters::object(value, &mut faults));
    let threshold = Threshold::sent(body.get("threshold"));
    let asked = kind.map(|kind| Asked {
        kind,
        threshold,
        standing: None,
    });
    let read = conditions::read_with(asked, parameters, threshold, context, &mut faults);
    let parts = || -> Result<NewAlert, Noted> {
        let (condition, parameters) = read?;
        Ok(NewAlert {
            symbol: symbol?,
            condition,
            notification: notification?.unwrap_or_default(),
            parameters,
            email: email?,
        })
    };
    parts().map_err(|Noted| RequestError::Invalid(faults))
}
