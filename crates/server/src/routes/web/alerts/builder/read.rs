//! Reads the rule or the form, whichever counts, and fills in the other.

use delivery::notification_channels::ChannelDetail;
use foundation::ServiceError;
use market::{Price, Symbol};
use serde_json::{Map, Value, json};
use web::form_state::FormState;
use web::layout::Section;
use web::screens::builder::alert_form::SYMBOL;
use web::screens::builder::{AlertForm, BuilderPage, BuilderPart, BuilderTarget, ROUTE_INPUTS, RuleCheck, RuleError};
use web::wording;

use super::check::check_body;
use super::form::{body_of_form, values_of_body};
use super::input::BuilderInput;
use super::stored::PresentAlert;
use crate::routes::prelude::*;
use crate::routes::web::response::{is_failure, message_at_field, rendered};
use crate::routes::web::visitor::Visitor;

/// The stock of the examples when the address names none, if the service knows it.
const EXAMPLE_SYMBOL: &str = "AAPL";

/// A builder of one request.
pub(super) struct Builder<'a> {
    pub(super) app: &'a App,
    pub(super) visitor: &'a Visitor,
    pub(super) input: BuilderInput,
    /// The alert that is changed; `None` for a new one.
    pub(super) present: Option<PresentAlert>,
    /// The notification channels of the account.
    pub(super) channels: Vec<ChannelDetail>,
}

/// The builder as it is shown.
struct ShownAlert {
    /// The rule, which the form follows if it could be read.
    rule: String,
    is_read: bool,
    form: AlertForm,
    check: RuleCheck,
}

impl<'a> Builder<'a> {
    pub(super) async fn new(
        app: &'a App,
        visitor: &'a Visitor,
        input: BuilderInput,
        present: Option<PresentAlert>,
    ) -> Result<Self, ServiceError> {
        Ok(Self {
            channels: app.service().notification_channels.list(&visitor.actor).await?,
            app,
            visitor,
            input,
            present,
        })
    }

    /// Returns the body of the request that creates the alert of the input.
    pub(super) async fn body(&self) -> Result<Map<String, Value>, ServiceError> {
        let mut body = match self.input.is_form() {
            true => body_of_form(&self.input.fields),
            false => self.parse(&self.input.rule()).await?,
        };
        self.check_stock(&body)?;
        self.input.add_labels(&mut body, &self.channels);
        Ok(body)
    }

    /// Shows the whole builder, or the parts of it that follow the input.
    pub(super) async fn show(&self) -> Result<Response, ServiceError> {
        let shown = self.read().await?;
        if !self.visitor.is_part {
            return Ok(self.visitor.after_notice(rendered(&self.page(shown))));
        }
        let is_form = self.input.is_form();
        let is_other_shape = self.input.field("shape") != shown.form.shape();
        let form = match is_form {
            true => is_other_shape,
            // A rule with an error has no form.
            false => shown.is_read,
        };
        Ok(rendered(&BuilderPart {
            rule: is_form.then(|| shown.rule.clone()),
            read_rule: (is_form || shown.is_read).then_some(shown.rule),
            form: form.then_some(shown.form),
            check: shown.check,
            target: self.target(),
            shell: self.visitor.shell(self.app, Some(Section::Alerts)),
        }))
    }

