//! The rule and the form of the builder follow each other, for every condition and option.

use serde_json::{Value, json};
use url::form_urlencoded::Serializer;

use super::Browser;
use crate::http::test_server::TestServer;

/// Returns the query of a form with the members of a create request.
fn query_of(members: &serde_json::Map<String, Value>) -> String {
    fn add(parent: &str, members: &serde_json::Map<String, Value>, query: &mut Serializer<'_, String>) {
        for (name, value) in members {
            let place = format!("{parent}{name}");
            match value {
                Value::Object(members) => add(&format!("{place}."), members, query),
                Value::String(text) => drop(query.append_pair(&place, text)),
                value => drop(query.append_pair(&place, &value.to_string())),
            }
        }
    }
    let mut query = Serializer::new(String::new());
    add("", members, &mut query);
    query.finish()
}

/// Returns the text between two others, without HTML escapes.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no {before}: {text}"));
    rest.split(after).next().unwrap()
}

/// Chooses a request in the form, types the rule that the form has written, and returns the form of that rule.
async fn form_of_its_rule(browser: &Browser<'_>, request: &Value) -> String {
    let chosen = browser
        .part(&format!("/alerts/new?{}", query_of(request.as_object().unwrap())))
        .await
        .is(200);
    let rule = between(&chosen.text, r#"name="read_rule" value=""#, "\"");
    assert!(!rule.is_empty(), "{request} has no rule: {}", chosen.text);
    for status in ["sentence", "preview"] {
        let shown = between(&chosen.text, &format!(r#"id="{status}">"#), "</div>");
        assert!(!shown.trim().is_empty(), "{request} has no {status}: {}", chosen.text);
    }
    let rule = rule.replace("&#34;", "\"").replace("&#60;", "<").replace("&#62;", ">");
    let typed = Serializer::new(String::new()).append_pair("text", &rule).finish();
    let part = browser.part(&format!("/alerts/new?{typed}")).await.is(200);
    assert!(part.text.contains(r#"id="form""#), "{rule}: {}", part.text);
    part.text
}

#[tokio::test]
async fn every_condition_of_the_form_writes_a_rule_that_sets_the_form() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let browser = Browser::operator(&server).await;
    for kind in alerts::condition::ConditionKind::ALL {
        let request: Value = serde_json::from_str(kind.spec().example).unwrap();
        let form = form_of_its_rule(&browser, &request).await;
        let selected = format!(r#"<option value="{kind}" selected>"#);
        assert!(form.contains(&selected), "{kind}: {form}");
        if let Some(threshold) = request.get("threshold") {
            assert!(
                form.contains(&format!(r#"name="threshold" value="{threshold}""#)),
                "{kind}: {form}"
            );
        }
    }
}

#[tokio::test]
async fn every_option_of_the_form_writes_a_rule_that_sets_the_form() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let browser = Browser::operator(&server).await;
    let price =
        json!({"symbol": "AAPL", "condition": "price_below", "threshold": 80, "options": {"repeat": "each_time"}});
    let change = json!({"symbol": "AAPL", "condition": "price_change_up", "threshold": 5, "options": {}});
    for (request, option, value) in [
        (&price, "repeat", json!("once_per_day")),
        (&price, "max_firings", json!(3)),
        (&price, "cooldown", json!("2h")),
        (&price, "rearm.at", json!(85)),
        (&price, "rearm.percent", json!(2)),
        (&price, "hold", json!("15m")),
        (&price, "expires_at", json!("2099-01-31")),
        (&price, "snoozed_until", json!("2099-01-31T14:30:00.000Z")),
        (&price, "session", json!("extended")),
        (&price, "trigger", json!("two_lasts")),
        (&change, "base", json!("prev_close")),
        (&change, "base", json!("open")),
    ] {
        let mut request = request.clone();
        request["options"][option] = value.clone();
        let form = form_of_its_rule(&browser, &request).await;
        let (name, value) = (format!("options.{option}"), value.to_string().replace('"', ""));
        let after = form
            .split(&format!(r#"name="{name}""#))
            .nth(1)
            .unwrap_or_else(|| panic!("no {name}"));
        let input = after.split("</div>").next().unwrap();
        let is_set = input.contains(&format!(r#"value="{value}" selected"#))
            || input.starts_with(&format!(r#" value="{value}""#));
        assert!(is_set, "{name} is not {value}: {input}");
    }
    for flag in ["cooldown_refire", "notify_on_expiry"] {
        let mut request = price.clone();
        request["options"]["cooldown"] = json!("1h");
        request["options"]["expires_at"] = json!("2099-01-31");
        request["options"][flag] = json!(true);
        let form = form_of_its_rule(&browser, &request).await;
        let input = between(&form, &format!(r#"<select id="options.{flag}""#), "</select>");
        assert!(input.contains(r#"value="true" selected"#), "{flag}: {input}");
    }
}

#[tokio::test]
async fn chart_of_a_rule_has_a_table() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let browser = Browser::operator(&server).await;
    let part = browser.part("/alerts/new?text=AAPL+%3C=+90").await.is(200);
    let table = between(&part.text, r#"<div id="rule-chart-table""#, "</div>\n</details>");
    assert!(
        table.contains("<td>2024-03-08</td><td class=\"number\">100.00</td>"),
        "{table}"
    );
}
