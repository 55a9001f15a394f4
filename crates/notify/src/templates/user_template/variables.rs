//! The variables of templates, from the data of an event.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use minijinja::Value;
use serde_json::Value as Json;

use super::TemplateKind;
use crate::message::{instant, test_event_data};
use crate::templates::plain;
use crate::templates::render::local_time;

/// Maximum length of a name, in characters.
const MAX_NAME_LENGTH: usize = 80;
/// Maximum length of a reason, in characters.
const MAX_REASON_LENGTH: usize = 300;
/// Maximum length of a note, in characters.
const MAX_NOTE_LENGTH: usize = 2_000;

/// The variables of a template for one firing. Missing values are none.
#[derive(Clone, PartialEq, Debug)]
pub struct TemplateVariables {
    symbol: String,
    company_name: Option<String>,
    condition: Option<String>,
    price: Option<f64>,
    value: Option<f64>,
    level: Option<f64>,
    change_percent: Option<f64>,
    note: Option<String>,
    reason: Option<String>,
    fired_at: Option<Timestamp>,
    link: Option<String>,
    time_zone: TimeZone,
}

impl TemplateVariables {
    /// Reads the `data` of an event, the same as in a webhook body. `link` is the page of the alert; times in titles and texts are
    /// shown in the time zone.
    #[must_use]
    pub fn from_event_data(data: &str, link: Option<String>, time_zone: TimeZone) -> Self {
        let data: Json = serde_json::from_str(data).unwrap_or_default();
        let text = |pointer: &str, max_length| {
            let text = data.pointer(pointer).and_then(Json::as_str).unwrap_or_default();
            Some(plain(text, max_length)).filter(|text| !text.is_empty())
        };
        let number = |pointer: &str| data.pointer(pointer).and_then(Json::as_f64);
        let price = number("/stock/price");
        let condition = text("/alert/condition", MAX_NAME_LENGTH);
        // A parameter of these conditions; the text of a reminder.
        let is_reminder = matches!(condition.as_deref(), Some("reminder" | "daily_reminder"));
        let reminder = text("/alert/parameters/note", MAX_NOTE_LENGTH).filter(|_| is_reminder);
        let symbol = text("/alert/symbol", MAX_NAME_LENGTH).or_else(|| text("/stock/symbol", MAX_NAME_LENGTH));
        let fired_at = data.pointer("/alert/triggered_at").and_then(Json::as_str);
        Self {
            symbol: symbol.unwrap_or_else(|| "A stock".to_owned()),
            company_name: text("/company_name", MAX_NAME_LENGTH),
            condition,
            price,
            value: number("/alert/triggered_value").or(price),
            level: number("/alert/threshold"),
            change_percent: number("/stock/change_percent"),
            note: text("/alert/note", MAX_NOTE_LENGTH).or(reminder),
            reason: text("/reason", MAX_REASON_LENGTH),
            fired_at: fired_at.and_then(|at| at.parse().ok()),
            link,
            time_zone,
        }
    }

    /// Returns the variables of the example that templates are checked with.
    #[must_use]
    pub fn example() -> Self {
        let at = Timestamp::from_second(1_709_908_200).unwrap_or_default();
        let link = "https://alerts.example.com/alerts/018e1f7a-0000-7000-8000-000000000000".to_owned();
        Self {
            note: Some("Sell a half.".to_owned()),
            reason: Some("AAPL is at 201.50, at or above your 200.00".to_owned()),
            ..Self::from_event_data(&test_event_data(uuid::Uuid::nil(), at), Some(link), TimeZone::UTC)
        }
    }

    /// Returns the values for the template engine.
    pub(super) fn values(&self, kind: TemplateKind) -> Value {
        let fired_at = self.fired_at.map(|at| match kind {
            TemplateKind::Title | TemplateKind::Text => local_time(at, &self.time_zone),
            TemplateKind::Payload => instant(at),
        });
        minijinja::context! {
            symbol => self.symbol.as_str(),
            company_name => self.company_name.as_deref(),
            condition => self.condition.as_deref(),
            price => self.price,
            value => self.value,
            level => self.level,
            change_percent => self.change_percent,
            note => self.note.as_deref(),
            reason => self.reason.as_deref(),
            fired_at => fired_at,
            link => self.link.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{UserTemplate, VARIABLES};
    use super::*;

    /// Renders all variables, separated by `|`.
    fn all(variables: &TemplateVariables) -> String {
        let source = VARIABLES.map(|name| format!("{{{{ {name} }}}}")).join("|");
        let template = UserTemplate::parse(TemplateKind::Text, &source).unwrap();
        template.render(variables).unwrap()
    }

    #[test]
    fn example_has_all_variables() {
        assert_eq!(
            all(&TemplateVariables::example()),
            "AAPL|Apple Inc.|price_above|201.5|201.5|200|1.64|Sell a half.|AAPL is at 201.50, at or above your 200.00|\
             8 March 2024, 14:30 UTC|https://alerts.example.com/alerts/018e1f7a-0000-7000-8000-000000000000"
        );
    }

    #[test]
    fn missing_values_are_left_out() {
        let variables = TemplateVariables::from_event_data("{}", None, TimeZone::UTC);
        assert_eq!(all(&variables), "A stock||||||||||");
    }

    #[test]
    fn note_of_a_reminder_is_its_parameter() {
        let data = |condition: &str| {
            format!(r#"{{"alert":{{"symbol":"AAPL","condition":"{condition}","parameters":{{"note":"a\nb"}}}}}}"#)
        };
        let variables = |condition| TemplateVariables::from_event_data(&data(condition), None, TimeZone::UTC);
        assert_eq!(all(&variables("reminder")), "AAPL||reminder|||||a b|||");
        assert_eq!(all(&variables("price_above")), "AAPL||price_above||||||||");
    }

    #[test]
    fn time_is_local_in_texts_and_rfc_3339_in_payloads() {
        let zone = TimeZone::get("America/New_York").unwrap();
        let variables = TemplateVariables {
            time_zone: zone,
            ..TemplateVariables::example()
        };
        let render = |kind, source| UserTemplate::parse(kind, source).unwrap().render(&variables).unwrap();
        assert_eq!(render(TemplateKind::Text, "{{ fired_at }}"), "8 March 2024, 09:30 EST");
        assert_eq!(
            render(TemplateKind::Payload, "{{ fired_at|tojson }}"),
            r#""2024-03-08T14:30:00.000Z""#
        );
    }
}
