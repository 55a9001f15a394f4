//! `GET|POST /settings/keys`: API keys.

use foundation::{Scope, ServiceError};
use serde_json::json;
use service::ApiKeyId;
use web::form_state::FormState;
use web::layout::Section;
use web::screens::settings::{KeyLine, KeysPage, NewKey};
use web::texts;

use super::{after_form, is_failure, refused_form};
use crate::query::uuid;
use crate::routes::pages::link::form_field;
use crate::routes::pages::page::error_page;
use crate::routes::prelude::*;
use crate::routes::web::response::{after_change, rendered};
use crate::routes::web::visitor::Visitor;

/// Shows the keys.
pub(in crate::routes::web) async fn show_keys(State(app): State<App>, visitor: Visitor) -> Response {
    page(&app, &visitor, FormState::default(), None).await
}

/// Creates or deletes a key. The page of a new key is the only one that shows its secret.
pub(in crate::routes::web) async fn change_keys(
    State(app): State<App>,
    visitor: Visitor,
    form: FormFields,
) -> Response {
    let accounts = &app.service().accounts;
    if form_field(&form, "action") == "delete" {
        let id = uuid(form_field(&form, "id"))
            .ok_or(ServiceError::NotFound("API key"))
            .map(ApiKeyId);
        let result = match id {
            Ok(id) => accounts.delete_api_key(&visitor.actor, id).await,
            Err(error) => Err(error),
        };
        return after_change(
            &visitor.head,
            "/settings/keys",
            result.map(|()| texts::text("key-deleted")),
        );
    }
    let scopes = form.0.iter().filter(|(name, _)| name == "scope");
    let scopes: Vec<&str> = scopes.map(|(_, scope)| scope.as_str()).collect();
    let body = json!({"name": form_field(&form, "name").trim(), "scopes": scopes});
    match accounts.create_api_key_from_body(&visitor.actor, &body).await {
        Ok(created) => {
            let new = NewKey {
                name: created.key.name,
                secret: created.secret,
            };
            page(&app, &visitor, FormState::default(), Some(new)).await
        }
        Err(error) if is_failure(&error) => error_page(error),
        Err(error) => page(&app, &visitor, refused_form(&form, error), None).await,
    }
}

async fn page(app: &App, visitor: &Visitor, form: FormState, new: Option<NewKey>) -> Response {
    match keys_page(app, visitor, form, new).await {
        Ok(page) => after_form(visitor, &page.form, rendered(&page)),
        Err(error) => error_page(error),
    }
}

async fn keys_page(
    app: &App,
    visitor: &Visitor,
    form: FormState,
    new: Option<NewKey>,
) -> Result<KeysPage, ServiceError> {
    let keys = app.service().accounts.api_keys(&visitor.actor).await?;
    let scopes = if visitor.actor.is_operator {
        Scope::ALL
    } else {
        Scope::PUBLIC
    };
    Ok(KeysPage {
        shell: visitor.shell_with(app, Some(Section::Settings), &form),
        form,
        keys: keys.iter().map(KeyLine::of).collect(),
        new,
        scopes: scopes
            .iter()
            .map(|scope| (scope.name(), Scope::PUBLIC.contains(scope)))
            .collect(),
    })
}
