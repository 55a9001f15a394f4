//! The settings: one address for each tab, which shows it and takes its forms.

pub(super) mod account;
pub(super) mod agents;
pub(super) mod channels;
pub(super) mod keys;
pub(super) mod profile;
pub(super) mod sessions;
pub(super) mod webhooks;

use foundation::ServiceError;
use web::form_state::FormState;
use web::wording;

use crate::routes::prelude::*;
use crate::routes::web::response::{error_text, is_failure};
use crate::routes::web::visitor::Visitor;

/// Fields whose values are not shown again.
const SECRET_FIELDS: [&str; 3] = ["current_password", "new_password", "token"];

/// The result of a form.
enum FormResult {
    /// The page is shown again with this notice.
    Done(String),
    /// The form is shown again with its errors.
    Refused(Box<FormState>),
    /// The service failed.
    Failed(ServiceError),
}

impl FormResult {
    /// Returns the result of a use case.
    fn of(form: &FormFields, result: Result<String, ServiceError>) -> Self {
        match result {
            Ok(text) => Self::Done(text),
            Err(error) if is_failure(&error) => Self::Failed(error),
            Err(error) => Self::Refused(Box::new(refused_form(form, error))),
        }
    }
}

/// Returns what a refused form shows: the entered values, and each error at its field.
pub(super) fn refused_form(form: &FormFields, error: ServiceError) -> FormState {
    let entered = form
        .0
        .iter()
        .filter(|(name, _)| !SECRET_FIELDS.contains(&name.as_str()));
    let values = entered.cloned().collect();
    let (errors, error) = match error {
        ServiceError::Invalid { fields, .. } => {
            let errors = fields.into_iter().map(|(name, messages)| {
                let messages = wording::at_input(&messages);
                (name, messages)
            });
            (errors.collect(), None)
        }
        error => (std::collections::BTreeMap::new(), Some(error_text(error))),
    };
    FormState { values, errors, error }
}

/// Returns a page after a form: 422 if the form is refused.
pub(super) fn after_form(visitor: &Visitor, form: &FormState, page: Response) -> Response {
    let mut page = visitor.after_notice(page);
    if *form != FormState::default() {
        *page.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    }
    page
}
