//! `create_alert`

use serde::Serialize;
use serde_json::json;
use service::alerts::Created;
use service::approvals::AgentChange;

use super::arguments::Arguments;
use super::{OutputSchema, ToolDefinition, ToolEffect, ToolError, ToolOutput};
use crate::document::alert_body::guide;
use crate::routes::alerts::view::AlertView;

const DESCRIPTION: &str = "Creates an active alert on one stock. `threshold` and `parameters` depend on `condition`:\n\
    - price_above, price_below: a price in USD\n\
    - price_change_up, price_change_down: percent from the current price\n\
    - ma_touch_above, ma_touch_below: length of the average in days, such as 50\n\
    - rsi_limit: 0-100\n\
    - volume_change: percent above average\n\
    - pe_ratio_*, forward_pe_*: a ratio\n\
    - insider_transactions: USD\n\
    - earnings_announcement, dividend_ex_date: days ahead\n\
    - social_buzz: no threshold; parameters.direction\n\
    - reminder: no threshold; parameters.date\n\
    - new_high, new_low, ma_crossover_*, daily_reminder, dividend_payment: no threshold\n\
    Details and examples: resource bellwether://guide/conditions. The result has `created: false` if an equivalent alert \
    already existed, and `sentence`, which says when the alert fires: repeat it to the user.";

pub(super) fn definition() -> ToolDefinition {
    let conditions: Vec<&str> = alerts::ConditionKind::ALL.iter().map(|kind| kind.name()).collect();
    ToolDefinition {
        title: "Create an alert",
        description: DESCRIPTION.to_owned(),
        effect: ToolEffect::Adds,
        arguments: json!({
            "symbol": {"type": "string", "pattern": "^[A-Za-z0-9.-]{1,10}$", "description": "The ticker symbol, such as AAPL or BRK.B"},
            "condition": {"type": "string", "enum": conditions, "description": "The condition to fire on"},
            "threshold": {"type": "number", "minimum": 0, "description": "In the condition's unit; 5 means 5 %. Omit it if the condition has none"},
            "notification": {"type": "string", "enum": ["email", "sms"], "default": "email", "description": "The notification channel, in addition to webhooks; sms needs a verified number"},
            "parameters": guide::parameters(),
        }),
        required: &["symbol", "condition"],
        output: created_or_waiting(),
    }
}

fn created_or_waiting() -> OutputSchema {
    let added = json!({"created": {"type": "boolean"}, "sentence": {"type": "string"}});
    OutputSchema::ObjectOrWaiting("Alert", added)
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
    ToolOutput::of(&CreatedAlert {
        created,
        sentence: alerts::sentence::sentence(&alert.condition, alert.initial_price),
        alert: AlertView::of(*detail),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn description_fits_client_limits_and_names_every_condition() {
        let length = DESCRIPTION.chars().count();
        assert!(length <= 1_000, "{length}");
        for kind in alerts::ConditionKind::ALL {
            let name = kind.name();
            // Conditions that differ only in their last word are named together.
            let family = name.rsplit_once('_').map_or(name, |(family, _)| family);
            assert!(
                DESCRIPTION.contains(name) || DESCRIPTION.contains(&format!("{family}_*")),
                "{name}"
            );
        }
    }
}
