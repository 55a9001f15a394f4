//! `POST /templates/preview`

use service::templates::PreviewTemplateRequest;

use crate::routes::prelude::*;

/// The result of a template.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TemplatePreview)]
pub struct PreviewTemplateResponse {
    /// The text, before a service cuts it to its maximum length.
    #[schema(example = "AAPL is at 201.50 (+1.64 % today)")]
    pub text: String,
}

/// Preview a template
///
/// Renders a template of a notification channel, with the values of an example, of the latest firing of an alert, or the present
/// ones of an alert that has never fired. Nothing is stored or sent. Templates are a part of Jinja: the variables `symbol`,
/// `company_name`, `condition`, `price`, `value`, `level`, `change_percent`, `note`, `reason`, `fired_at` and `link`; `if` and `set`; and
/// the filters `money`, `percent` and `tojson`.
#[utoipa::path(
    post,
    path = "/templates/preview",
    tag = "Notification channels",
    request_body(content = PreviewTemplateRequest, description = "The template"),
    responses(
        (status = 200, description = "The result of the template", body = Envelope<PreviewTemplateResponse>),
        (status = 400, description = "The body is not a JSON object"),
        (status = 404, description = "Alert not found"),
        (status = 422, description = "A field is invalid, or the template fails: the error of `template` names the line and the fix"),
    ),
    security(("ApiKeyHeader" = ["alerts:read"]))
)]
pub(super) async fn preview_template(
    State(app): State<App>,
    caller: Authorized<AlertsRead>,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<PreviewTemplateResponse>, ApiError> {
    let text = app.service().templates.preview(&caller.actor, &body).await?;
    Ok(ApiResponse::ok(PreviewTemplateResponse { text }))
}
