//! `GET|POST /alerts/new`: the builder of a new alert.

use axum::http::Uri;
use foundation::ServiceError;
use serde_json::Value;
use service::alerts::{AlertDetail, Created};

use super::input::BuilderInput;
use super::read::Builder;
use crate::routes::pages::page::error_page;
use crate::routes::prelude::*;
use crate::routes::web::response::{is_failure, redirect};
use crate::routes::web::visitor::{Visitor, VisitorRejection};

/// The address of the builder.
const PATH: &str = "/alerts/new";

/// Shows the builder, or what its rule or its form means.
pub(in crate::routes::web) async fn show_builder(State(app): State<App>, visitor: Visitor, uri: Uri) -> Response {
    match Builder::new(&app, &visitor, BuilderInput::of_address(&uri), None).await {
        Ok(builder) => builder.show().await.unwrap_or_else(error_page),
        Err(error) => error_page(error),
    }
}

/// Creates the alert and leads to it, or shows the builder again with its errors.
pub(in crate::routes::web) async fn create_alert(
    State(app): State<App>,
    visitor: Result<Visitor, VisitorRejection>,
    fields: FormFields,
) -> Response {
    let input = BuilderInput { fields };
    let visitor = match visitor {
        Ok(visitor) => visitor,
        // The form is filled in again after the sign-in.
        Err(VisitorRejection::SignedOut(signed_out)) => return signed_out.to_sign_in(Some(&input.address(PATH))),
        Err(refused) => return refused.into_response(),
    };
    let builder = match Builder::new(&app, &visitor, input, None).await {
        Ok(builder) => builder,
        Err(error) => return error_page(error),
    };
    match create(&builder).await {
        Ok(detail) => redirect(&visitor.head.link(&format!("/alerts/{}", detail.stored.alert.id))),
        Err(error) if is_failure(&error) => error_page(error),
        Err(error) => builder.refused(&error),
    }
}

async fn create(builder: &Builder<'_>) -> Result<Box<AlertDetail>, ServiceError> {
    let body = Value::Object(builder.body().await?);
    let alerts = &builder.app.service().alerts;
    let created = alerts.create_alert(&builder.visitor.actor, &body).await?;
    Ok(match created {
        Created::New(detail) | Created::Existing(detail) => detail,
    })
}
