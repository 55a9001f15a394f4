//! The prompts: tasks that a person starts from a menu of the agent.

use rmcp::model::{GetPromptResult, Prompt as PromptEntry, PromptArgument, PromptMessage, Role};
use serde_json::{Map, Value};
use service::{Actor, Scope};

use super::resources::{GUIDE_URI, guide_text};

/// The longest argument, in characters.
const MAX_ARGUMENT_CHARACTERS: usize = 2_000;

/// A prompt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Prompt {
    /// Sets up an alert from plain words.
    SetUpAlert,
    /// Reviews the alerts that fired, and why.
    ReviewFiredAlerts,
}

/// The only argument of a prompt.
struct Argument {
    name: &'static str,
    description: &'static str,
    is_required: bool,
}

impl Prompt {
    const ALL: [Self; 2] = [Self::SetUpAlert, Self::ReviewFiredAlerts];

    /// Returns its name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::SetUpAlert => "set_up_alert",
            Self::ReviewFiredAlerts => "review_fired_alerts",
        }
    }

    /// Returns the prompt with this name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|prompt| prompt.name() == name)
    }

    /// The scope of the tools that it uses.
    pub(super) const fn scope(self) -> Scope {
        match self {
            Self::SetUpAlert => Scope::AlertsWrite,
            Self::ReviewFiredAlerts => Scope::AlertsRead,
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::SetUpAlert => "Set up an alert",
            Self::ReviewFiredAlerts => "Review fired alerts",
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Self::SetUpAlert => "Turns a wish in plain words into an alert, after confirming what it means",
            Self::ReviewFiredAlerts => "Explains which alerts fired since an instant, why, and what to do about each",
        }
    }

    const fn argument(self) -> Argument {
        match self {
            Self::SetUpAlert => Argument {
                name: "request",
                description: "What to be alerted of, such as: tell me when Apple drops 5 %",
                is_required: true,
            },
            Self::ReviewFiredAlerts => Argument {
                name: "since",
                description: "From when on, such as 2026-03-02T15:04:00Z or: since yesterday; the last 7 days if left out",
                is_required: false,
            },
        }
    }

    fn entry(self) -> PromptEntry {
        let Argument {
            name,
            description,
            is_required,
        } = self.argument();
        let argument = PromptArgument::new(name)
            .with_description(description)
            .with_required(is_required);
        PromptEntry::new(self.name(), Some(self.description()), Some(vec![argument])).with_title(self.title())
    }

    /// Returns its messages.
    ///
    /// # Errors
    /// The text of -32602 for arguments that it does not take.
    pub(super) fn get(self, arguments: &Map<String, Value>) -> Result<GetPromptResult, String> {
        let argument = read(&self.argument(), arguments)?;
        let mut messages = Vec::new();
        match self {
            Self::SetUpAlert => {
                let request = argument.unwrap_or_default();
                messages.push(PromptMessage::new_text(Role::User, set_up_alert(request)));
                // The guide comes along, because not every client reads resources by itself.
                messages.push(PromptMessage::new_resource(
                    Role::User,
                    GUIDE_URI.to_owned(),
                    Some("text/markdown".to_owned()),
                    Some(guide_text().to_owned()),
                    None,
                    None,
                    None,
                ));
            }
            Self::ReviewFiredAlerts => {
                messages.push(PromptMessage::new_text(Role::User, review_fired_alerts(argument)));
            }
        }
        Ok(GetPromptResult::new(messages).with_description(self.description()))
    }
}

/// The prompts that the caller has the scopes for.
pub(super) fn entries(actor: &Actor) -> Vec<PromptEntry> {
    let allowed = Prompt::ALL
        .into_iter()
        .filter(|prompt| actor.require(prompt.scope()).is_ok());
    allowed.map(Prompt::entry).collect()
}

/// The names of all prompts.
pub(super) fn names() -> String {
    Prompt::ALL.map(Prompt::name).join(", ")
}

