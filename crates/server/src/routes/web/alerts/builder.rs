//! `GET|POST /alerts/new`: the builder. With `text` in the address it shows what a rule means; nothing is stored.

use foundation::ServiceError;
use serde_json::{Value, json};
use service::alerts::{Created, ParsedAlert};
use url::form_urlencoded;
use web::layout::Section;
use web::screens::builder::{BuilderCheck, BuilderPage, RuleCheck, RuleError};

use crate::routes::pages::link::form_field;
use crate::routes::pages::page::error_page;
use crate::routes::prelude::*;
use crate::routes::web::response::{redirect, rendered};
use crate::routes::web::visitor::{Visitor, VisitorRejection};

/// Maximum length of a rule, in characters.
const MAX_RULE_CHARS: usize = 1_000;
/// Maximum length of a note, in characters.
const MAX_NOTE_CHARS: usize = 2_000;
/// The stock of the examples when the address names none.
const EXAMPLE_SYMBOL: &str = "AAPL";

/// The input of the builder.
#[derive(Clone, Default)]
struct BuilderInput {
    rule: String,
    note: String,
    tags: String,
}

impl BuilderInput {
    /// Returns the address of the builder with this input.
    fn address(&self) -> String {
        let fields = [("text", &self.rule), ("note", &self.note), ("tags", &self.tags)];
        let filled = fields.into_iter().filter(|(_, value)| !value.is_empty());
        let query = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(filled)
            .finish();
        format!("/alerts/new?{query}")
    }
}

/// Shows the builder, or what its rule means.
pub(in crate::routes::web) async fn show_builder(
    State(app): State<App>,
    visitor: Visitor,
    mut query: Query,
) -> Response {
    let symbol = query.symbol("symbol").map(|symbol| symbol.to_string());
    let input = BuilderInput {
        rule: query
            .text("text", MAX_RULE_CHARS)
            .unwrap_or_else(|| symbol.as_ref().map_or_else(String::new, |symbol| format!("{symbol} "))),
        note: query.text("note", MAX_NOTE_CHARS).unwrap_or_default(),
        tags: query.text("tags", MAX_RULE_CHARS).unwrap_or_default(),
    };
    let check = match check_rule(&app, &visitor, &input.rule).await {
        Ok(check) => check,
        Err(error) => return error_page(error),
    };
    if visitor.is_part {
        let shell = visitor.shell(&app, Some(Section::Alerts));
        return rendered(&BuilderCheck { shell, check });
    }
    let page = builder_page(&app, &visitor, input, check, symbol);
    visitor.after_notice(rendered(&page))
}

