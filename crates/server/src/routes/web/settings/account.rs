//! `GET|POST /settings/account`: password, address, deactivation and deletion.

use foundation::ServiceError;
use serde_json::json;
use web::form_state::FormState;
use web::layout::Section;
use web::screens::settings::AccountPage;
use web::texts;

use super::{FormResult, after_form};
use crate::routes::pages::link::form_field;
use crate::routes::pages::page::error_page;
use crate::routes::prelude::*;
use crate::routes::web::form_value::optional_text;
use crate::routes::web::response::{after_change, redirect, rendered};
use crate::routes::web::visitor::Visitor;

/// Shows the account.
pub(in crate::routes::web) async fn show_account(State(app): State<App>, visitor: Visitor) -> Response {
    page(&app, &visitor, FormState::default()).await
}

/// Changes the account.
pub(in crate::routes::web) async fn change_account(
    State(app): State<App>,
    visitor: Visitor,
    ClientAddress(address): ClientAddress,
    form: FormFields,
) -> Response {
    let (settings, actor) = (&app.service().account_settings, &visitor.actor);
    let result = match form_field(&form, "action") {
        "email" => {
            let body = json!({"email": form_field(&form, "email").trim()});
            let requested = settings.request_address_change(actor, &body).await;
            requested.map(|_| texts::text("email-link-sent"))
        }
        "password" => {
            let body = json!({
                "current_password": optional_text(&form, "current_password"),
                "new_password": form_field(&form, "new_password"),
            });
            let changed = settings.change_password(actor, address, &body).await;
            changed.map(|()| texts::text("password-changed"))
        }
        "deactivate" => {
            let paused = settings.deactivate_account(actor).await;
            paused.map(|count| texts::text_with("account-deactivated", [("count", count.into())]))
        }
        "reactivate" => {
            let activated = settings.reactivate_account(actor).await;
            activated.map(|_| texts::text("account-reactivated"))
        }
        "delete" => {
            let body = json!({"confirmation": form_field(&form, "confirmation")});
            match settings.delete_account(actor, &body).await {
                Ok(()) => {
                    let mut response = redirect(&visitor.head.link("/sign-in"));
                    SessionCookie::of(app.service()).clear(response.headers_mut());
                    return response;
                }
                Err(error) => Err(error),
            }
        }
        _ => Err(ServiceError::Malformed(
            "the form is invalid; reload the page".to_owned(),
        )),
    };
    match FormResult::of(&form, result) {
        FormResult::Done(text) => after_change(&visitor.head, "/settings/account", Ok(text)),
        FormResult::Refused(state) => page(&app, &visitor, *state).await,
        FormResult::Failed(error) => error_page(error),
    }
}

async fn page(app: &App, visitor: &Visitor, form: FormState) -> Response {
    match account_page(app, visitor, form).await {
        Ok(page) => after_form(visitor, &page.form, rendered(&page)),
        Err(error) => error_page(error),
    }
}

async fn account_page(app: &App, visitor: &Visitor, form: FormState) -> Result<AccountPage, ServiceError> {
    let (_, account) = app.service().identity.session(&visitor.actor).await?;
    Ok(AccountPage {
        shell: visitor.shell_with(app, Some(Section::Settings), &form),
        form,
        plan: account.plan.name(),
        has_password: account.password_hash.is_some(),
        deactivated_at: account.profile.deactivated_at,
    })
}