fn read<'a>(wanted: &Argument, arguments: &'a Map<String, Value>) -> Result<Option<&'a str>, String> {
    let name = wanted.name;
    if let Some(other) = arguments.keys().find(|key| *key != name) {
        let shown: String = other.chars().take(64).collect();
        return Err(format!("{shown:?} is not an argument of this prompt; it takes {name}"));
    }
    let text = match arguments.get(name) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.trim()).filter(|text| !text.is_empty()),
        Some(_) => return Err(format!("{name} must be a text")),
    };
    match text {
        None if wanted.is_required => Err(format!("{name} is required: {}", wanted.description)),
        Some(text) if text.chars().count() > MAX_ARGUMENT_CHARACTERS => {
            Err(format!("{name} must have at most {MAX_ARGUMENT_CHARACTERS} characters"))
        }
        text => Ok(text),
    }
}

fn set_up_alert(request: &str) -> String {
    format!(
        "Set up a stock alert for this wish:\n\n{request}\n\n\
         1. Find the ticker symbol. If it is not clear which stock is meant, ask me.\n\
         2. Choose the condition from the guide to the conditions that fits best, with its threshold and parameters. If the \
         wish leaves the threshold open, propose one and say why; bellwether://stocks/{{symbol}} has the current price, \
         RSI and averages.\n\
         3. Tell me in one sentence when the alert will fire, and wait for my confirmation.\n\
         4. Call create_alert. If it answers `created: false`, an equivalent alert existed already: say so. If it answers \
         `waits_for_approval`, give me the address in `approve_at`.\n\
         5. Repeat `sentence` from the answer, so that I can check it, and say how I will be notified. If `evaluation.state` \
         is not ok, tell me what is missing."
    )
}

fn review_fired_alerts(since: Option<&str>) -> String {
    let since = since.unwrap_or("the last 7 days");
    format!(
        "Review the alerts that fired. Period: {since}\n\n\
         1. Call list_alert_events without alert_id, with `since` as an instant in UTC. Read all pages.\n\
         2. For each firing tell me the time, the stock, the price, and the reason from `details.reason` in plain words. \
         Group them by stock, the newest first. Say which came late (`details.late`).\n\
         3. For each alert say what became of it (get_alert): a triggered alert does not fire again until it is resumed.\n\
         4. Propose for each whether to resume it (resume_alert), to change its threshold (update_alert) or to delete it \
         (delete_alert), and change nothing before I agree.\n\
         5. Look at list_alerts with status active and extended true, and name alerts whose `evaluation.state` is not ok."
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn get(prompt: Prompt, arguments: Value) -> Result<String, String> {
        let result = prompt.get(arguments.as_object().unwrap())?;
        Ok(serde_json::to_string(&result.messages).unwrap())
    }

    #[test]
    fn an_alert_is_set_up_from_plain_words_with_the_guide() {
        let text = get(Prompt::SetUpAlert, json!({"request": "tell me when Apple drops"})).unwrap();
        for part in ["tell me when Apple drops", "create_alert", GUIDE_URI, "price_below"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn firings_are_reviewed_since_an_instant_or_of_the_last_days() {
        let text = get(Prompt::ReviewFiredAlerts, json!({"since": "2026-03-02T15:04:00Z"})).unwrap();
        assert!(text.contains("2026-03-02T15:04:00Z"), "{text}");
        let text = get(Prompt::ReviewFiredAlerts, json!({})).unwrap();
        assert!(text.contains("the last 7 days"), "{text}");
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for arguments in [
            json!({}),
            json!({"request": "  "}),
            json!({"request": 5}),
            json!({"request": "a".repeat(2_001)}),
            json!({"request": "a", "other": "b"}),
        ] {
            assert!(get(Prompt::SetUpAlert, arguments.clone()).is_err(), "{arguments}");
        }
        assert!(get(Prompt::SetUpAlert, json!({"request": "a".repeat(2_000)})).is_ok());
    }
}