/// Creates the alert of the form and leads to it, or shows the form again with its errors.
pub(in crate::routes::web) async fn create_alert(
    State(app): State<App>,
    visitor: Result<Visitor, VisitorRejection>,
    form: FormFields,
) -> Response {
    let input = BuilderInput {
        rule: form_field(&form, "text").to_owned(),
        note: form_field(&form, "note").to_owned(),
        tags: form_field(&form, "tags").to_owned(),
    };
    let visitor = match visitor {
        Ok(visitor) => visitor,
        // The form is filled in again after the sign-in.
        Err(VisitorRejection::SignedOut(signed_out)) => return signed_out.to_sign_in(Some(&input.address())),
        Err(refused) => return refused.into_response(),
    };
    let error = match create(&app, &visitor, &input).await {
        Ok(Created::New(detail) | Created::Existing(detail)) => {
            let path = format!("/alerts/{}", detail.stored.alert.id);
            return redirect(&visitor.head.link(&path));
        }
        Err(error @ (ServiceError::Internal(_) | ServiceError::StorageUnavailable(_))) => return error_page(error),
        Err(error) => error,
    };
    let status = match &error {
        ServiceError::Invalid { .. } => StatusCode::UNPROCESSABLE_ENTITY,
        ServiceError::Forbidden { .. } => StatusCode::FORBIDDEN,
        ServiceError::UnknownStock { .. } | ServiceError::NotFound(_) => StatusCode::NOT_FOUND,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    let field = |name: &str| match &error {
        ServiceError::Invalid { fields, .. } => fields.get(name).map(|errors| errors.join("; ")),
        _ => None,
    };
    let (note_error, tags_error) = (field("note"), field("tags"));
    let check = match note_error.is_none() && tags_error.is_none() {
        true => refused_rule(&input.rule, &error),
        false => RuleCheck::default(),
    };
    let page = BuilderPage {
        note_error,
        tags_error,
        ..builder_page(&app, &visitor, input, check, None)
    };
    let mut response = rendered(&page);
    *response.status_mut() = status;
    response
}

async fn create(app: &App, visitor: &Visitor, input: &BuilderInput) -> Result<Created, ServiceError> {
    let alerts = &app.service().alerts;
    let parsed = parse(app, visitor, &input.rule).await?;
    let mut body = parsed.alert;
    if !input.note.trim().is_empty() {
        body.insert("note".to_owned(), json!(input.note));
    }
    let tags: Vec<&str> = input
        .tags
        .split(',')
        .map(str::trim)
        .filter(|tag| !tag.is_empty())
        .collect();
    if !tags.is_empty() {
        body.insert("tags".to_owned(), json!(tags));
    }
    alerts.create_alert(&visitor.actor, &Value::Object(body)).await
}

async fn parse(app: &App, visitor: &Visitor, rule: &str) -> Result<ParsedAlert, ServiceError> {
    let alerts = &app.service().alerts;
    alerts.parse_alert_text(&visitor.actor, &json!({"text": rule})).await
}

/// Reads a rule and plays it over the stored bars.
async fn check_rule(app: &App, visitor: &Visitor, rule: &str) -> Result<RuleCheck, ServiceError> {
    // A rule that is about to be typed has no error yet.
    if rule.split_whitespace().count() < 2 {
        return Ok(RuleCheck::default());
    }
    let parsed = match parse(app, visitor, rule).await {
        Ok(parsed) => parsed,
        Err(error @ (ServiceError::Internal(_) | ServiceError::StorageUnavailable(_))) => return Err(error),
        Err(error) => return Ok(refused_rule(rule, &error)),
    };
    let body = json!({"alert": parsed.alert});
    match app.service().alerts.preview_alert(&visitor.actor, &body).await {
        Ok(preview) => Ok(RuleCheck::of(&parsed, Some(&preview))),
        Err(error @ (ServiceError::Internal(_) | ServiceError::StorageUnavailable(_))) => Err(error),
        Err(error) => Ok(RuleCheck {
            sentence: Some(parsed.sentence),
            ..refused_rule(rule, &error)
        }),
    }
}

fn refused_rule(rule: &str, error: &ServiceError) -> RuleCheck {
    let expression = match error {
        ServiceError::Invalid { expression, .. } => expression.as_deref(),
        _ => None,
    };
    let message = match (error, expression) {
        (_, Some(expression)) => expression.to_string(),
        (ServiceError::Invalid { fields, .. }, None) => {
            fields.values().flatten().cloned().collect::<Vec<_>>().join("; ")
        }
        (error, None) => error.to_string(),
    };
    RuleCheck {
        error: Some(RuleError::new(rule, message, expression)),
        ..RuleCheck::default()
    }
}

fn builder_page(
    app: &App,
    visitor: &Visitor,
    input: BuilderInput,
    check: RuleCheck,
    symbol: Option<String>,
) -> BuilderPage {
    BuilderPage {
        rule: input.rule,
        note: input.note,
        tags: input.tags,
        check,
        example_symbol: symbol.unwrap_or_else(|| EXAMPLE_SYMBOL.to_owned()),
        note_error: None,
        tags_error: None,
        shell: visitor.shell(app, Some(Section::Alerts)),
    }
}
