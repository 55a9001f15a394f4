//! The account's own address and number: the phone number for text messages, and tests of both with their receipts.

use alerts::Channel;
use delivery::messages::MessageId;
use foundation::ServiceError;
use serde_json::json;
use web::form_state::FormState;
use web::screens::settings::MessageTestReceipt;
use web::texts;

use super::{PATH, PageAnswer, page};
use crate::routes::pages::link::form_field;
use crate::routes::pages::page::error_page;
use crate::routes::prelude::*;
use crate::routes::web::form_value::is_checked;
use crate::routes::web::response::{after_change, see_other};
use crate::routes::web::settings::FormResult;
use crate::routes::web::visitor::Visitor;

/// Returns the receipt of a test; `None` for another message, or if the test was deleted.
pub(super) async fn receipt(
    app: &App,
    visitor: &Visitor,
    id: Option<MessageId>,
) -> Result<Option<MessageTestReceipt>, ServiceError> {
    let Some(id) = id else { return Ok(None) };
    match app.service().channel_tests.receipt(&visitor.actor, id).await {
        Ok(receipt) => Ok(Some(MessageTestReceipt::of(&receipt))),
        // Old messages are deleted.
        Err(ServiceError::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Sends a test message, and leads to its receipt.
pub(super) async fn send_test(app: &App, visitor: &Visitor, form: &FormFields) -> Response {
    let channel = Channel::from_name(form_field(form, "channel"));
    let sent = match channel {
        Some(channel) => app.service().channel_tests.send_test(&visitor.actor, channel).await,
        None => Err(ServiceError::NotFound("channel")),
    };
    match sent {
        Ok(MessageId(id)) => see_other(&visitor.head, &format!("{PATH}?test={id}")),
        Err(error) => after_change(&visitor.head, PATH, Err(error)),
    }
}

/// Sends a code to a phone number, or verifies the code.
pub(super) async fn change_phone(app: &App, visitor: &Visitor, action: &str, form: &FormFields) -> Response {
    let phone = form_field(form, "phone").trim().to_owned();
    let is_verification = action == "verify";
    let settings = &app.service().account_settings;
    let result = if is_verification {
        let body = json!({"phone": phone, "token": form_field(form, "token").trim()});
        let verified = settings.verify_phone(&visitor.actor, &body).await;
        verified.map(|_| texts::text("phone-verified"))
    } else {
        let body = json!({"phone": phone, "sms_consent": is_checked(form, "sms_consent")});
        let requested = settings.request_phone(&visitor.actor, &body).await;
        requested.map(|phone| texts::text_with("phone-code-sent", [("phone", phone.into())]))
    };
    let answer = |form: FormState, awaited_phone: Option<String>| PageAnswer {
        form,
        awaited_phone,
        ..PageAnswer::default()
    };
    match FormResult::of(form, result) {
        FormResult::Done(text) if is_verification => after_change(&visitor.head, PATH, Ok(text)),
        // The field for the code belongs to this number.
        FormResult::Done(_) => page(app, visitor, answer(FormState::default(), Some(phone))).await,
        FormResult::Refused(state) => page(app, visitor, answer(*state, is_verification.then_some(phone))).await,
        FormResult::Failed(error) => error_page(error),
    }
}
