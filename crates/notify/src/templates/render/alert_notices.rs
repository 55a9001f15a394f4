//! Emails about alerts that have not fired: missing quotes, splits, quotas and plan changes.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::figures::{label, usd, with_unit};
use super::local_time;
use super::page::{Content, Fact};
use crate::templates::{AdjustedAlert, AlertSummary, SplitSummary, StaleAlert, plain};

/// Maximum length of a symbol or a number, in characters.
const MAX_WORD_LENGTH: usize = 40;
/// Maximum length of a condition, in characters: its name, or an expression.
const MAX_CONDITION_LENGTH: usize = 300;

pub(super) fn stale(alerts: &[StaleAlert], more: usize, time_zone: &TimeZone) -> Content {
    let lines = alerts
        .iter()
        .map(|stale| format!("{}, since {}", line(&stale.alert), instant(&stale.since, time_zone)));
    Content {
        subject: "Some of your alerts cannot be evaluated right now".to_owned(),
        headline: "No current quotes for these alerts".to_owned(),
        paragraphs: vec![
            "The market is open, but there are no current quotes for the stocks of these alerts, so they cannot be \
             evaluated. You will get another email when quotes are available again."
                .to_owned(),
        ],
        facts: facts(lines, more),
        closing: vec!["You receive this email because notify_blind is enabled in your preferences.".to_owned()],
        ..Content::default()
    }
}

pub(super) fn recovered(alerts: &[AlertSummary], more: usize, since: &str, time_zone: &TimeZone) -> Content {
    Content {
        subject: "Your alerts are evaluated again".to_owned(),
        headline: "Quotes are available again".to_owned(),
        paragraphs: vec![format!(
            "Quotes are available again for the stocks of these alerts. The first of them was without quotes since {}.",
            instant(since, time_zone)
        )],
        facts: facts(alerts.iter().map(line), more),
        closing: vec!["You receive this email because notify_blind is enabled in your preferences.".to_owned()],
        ..Content::default()
    }
}

pub(super) fn split_adjusted(split: &SplitSummary, alerts: &[AdjustedAlert], more: usize) -> Content {
    let symbol = plain(&split.symbol, MAX_WORD_LENGTH);
    let date = day(&split.date);
    Content {
        subject: format!("{symbol} was split, and your alerts on it were adjusted"),
        headline: format!("Your alerts on {symbol} were adjusted"),
        paragraphs: vec![format!(
            "Since {date}, {symbol} has {} new shares for each old one. These alerts were converted to new shares, so that \
             they wait for the same price move as before. You do not need to do anything.",
            plain(&split.ratio, MAX_WORD_LENGTH)
        )],
        facts: facts(alerts.iter().map(adjusted), more),
        ..Content::default()
    }
}

pub(super) fn expired(alert: &AlertSummary, at: &str, time_zone: &TimeZone) -> Content {
    let symbol = plain(&alert.symbol, MAX_WORD_LENGTH);
    Content {
        subject: format!("Your alert on {symbol} has expired"),
        headline: format!("Your alert on {symbol} has expired"),
        paragraphs: vec![format!(
            "This alert ended at {}. It is kept. To use it again, set a later expiry and activate it.",
            instant(at, time_zone)
        )],
        facts: facts(std::iter::once(line(alert)), 0),
        closing: vec!["You receive this email because the alert has the option notify_on_expiry.".to_owned()],
        ..Content::default()
    }
}

pub(super) fn sms_quota_low(used: u32, quota: u32, renewed_on: &str) -> Content {
    Content {
        subject: format!("{used} of your {quota} text messages this month are used"),
        headline: "Few text messages are left".to_owned(),
        paragraphs: vec![format!(
            "Your plan includes {quota} text messages per month, and you have used {used}. When none are left, alerts by text \
             message are sent by email until {}.",
            day(renewed_on)
        )],
        ..Content::default()
    }
}

