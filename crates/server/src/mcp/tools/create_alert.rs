//! `create_alert`

use serde_json::json;
use service::approvals::AgentChange;

use super::arguments::Arguments;
use super::{Definition, Effect, output};
use crate::document::alert_body::guide;

pub(super) fn definition() -> Definition {
    let conditions: Vec<&str> = alerts::ConditionKind::ALL.iter().map(|kind| kind.name()).collect();
    Definition {
        title: "Create an alert",
        description: format!(
            "Makes an active alert that waits for one condition of one stock. If there is an equivalent one already, that one \
             is answered unchanged. The conditions, with what each takes:\n{}",
            guide::conditions()
        ),
        effect: Effect::Adds,
        arguments: json!({
            "symbol": {"type": "string", "pattern": "^[A-Za-z0-9.-]{1,10}$", "description": "The stock's ticker symbol, such as AAPL or BRK.B"},
            "condition": {"type": "string", "enum": conditions, "description": "What to wait for; the tool's description says what each takes"},
            "threshold": {"type": "number", "minimum": 0, "description": "A price in US dollars, a percentage (5 for 5 %), an RSI, a ratio, days or US dollars of insider trades, as the condition says; leave it out where the condition takes none"},
            "notification": {"type": "string", "enum": ["email", "sms"], "default": "email", "description": "How to tell the owner, beside the webhooks; sms needs a verified number"},
            "parameters": guide::parameters(),
        }),
        required: &["symbol", "condition"],
        output: output::one_or_waiting("Alert"),
    }
}

pub(super) fn change(arguments: Arguments) -> AgentChange {
    AgentChange::CreateAlert(arguments.body())
}
