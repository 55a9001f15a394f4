//! The prompts: tasks that a user starts from a menu of the agent.

use foundation::{Actor, Scope};
use rmcp::model::{GetPromptResult, Prompt as PromptEntry, PromptArgument, PromptMessage, Role};
use serde_json::{Map, Value};

use super::resources::{GUIDE_URI, guide_text};

/// The maximum length of an argument, in characters.
const MAX_ARGUMENT_CHARACTERS: usize = 2_000;

/// A prompt.
pub(super) struct Prompt {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    /// The scope of the tools that the prompt uses.
    pub(super) scope: Scope,
    argument: Argument,
    /// Returns the messages for the argument.
    messages: fn(Option<&str>) -> Vec<PromptMessage>,
}

/// The argument of a prompt.
struct Argument {
    name: &'static str,
    description: &'static str,
    is_required: bool,
}

static PROMPTS: [Prompt; 2] = [
    Prompt {
        name: "set_up_alert",
        title: "Set up an alert",
        description: "Turns a request in plain words into an alert, after confirmation",
        scope: Scope::AlertsWrite,
        argument: Argument {
            name: "request",
            description: "The event to be alerted about, such as: tell me when Apple drops 5 %",
            is_required: true,
        },
        messages: set_up_alert,
    },
    Prompt {
        name: "review_fired_alerts",
        title: "Review fired alerts",
        description: "Explains which alerts fired in a period, why, and what to do about each",
        scope: Scope::AlertsRead,
        argument: Argument {
            name: "since",
            description: "The start of the period, such as 2026-03-02T15:04:00Z or: since yesterday; default the last 7 days",
            is_required: false,
        },
        messages: review_fired_alerts,
    },
];

impl Prompt {
    /// Returns the prompt with this name.
    pub(super) fn from_name(name: &str) -> Option<&'static Self> {
        PROMPTS.iter().find(|prompt| prompt.name == name)
    }

    fn entry(&self) -> PromptEntry {
        let argument = PromptArgument::new(self.argument.name)
            .with_description(self.argument.description)
            .with_required(self.argument.is_required);
        PromptEntry::new(self.name, Some(self.description), Some(vec![argument])).with_title(self.title)
    }

    /// Returns the messages of the prompt.
    ///
    /// # Errors
    /// The message of error -32602 for invalid arguments.
    pub(super) fn get(&self, arguments: &Map<String, Value>) -> Result<GetPromptResult, String> {
        let messages = (self.messages)(read(&self.argument, arguments)?);
        Ok(GetPromptResult::new(messages).with_description(self.description))
    }
}

/// Returns the prompts that the caller's scopes permit.
pub(super) fn entries(actor: &Actor) -> Vec<PromptEntry> {
    let allowed = PROMPTS.iter().filter(|prompt| actor.require(prompt.scope).is_ok());
    allowed.map(Prompt::entry).collect()
}

/// Returns the names of all prompts.
pub(super) fn names() -> String {
    PROMPTS.each_ref().map(|prompt| prompt.name).join(", ")
}

fn read<'a>(argument: &Argument, arguments: &'a Map<String, Value>) -> Result<Option<&'a str>, String> {
    let name = argument.name;
    if let Some(other) = arguments.keys().find(|key| *key != name) {
        let shown: String = other.chars().take(64).collect();
        return Err(format!(
            "{shown:?} is not an argument of this prompt; its argument is {name}"
        ));
    }
    let text = match arguments.get(name) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.trim()).filter(|text| !text.is_empty()),
        Some(_) => return Err(format!("{name} must be a string")),
    };
    match text {
        None if argument.is_required => Err(format!("{name} is required: {}", argument.description)),
        Some(text) if text.chars().count() > MAX_ARGUMENT_CHARACTERS => {
            Err(format!("{name} must have at most {MAX_ARGUMENT_CHARACTERS} characters"))
        }
        text => Ok(text),
    }
}

fn set_up_alert(request: Option<&str>) -> Vec<PromptMessage> {
    let request = request.unwrap_or_default();
    let text = format!(
        "Set up a stock alert for this request:\n\n{request}\n\n\
         1. Find the ticker symbol. If it is not clear which stock is meant, ask me.\n\
         2. Choose the condition from the guide to the conditions that fits best, with its threshold and parameters. If the \
         request leaves the threshold open, propose one and say why; bellwether://stocks/{{symbol}} has the current price, \
         RSI and averages.\n\
         3. Tell me in one sentence when the alert will fire, and wait for my confirmation.\n\
         4. Call create_alert. If it returns `created: false`, an equivalent alert already existed: say so. If it returns \
         `waits_for_approval`, give me the address in `approve_at`.\n\
         5. Repeat `sentence` from the result, so that I can check it, and say how I will be notified. If `evaluation.state` \
         is not ok, tell me what is missing."
    );
    // The guide is included, because not every client reads resources.
    let guide = PromptMessage::new_resource(
        Role::User,
        GUIDE_URI.to_owned(),
        Some("text/markdown".to_owned()),
        Some(guide_text().to_owned()),
        None,
        None,
        None,
    );
    vec![PromptMessage::new_text(Role::User, text), guide]
}

fn review_fired_alerts(since: Option<&str>) -> Vec<PromptMessage> {
    let since = since.unwrap_or("the last 7 days");
    let text = format!(
        "Review the alerts that fired. Period: {since}\n\n\
         1. Call list_alert_events without alert_id, with `since` as an instant in UTC. Read all pages.\n\
         2. For each firing tell me the time, the stock, the price, and the reason from `details.reason` in plain words. \
         Group them by stock, the newest first. Say which fired late (`details.late`).\n\
         3. For each alert give its current status (get_alert): a triggered alert does not fire again until it is resumed.\n\
         4. Propose for each whether to resume it (resume_alert), to change its threshold (update_alert) or to delete it \
         (delete_alert), and change nothing before I agree.\n\
         5. Look at list_alerts with status active and extended true, and name alerts whose `evaluation.state` is not ok."
    );
    vec![PromptMessage::new_text(Role::User, text)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn get(prompt: &str, arguments: Value) -> Result<String, String> {
        let result = Prompt::from_name(prompt).unwrap().get(arguments.as_object().unwrap())?;
        Ok(serde_json::to_string(&result.messages).unwrap())
    }

    #[test]
    fn set_up_alert_includes_the_request_and_the_guide() {
        let text = get("set_up_alert", json!({"request": "tell me when Apple drops"})).unwrap();
        for part in ["tell me when Apple drops", "create_alert", GUIDE_URI, "price_below"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn review_covers_the_given_period_or_the_last_7_days() {
        let text = get("review_fired_alerts", json!({"since": "2026-03-02T15:04:00Z"})).unwrap();
        assert!(text.contains("2026-03-02T15:04:00Z"), "{text}");
        let text = get("review_fired_alerts", json!({})).unwrap();
        assert!(text.contains("the last 7 days"), "{text}");
    }

    #[test]
    fn rejects_invalid_arguments() {
        for arguments in [
            json!({}),
            json!({"request": "  "}),
            json!({"request": 5}),
            json!({"request": "a".repeat(2_001)}),
            json!({"request": "a", "other": "b"}),
        ] {
            assert!(get("set_up_alert", arguments.clone()).is_err(), "{arguments}");
        }
        assert!(get("set_up_alert", json!({"request": "a".repeat(2_000)})).is_ok());
    }
}