pub(super) fn sms_quota_used(quota: u32, renewed_on: &str) -> Content {
    let paragraph = if quota == 0 {
        "Your plan does not include text messages. Alerts by text message are sent by email.".to_owned()
    } else {
        format!(
            "Your plan includes {quota} text messages per month, and all of them are used. Alerts by text message are sent by \
             email until {}.",
            day(renewed_on)
        )
    };
    Content {
        subject: "No text messages are left: your alerts are sent by email".to_owned(),
        headline: "No text messages are left".to_owned(),
        paragraphs: vec![paragraph],
        ..Content::default()
    }
}

pub(super) fn paused_by_plan(plan: &str, alerts: &[AlertSummary], more: usize) -> Content {
    let plan = plain(plan, MAX_WORD_LENGTH);
    Content {
        subject: format!("The {plan} plan has paused some of your alerts"),
        headline: "Alerts paused by your plan".to_owned(),
        paragraphs: vec![format!(
            "Your account is now on the {plan} plan, which does not include these alerts. They are kept. To use them again, \
             change them to conditions that your plan includes, or upgrade your plan, and activate them."
        )],
        facts: facts(alerts.iter().map(line), more),
        ..Content::default()
    }
}

/// Formats a date: `8 March 2024`.
fn day(text: &str) -> String {
    let date: Option<Date> = text.parse().ok();
    date.map_or_else(
        || plain(text, MAX_WORD_LENGTH),
        |date| date.strftime("%-d %B %Y").to_string(),
    )
}

/// Returns one line for each alert, and one line with the number of alerts that are not listed.
fn facts(lines: impl Iterator<Item = String>, more: usize) -> Vec<Fact> {
    let mut facts: Vec<Fact> = lines.map(|value| Fact::plain("Alert", value)).collect();
    if more > 0 {
        facts.push(Fact::plain("And", format!("{more} more")));
    }
    facts
}

/// Formats an alert: `AAPL: Price at or above, 200.00 USD`.
fn line(alert: &AlertSummary) -> String {
    let name = name(alert);
    match formatted_threshold(alert, alert.threshold.as_deref()) {
        Some(threshold) => format!("{name}, {threshold}"),
        None => name,
    }
}

/// Formats an adjusted alert: `AAPL: Price at or above, 200.00 USD is now 50.00 USD; price when set 190.00 USD, now 47.50 USD`.
fn adjusted(adjusted: &AdjustedAlert) -> String {
    let AdjustedAlert {
        alert,
        previous_threshold,
        initial_price,
        previous_initial_price,
    } = adjusted;
    let now = formatted_threshold(alert, alert.threshold.as_deref());
    let before = formatted_threshold(alert, previous_threshold.as_deref());
    let mut text = name(alert);
    match (before, now) {
        (Some(before), Some(now)) if before != now => text.push_str(&format!(", {before} is now {now}")),
        (_, Some(now)) => text.push_str(&format!(", {now}")),
        (_, None) => {}
    }
    let price = |price: &Option<String>| price.as_ref().and_then(|price| price.parse().ok()).map(usd);
    if let (Some(before), Some(now)) = (price(previous_initial_price), price(initial_price)) {
        text.push_str(&format!("; price when set {before}, now {now}"));
    }
    text
}

fn name(alert: &AlertSummary) -> String {
    let condition = plain(&alert.condition, MAX_CONDITION_LENGTH);
    format!("{}: {}", plain(&alert.symbol, MAX_WORD_LENGTH), label(&condition))
}

/// Formats a threshold of an alert with its unit.
fn formatted_threshold(alert: &AlertSummary, threshold: Option<&str>) -> Option<String> {
    let threshold = threshold?.parse().ok()?;
    Some(with_unit(&alert.condition, threshold))
}

fn instant(text: &str, time_zone: &TimeZone) -> String {
    let at: Option<Timestamp> = text.parse().ok();
    at.map_or_else(|| plain(text, MAX_WORD_LENGTH), |at| local_time(at, time_zone))
}
