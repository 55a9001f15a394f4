//! The member `options` of a request.

use serde_json::{Map, Value};

use super::ParseContext;
use super::fields::{FieldErrors, InvalidField};
use crate::condition::Condition;
use crate::options::{AlertOptions, check_fit, parse_options};

/// Reads the options and checks that they fit the condition, if that is valid; `None` if they are omitted.
pub(super) fn read(
    body: &Map<String, Value>,
    condition: Option<&Condition>,
    context: &ParseContext<'_>,
    errors: &mut FieldErrors,
) -> Result<Option<AlertOptions>, InvalidField> {
    let Some(sent) = body.get("options") else {
        return Ok(None);
    };
    let options = parse_options(sent, context).map_err(|invalid| errors.append(invalid))?;
    fit(&options, condition, errors)?;
    Ok(Some(options))
}

/// Checks that options fit a condition, if that is valid.
pub(super) fn fit(
    options: &AlertOptions,
    condition: Option<&Condition>,
    errors: &mut FieldErrors,
) -> Result<(), InvalidField> {
    let fits = condition.map_or(Ok(()), |condition| check_fit(options, condition));
    fits.map_err(|invalid| errors.append(invalid))
}