    /// Shows the builder with the errors of a refused request.
    pub(super) fn refused(&self, error: &ServiceError) -> Response {
        let field = |name: &str| match error {
            ServiceError::Invalid { fields, .. } => fields.get(name).map(|errors| wording::at_input(errors)),
            _ => None,
        };
        let (note_error, tags_error) = (field("note"), field("tags"));
        let mut notification = self.input.notification(&self.channels);
        let of_route = ROUTE_INPUTS
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), field(name)?)));
        notification.state.errors = of_route.collect();
        let has_other_error = note_error.is_some() || tags_error.is_some() || !notification.state.errors.is_empty();
        let is_form = self.input.is_form();
        let rule = self.input.rule();
        let mut form = self.form();
        let check = match (has_other_error, is_form) {
            (true, _) => RuleCheck::default(),
            (false, true) => refused_form(split_errors(&mut form, error, |_| true).of_no_input),
            (false, false) => refused_rule(&rule, error),
        };
        let shown = ShownAlert {
            is_read: is_form,
            rule,
            form,
            check,
        };
        let mut response = rendered(&BuilderPage {
            note_error,
            tags_error,
            notification,
            ..self.page(shown)
        });
        *response.status_mut() = match error {
            ServiceError::Invalid { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            ServiceError::Forbidden { .. } => StatusCode::FORBIDDEN,
            ServiceError::UnknownStock { .. } | ServiceError::NotFound(_) => StatusCode::NOT_FOUND,
            ServiceError::Conflict(_) => StatusCode::CONFLICT,
            _ => StatusCode::SERVICE_UNAVAILABLE,
        };
        response
    }

    async fn read(&self) -> Result<ShownAlert, ServiceError> {
        if self.input.is_form() {
            return self.read_form().await;
        }
        let rule = self.input.rule();
        let mut shown = ShownAlert {
            rule: rule.clone(),
            is_read: false,
            form: self.form(),
            check: RuleCheck::default(),
        };
        if is_incomplete(&rule) {
            return Ok(shown);
        }
        let parsed = self.parse(&rule).await;
        let parsed = parsed.and_then(|body| self.check_stock(&body).map(|()| body));
        match parsed {
            Ok(body) => {
                shown.form.state.values = values_of_body(&body);
                shown.is_read = true;
                shown.check = match check_body(self.app, self.visitor, &body, self.former_levels()).await {
                    Ok(checked) => checked.check,
                    Err(error) => refused_rule(&rule, &shown_error(error)?),
                };
            }
            Err(error) => shown.check = refused_rule(&rule, &shown_error(error)?),
        }
        Ok(shown)
    }

    async fn read_form(&self) -> Result<ShownAlert, ServiceError> {
        let mut form = self.form();
        let body = body_of_form(&self.input.fields);
        let checked = match self.check_stock(&body) {
            Ok(()) => check_body(self.app, self.visitor, &body, self.former_levels()).await,
            Err(error) => Err(error),
        };
        let (rule, check) = match checked {
            Ok(checked) => (checked.text.unwrap_or_default(), checked.check),
            Err(error) => {
                let error = shown_error(error)?;
                // An input that is about to be filled in has no error yet.
                let is_filled = |name: &str| !self.input.field(name).trim().is_empty();
                let messages = split_errors(&mut form, &error, is_filled);
                let message = match self.visitor.is_part {
                    // The inputs stay as they are on the screen.
                    true => messages.all,
                    false => messages.of_no_input,
                };
                (String::new(), refused_form(message))
            }
        };
        Ok(ShownAlert {
            rule,
            is_read: true,
            form,
            check,
        })
    }

    async fn parse(&self, rule: &str) -> Result<Map<String, Value>, ServiceError> {
        let alerts = &self.app.service().alerts;
        let parsed = alerts
            .parse_alert_text(&self.visitor.actor, &json!({"text": rule}))
            .await?;
        Ok(parsed.alert)
    }

    /// Requires that an alert that exists keeps its stock.
    fn check_stock(&self, body: &Map<String, Value>) -> Result<(), ServiceError> {
        match &self.present {
            Some(present) if present.body.get(SYMBOL) != body.get(SYMBOL) => Err(ServiceError::field(
                "text",
                "The stock of an alert cannot be changed; create a new alert instead.",
            )),
            _ => Ok(()),
        }
    }

    fn former_levels(&self) -> &[Price] {
        let described = self.present.as_ref().and_then(|present| present.described.as_ref());
        described.map_or(&[], |described| &described.levels)
    }

    fn target(&self) -> BuilderTarget {
        match &self.present {
            None => BuilderTarget::New,
            Some(present) => BuilderTarget::Present {
                id: present.stored.alert.id,
                is_scoped: present.stored.scope().is_some(),
            },
        }
    }

    /// Returns the form as it was entered.
    fn form(&self) -> AlertForm {
        AlertForm {
            state: FormState {
                values: self.input.values(),
                ..FormState::default()
            },
            target: self.target(),
        }
    }

    /// Returns a stock that the service knows, so that the examples can be tried.
    fn example_symbol(&self) -> String {
        let stocks = &self.app.service().stocks;
        let mut known = [EXAMPLE_SYMBOL, ""]
            .iter()
            .flat_map(|text| stocks.search_stocks(text, 1));
        known
            .next()
            .map_or_else(|| EXAMPLE_SYMBOL.to_owned(), |stock| stock.symbol.to_string())
    }

    fn page(&self, shown: ShownAlert) -> BuilderPage {
        let input = &self.input;
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
            example_symbol: symbol.map_or_else(|| self.example_symbol(), |symbol| symbol.to_string()),
            note_error: None,
            tags_error: None,
            notification: input.notification(&self.channels),
            target: self.target(),
            shell: self.visitor.shell(self.app, Some(Section::Alerts)),
        }
    }
}

/// Returns whether a rule is about to be typed, so that it has no error yet, and the form counts.
fn is_incomplete(rule: &str) -> bool {
    rule.split_whitespace().count() < 2
}

/// Returns an error that the page shows; a failure of the service is an error of the request.
fn shown_error(error: ServiceError) -> Result<ServiceError, ServiceError> {
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
        let message = Some(wording::message(&error.to_string()));
        return ErrorMessages {
            all: message.clone(),
            of_no_input: message,
        };
    };
    let (mut all, mut of_no_input) = (Vec::new(), Vec::new());
    for (name, messages) in fields {
        let text = wording::of_field(name, messages);
        let messages = wording::at_input(messages);
        let has_input = form.has_input(name);
        if !has_input {
            of_no_input.push(text.clone());
        }
        if !has_input || is_shown(name) {
            all.push(text);
            form.state.errors.insert(name.clone(), messages);
        }
    }
    let joined = |texts: Vec<String>| (!texts.is_empty()).then(|| texts.join("; "));
    ErrorMessages {
        all: joined(all),
        of_no_input: joined(of_no_input),
    }
}

fn refused_form(message: Option<String>) -> RuleCheck {
    RuleCheck {
        error: message.map(|message| RuleError::new("", message, None)),
        ..RuleCheck::default()
    }
}

fn refused_rule(rule: &str, error: &ServiceError) -> RuleCheck {
    let expression = match error {
        ServiceError::Invalid { expression, .. } => expression.as_deref(),
        _ => None,
    };
    let message = expression.map_or_else(|| message_at_field(error), wording::of_rule);
    RuleCheck {
        error: Some(RuleError::new(rule, message, expression)),
        ..RuleCheck::default()
    }
}
