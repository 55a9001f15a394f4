//! `GET|POST /alerts/new`: the builder. With `text` or a form in the address it shows what they mean; nothing is stored.
//!
//! The rule and the form follow each other. `read_rule` is the rule that the form was filled from: while the typed rule is the
//! same, the form counts, otherwise the rule.

use axum::http::Uri;
use foundation::ServiceError;
use market::Symbol;
use serde_json::{Value, json};
use service::alerts::{Created, ParsedAlert};
use url::form_urlencoded;
use web::form_state::FormState;
use web::layout::Section;
use web::screens::builder::alert_form::{CONDITION, SYMBOL};
use web::screens::builder::{AlertForm, BuilderPage, BuilderPart, RuleCheck, RuleError};

use super::builder_check::check_body;
use super::builder_form::{body_of_form, values_of_body};
use crate::routes::pages::link::form_field;
use crate::routes::pages::page::error_page;
use crate::routes::prelude::*;
use crate::routes::web::response::{is_failure, redirect, rendered};
use crate::routes::web::visitor::{Visitor, VisitorRejection};

/// The stock of the examples when the address names none.
const EXAMPLE_SYMBOL: &str = "AAPL";

/// The contents of the builder.
struct BuilderInput {
    fields: FormFields,
}

impl BuilderInput {
    fn of_address(uri: &Uri) -> Self {
        let pairs = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).into_owned();
        Self {
            fields: FormFields(pairs.collect()),
        }
    }

    fn field(&self, name: &str) -> &str {
        form_field(&self.fields, name)
    }

    /// Returns the typed rule. Without one it begins with the stock of the address.
    fn rule(&self) -> String {
        match (self.field("text").trim(), self.field(SYMBOL).trim()) {
            ("", symbol) if !symbol.is_empty() && !self.has_form() => format!("{symbol} "),
            (text, _) => text.to_owned(),
        }
    }

    fn has_form(&self) -> bool {
        !self.field(CONDITION).is_empty()
    }

    /// Returns whether the form counts, and not the rule.
    fn is_form(&self) -> bool {
        self.has_form() && self.field("text").trim() == self.field("read_rule").trim()
    }

    /// Returns the address of the builder with this input.
    fn address(&self) -> String {
        let filled = self.fields.0.iter().filter(|(_, value)| !value.is_empty());
        let query = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(filled)
            .finish();
        format!("/alerts/new?{query}")
    }

    /// Returns the form as it was entered.
    fn form(&self) -> AlertForm {
        AlertForm(FormState {
            values: self.fields.0.iter().cloned().collect(),
            ..FormState::default()
        })
    }
}

/// Shows the builder, or what its rule or its form means.
pub(in crate::routes::web) async fn show_builder(State(app): State<App>, visitor: Visitor, uri: Uri) -> Response {
    let input = BuilderInput::of_address(&uri);
    let shown = match read(&app, &visitor, &input).await {
        Ok(shown) => shown,
        Err(error) => return error_page(error),
    };
    if !visitor.is_part {
        let page = builder_page(&app, &visitor, &input, shown);
        return visitor.after_notice(rendered(&page));
    }
    let is_form = input.is_form();
    let is_other_shape = input.field("shape") != shown.form.shape();
    let form = match is_form {
        true => is_other_shape,
        // A rule with an error has no form.
        false => shown.is_read,
    };
    rendered(&BuilderPart {
        rule: is_form.then(|| shown.rule.clone()),
        read_rule: (is_form || shown.is_read).then_some(shown.rule),
        form: form.then_some(shown.form),
        check: shown.check,
        shell: visitor.shell(&app, Some(Section::Alerts)),
    })
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
        Err(VisitorRejection::SignedOut(signed_out)) => return signed_out.to_sign_in(Some(&input.address())),
        Err(refused) => return refused.into_response(),
    };
    let error = match create(&app, &visitor, &input).await {
        Ok(Created::New(detail) | Created::Existing(detail)) => {
            let path = format!("/alerts/{}", detail.stored.alert.id);
            return redirect(&visitor.head.link(&path));
        }
        Err(error) if is_failure(&error) => return error_page(error),
        Err(error) => error,
    };
    let status = match &error {
        ServiceError::Invalid { .. } => StatusCode::UNPROCESSABLE_ENTITY,
        ServiceError::Forbidden { .. } => StatusCode::FORBIDDEN,
        ServiceError::UnknownStock { .. } | ServiceError::NotFound(_) => StatusCode::NOT_FOUND,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    let page = refused_page(&app, &visitor, &input, &error);
    let mut response = rendered(&page);
    *response.status_mut() = status;
    response
}

async fn create(app: &App, visitor: &Visitor, input: &BuilderInput) -> Result<Created, ServiceError> {
    let alerts = &app.service().alerts;
    let mut body = match input.is_form() {
        true => body_of_form(&input.fields),
        false => parse(app, visitor, &input.rule()).await?.alert,
    };
    if !input.field("note").trim().is_empty() {
        body.insert("note".to_owned(), json!(input.field("note")));
    }
    let tags = input.field("tags").split(',').map(str::trim);
    let tags: Vec<&str> = tags.filter(|tag| !tag.is_empty()).collect();
    if !tags.is_empty() {
        body.insert("tags".to_owned(), json!(tags));
    }
    alerts.create_alert(&visitor.actor, &Value::Object(body)).await
}

async fn parse(app: &App, visitor: &Visitor, rule: &str) -> Result<ParsedAlert, ServiceError> {
    let alerts = &app.service().alerts;
    alerts.parse_alert_text(&visitor.actor, &json!({"text": rule})).await
}

