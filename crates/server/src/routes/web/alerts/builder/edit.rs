//! `GET|POST /alerts/{id}/edit`: the builder of an alert that exists.

use alerts::AlertId;
use axum::extract::Path;
use axum::http::Uri;
use foundation::ServiceError;
use serde_json::{Map, Value};
use web::screens::builder::ROUTE_INPUTS;

use super::form::values_of_body;
use super::input::BuilderInput;
use super::read::Builder;
use super::stored::{MEMBERS, PresentAlert};
use crate::query::uuid;
use crate::routes::pages::page::error_page;
use crate::routes::prelude::*;
use crate::routes::web::alerts::show::alert_not_found_page;
use crate::routes::web::response::{is_failure, redirect};
use crate::routes::web::visitor::{Visitor, VisitorRejection};

/// Shows the builder with the alert, or what its rule or its form means.
pub(in crate::routes::web) async fn show_editor(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<String>,
    uri: Uri,
) -> Response {
    let present = match present(&app, &visitor, &id).await {
        Ok(present) => present,
        Err(response) => return response,
    };
    let input = match uri.query().unwrap_or_default() {
        "" => stored_input(&present),
        _ => BuilderInput::of_address(&uri),
    };
    match Builder::new(&app, &visitor, input, Some(present)).await {
        Ok(builder) => builder.show().await.unwrap_or_else(error_page),
        Err(error) => error_page(error),
    }
}

/// Changes the alert and leads to it, or shows the builder again with its errors.
pub(in crate::routes::web) async fn change_alert(
    State(app): State<App>,
    visitor: Result<Visitor, VisitorRejection>,
    Path(id): Path<String>,
    fields: FormFields,
) -> Response {
    let input = BuilderInput { fields };
    let visitor = match visitor {
        Ok(visitor) => visitor,
        // The form is filled in again after the sign-in.
        Err(VisitorRejection::SignedOut(signed_out)) => {
            return match uuid(&id) {
                Some(id) => signed_out.to_sign_in(Some(&input.address(&format!("/alerts/{id}/edit")))),
                None => signed_out.to_sign_in(None),
            };
        }
        Err(refused) => return refused.into_response(),
    };
    let present = match present(&app, &visitor, &id).await {
        Ok(present) => present,
        Err(response) => return response,
    };
    let id = present.stored.alert.id;
    let builder = match Builder::new(&app, &visitor, input, Some(present)).await {
        Ok(builder) => builder,
        Err(error) => return error_page(error),
    };
    match change(&builder).await {
        Ok(()) => redirect(&visitor.head.link(&format!("/alerts/{id}"))),
        Err(error) if is_failure(&error) => error_page(error),
        Err(error) => builder.refused(&error),
    }
}

async fn present(app: &App, visitor: &Visitor, id: &str) -> Result<PresentAlert, Response> {
    let id = uuid(id).map(AlertId).ok_or_else(alert_not_found_page)?;
    let present = PresentAlert::read(app, visitor, id).await;
    present.map_err(|error| match error {
        ServiceError::NotFound(_) => alert_not_found_page(),
        error => error_page(error),
    })
}

fn stored_input(present: &PresentAlert) -> BuilderInput {
    let alert = &present.stored.alert;
    let described = present.described.as_ref();
    let rule = described
        .and_then(|described| described.text.as_deref())
        .unwrap_or_default();
    BuilderInput::of_alert(values_of_body(&present.body), rule, alert)
}

async fn change(builder: &Builder<'_>) -> Result<(), ServiceError> {
    let mut requested = builder.body().await?;
    let Some(present) = &builder.present else {
        return Ok(());
    };
    let alert = &present.stored.alert;
    keep_client_metadata(&mut requested, &present.body);
    let mut former = present.body.clone();
    former.extend(
        alert
            .note
            .as_ref()
            .map(|note| ("note".to_owned(), note.as_str().into())),
    );
    if !alert.tags.is_empty() {
        former.insert("tags".to_owned(), alert.tags.as_slice().into());
    }
    former.extend(alert.routing.to_json());
    let changes = differences(&former, &requested);
    if changes.is_empty() {
        return Ok(());
    }
    let alerts = &builder.app.service().alerts;
    let changes = Value::Object(changes);
    alerts
        .patch_alert(&builder.visitor.actor, alert.id, &changes)
        .await
        .map(drop)
}

/// Keeps the parameters that no form has: those that clients have added.
fn keep_client_metadata(requested: &mut Map<String, Value>, present: &Map<String, Value>) {
    let kind = present.get("condition").and_then(Value::as_str);
    let kind = kind.and_then(alerts::ConditionKind::from_name);
    let read = kind.map_or(&[][..], |kind| kind.spec().request.parameters);
    let Some(Value::Object(parameters)) = present.get("parameters") else {
        return;
    };
    let unknown = parameters
        .iter()
        .filter(|(name, _)| read.iter().all(|parameter| parameter.name != name.as_str()));
    let kept: Map<String, Value> = unknown.map(|(name, value)| (name.clone(), value.clone())).collect();
    if kept.is_empty() {
        return;
    }
    let target = requested
        .entry("parameters")
        .or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(target) = target {
        target.extend(kept);
    }
}

/// Returns the members that differ; null for those that are no more. A condition brings its threshold and its parameters.
fn differences(former: &Map<String, Value>, requested: &Map<String, Value>) -> Map<String, Value> {
    let names = MEMBERS
        .iter()
        .chain(&["note", "tags"])
        .chain(&ROUTE_INPUTS)
        .filter(|name| **name != "symbol");
    let is_other = |name: &str| !is_same(former.get(name), requested.get(name));
    let is_other_condition = is_other("condition");
    let changed = names.filter(|name| {
        let of_condition = ["threshold", "parameters"].contains(*name) && requested.contains_key(**name);
        is_other(name) || (is_other_condition && of_condition)
    });
    changed
        .map(|name| ((*name).to_owned(), requested.get(*name).cloned().unwrap_or(Value::Null)))
        .collect()
}

/// Returns whether two members are the same, with `180` the same as `180.0`. A default that is not sent is the same as one that is.
fn is_same(former: Option<&Value>, requested: Option<&Value>) -> bool {
    match (former, requested) {
        (Some(Value::Number(former)), Some(Value::Number(requested))) => former.as_f64() == requested.as_f64(),
        (Some(Value::Object(former)), Some(Value::Object(requested))) => {
            let names = former.keys().chain(requested.keys());
            names
                .into_iter()
                .all(|name| is_same(former.get(name), requested.get(name)))
        }
        (former, requested) => former == requested,
    }
}
