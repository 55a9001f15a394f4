//! `create_alert`

use alerts::ConditionKind;
use alerts::condition::ThresholdNeed;
use foundation::Actor;
use serde::Serialize;
use serde_json::json;
use service::alerts::{Created, describe_stored};
use service::approvals::AgentChange;

use super::arguments::Arguments;
use super::{OutputSchema, Tool, ToolDefinition, ToolEffect, ToolError, ToolOutput, error_text};
use crate::document::alert_body::{guide, routing};
use crate::routes::alerts::preview::AlertPreview;
use crate::routes::alerts::view::AlertView;
use crate::state::App;

fn description() -> String {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for kind in ConditionKind::ALL {
        let request = kind.spec().request;
        let threshold = match request.threshold {
            Some(threshold) if threshold.need == ThresholdNeed::WithoutDate => "no threshold".to_owned(),
            Some(threshold) if threshold.range.is_above_zero() => threshold.range.noun.to_owned(),
            Some(threshold) => threshold.range.to_string(),
            None => "no threshold".to_owned(),
        };
        let name = match request.parameters.iter().find(|parameter| parameter.is_required) {
            Some(parameter) => format!("{kind} (with parameters.{})", parameter.name),
            None => kind.to_string(),
        };
        match groups.iter_mut().find(|(other, _)| *other == threshold) {
            Some((_, names)) => names.push(name),
            None => groups.push((threshold, vec![name])),
        }
    }
    let lines: Vec<_> = groups
        .iter()
        .map(|(threshold, names)| format!("- {}: {threshold}", names.join(", ")))
        .collect();
    format!(
        "Creates an active alert on one stock (symbol) or many (scope). `threshold` and `parameters` depend on `condition`:\n{}\n\
         A reminder needs parameters.date. Details and examples: resource bellwether://guide/conditions. The result has \
         `created: false` if an equivalent alert already existed, and `sentence`, which says when the alert fires: repeat it to \
         the user.",
        lines.join("\n")
    )
}

pub(super) fn definition() -> ToolDefinition {
    let conditions: Vec<&str> = ConditionKind::ALL.iter().map(|kind| kind.name()).collect();
    let mut arguments = json!({
        "symbol": {"type": "string", "pattern": "^[A-Za-z0-9.-]{1,10}$", "description": "The ticker symbol, such as AAPL or BRK.B"},
        "scope": {"type": "object", "description": "In place of symbol: {symbols: [...]} or {watchlist: all, buy or sell}"},
        "condition": {"type": "string", "enum": conditions, "description": "The condition to fire on"},
        "when": {"type": "string", "description": "For expression, in place of parameters.when: rsi(14) < 30 and price > sma(200)"},
        "threshold": {"type": "number", "minimum": 0, "description": "In the condition's unit; 5 means 5 %. Omit it if the condition has none"},
        "notification": {"type": "string", "enum": ["email", "sms"], "default": "email", "description": "The notification channel, in addition to webhooks; sms needs a verified number"},
        "parameters": guide::parameters(),
        "note": {"type": "string", "maxLength": 2000, "description": "Shown in every notification"},
        "tags": {"type": "array", "items": {"type": "string"}, "description": "Tags to filter lists by"},
        "preview": {"type": "boolean", "default": false, "description": "Create nothing; the result has only `preview`: the firings of the last five years"},
        "options": {"type": "object", "description": "repeat (once, each_time, once_per_day), cooldown, rearm, hold, expires_at and others: resource bellwether://guide/conditions"},
    });
    routing::add_to_arguments(&mut arguments);
    ToolDefinition {
        title: "Create an alert",
        description: description(),
        effect: ToolEffect::Adds,
        arguments,
        required: &["condition"],
        output: created_or_waiting(),
    }
}

fn created_or_waiting() -> OutputSchema {
    let added = json!({"created": {"type": "boolean"}, "sentence": {"type": "string"}});
    OutputSchema::ObjectOrWaiting("Alert", added, &["preview"])
}

/// Moves the argument `when` to the parameters, where REST has it.
pub(super) fn move_expression(arguments: &mut Arguments) -> Result<(), ToolError> {
    if arguments.has("when") && !arguments.is("condition", "expression") {
        return Err(ToolError::Refused(
            "when: must be omitted unless condition is expression".to_owned(),
        ));
    }
    arguments
        .move_into("when", "parameters")
        .map_err(|()| ToolError::Refused("when: must be omitted if parameters.when is given".to_owned()))
}

/// The preview of an alert that is not created.
#[derive(Serialize)]
struct PreviewedAlert {
    preview: AlertPreview,
}

/// Returns the preview, if the arguments ask for one.
pub(super) async fn preview(
    app: &App,
    actor: &Actor,
    arguments: &mut Arguments,
) -> Result<Option<ToolOutput>, ToolError> {
    if !arguments.take_flag("preview") {
        return Ok(None);
    }
    let body = json!({"alert": arguments.clone().body()});
    let preview = app.service().alerts.preview_alert(actor, &body).await;
    let preview = preview.map_err(|error| error_text::for_agent(Tool::CreateAlert, error))?;
    let preview = AlertPreview::of(preview);
    ToolOutput::of(&PreviewedAlert { preview }).map(Some)
}

pub(super) fn change(arguments: Arguments) -> AgentChange {
    AgentChange::CreateAlert(arguments.body())
}

/// An alert, whether it is new, and when it fires.
#[derive(Serialize)]
struct CreatedAlert {
    created: bool,
    sentence: String,
    #[serde(flatten)]
    alert: AlertView,
}

pub(super) fn output(result: Created) -> Result<ToolOutput, ToolError> {
    let (created, detail) = match result {
        Created::New(detail) => (true, detail),
        Created::Existing(detail) => (false, detail),
    };
    let alert = &detail.stored.alert;
    let sentence = match detail.stored.scope() {
        None if alert.options.are_default() => alerts::sentence::sentence(&alert.condition, alert.initial_price),
        _ => describe_stored(&detail.stored).sentence,
    };
    ToolOutput::of(&CreatedAlert {
        created,
        sentence,
        alert: AlertView::of(*detail),
    })
}