/// The builder as it is shown.
struct ShownAlert {
    /// The rule, which the form follows if it could be read.
    rule: String,
    is_read: bool,
    form: AlertForm,
    check: RuleCheck,
}

/// Reads the rule or the form, whichever counts, and fills in the other.
async fn read(app: &App, visitor: &Visitor, input: &BuilderInput) -> Result<ShownAlert, ServiceError> {
    if input.is_form() {
        return read_form(app, visitor, input).await;
    }
    let rule = input.rule();
    let mut shown = ShownAlert {
        rule: rule.clone(),
        is_read: false,
        form: input.form(),
        check: RuleCheck::default(),
    };
    if is_incomplete(&rule) {
        return Ok(shown);
    }
    match parse(app, visitor, &rule).await {
        Ok(parsed) => {
            shown.form.0.values = values_of_body(&parsed.alert);
            shown.is_read = true;
            shown.check = match check_body(app, visitor, &parsed.alert, &[]).await {
                Ok(checked) => checked.check,
                Err(error) => refused_rule(&rule, &required(error)?),
            };
        }
        Err(error) => shown.check = refused_rule(&rule, &required(error)?),
    }
    Ok(shown)
}

/// Returns whether a rule is about to be typed, so that it has no error yet, and the form counts.
fn is_incomplete(rule: &str) -> bool {
    rule.split_whitespace().count() < 2
}

async fn read_form(app: &App, visitor: &Visitor, input: &BuilderInput) -> Result<ShownAlert, ServiceError> {
    let mut form = input.form();
    let body = body_of_form(&input.fields);
    let (rule, check) = match check_body(app, visitor, &body, &[]).await {
        Ok(checked) => (checked.text.unwrap_or_default(), checked.check),
        Err(error) => {
            let error = required(error)?;
            // An input that is about to be filled in has no error yet.
            let is_filled = |name: &str| !input.field(name).trim().is_empty();
            let messages = split_errors(&mut form, &error, is_filled);
            let message = match visitor.is_part {
                // The inputs stay as they are on the screen.
                true => messages.all,
                false => messages.of_no_input,
            };
            let check = RuleCheck {
                error: message.map(|message| RuleError::new("", message, None)),
                ..RuleCheck::default()
            };
            (String::new(), check)
        }
    };
    Ok(ShownAlert {
        rule,
        is_read: true,
        form,
        check,
    })
}

/// Passes an error that the page shows, and returns a failure of the service as such.
fn required(error: ServiceError) -> Result<ServiceError, ServiceError> {
    match is_failure(&error) {
        true => Err(error),
        false => Ok(error),
    }
}

/// The messages of an error, as texts.
struct ErrorMessages {
    /// All of them, with their inputs.
    all: Option<String>,
    /// Those of no input.
    of_no_input: Option<String>,
}

/// Puts each error at its input, if `is_shown` says so, and returns the messages.
fn split_errors(form: &mut AlertForm, error: &ServiceError, is_shown: impl Fn(&str) -> bool) -> ErrorMessages {
    let ServiceError::Invalid { fields, .. } = error else {
        let message = Some(error.to_string());
        return ErrorMessages {
            all: message.clone(),
            of_no_input: message,
        };
    };
    let (mut all, mut of_no_input) = (Vec::new(), Vec::new());
    for (name, messages) in fields {
        let messages = messages.join("; ");
        let text = format!("{name} {messages}");
        let has_input = form.has_input(name);
        if !has_input {
            of_no_input.push(text.clone());
        }
        if !has_input || is_shown(name) {
            all.push(text);
            form.0.errors.insert(name.clone(), messages);
        }
    }
    let joined = |texts: Vec<String>| (!texts.is_empty()).then(|| texts.join("; "));
    ErrorMessages {
        all: joined(all),
        of_no_input: joined(of_no_input),
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

/// Returns the builder with the errors of a refused request.
fn refused_page(app: &App, visitor: &Visitor, input: &BuilderInput, error: &ServiceError) -> BuilderPage {
    let field = |name: &str| match error {
        ServiceError::Invalid { fields, .. } => fields.get(name).map(|errors| errors.join("; ")),
        _ => None,
    };
    let (note_error, tags_error) = (field("note"), field("tags"));
    let rule = input.rule();
    let mut form = input.form();
    let check = match (note_error.is_some() || tags_error.is_some(), input.is_form()) {
        (true, _) => RuleCheck::default(),
        (false, true) => {
            let message = split_errors(&mut form, error, |_| true).of_no_input;
            RuleCheck {
                error: message.map(|message| RuleError::new("", message, None)),
                ..RuleCheck::default()
            }
        }
        (false, false) => refused_rule(&rule, error),
    };
    let shown = ShownAlert {
        is_read: input.is_form(),
        rule,
        form,
        check,
    };
    BuilderPage {
        note_error,
        tags_error,
        ..builder_page(app, visitor, input, shown)
    }
}

fn builder_page(app: &App, visitor: &Visitor, input: &BuilderInput, shown: ShownAlert) -> BuilderPage {
    let symbol: Option<Symbol> = input.field(SYMBOL).trim().parse().ok();
    BuilderPage {
        read_rule: match shown.is_read || is_incomplete(&shown.rule) {
            true => shown.rule.clone(),
            false => String::new(),
        },
        rule: shown.rule,
        form: shown.form,
        note: input.field("note").to_owned(),
        tags: input.field("tags").to_owned(),
        check: shown.check,
        example_symbol: symbol.map_or_else(|| EXAMPLE_SYMBOL.to_owned(), |symbol| symbol.to_string()),
        note_error: None,
        tags_error: None,
        shell: visitor.shell(app, Some(Section::Alerts)),
    }
}
