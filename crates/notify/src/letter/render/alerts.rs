//! Letters about alerts that have not fired: they are blind, they see again, a split has moved them.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::fired::{usd, words};
use super::page::{Content, Fact, Tone};
use crate::letter::{BlindAlert, MovedAlert, NamedAlert, SplitNews, plain};

/// A symbol, a number or the name of a condition has at most so many characters.
const WORD: usize = 40;

pub(super) fn blind(alerts: &[BlindAlert], more: usize, time_zone: &TimeZone) -> Content {
    let lines = alerts
        .iter()
        .map(|blind| format!("{}, since {}", line(&blind.alert), instant(&blind.since, time_zone)));
    Content {
        subject: "Alerts of yours cannot be judged at the moment".to_owned(),
        headline: "These alerts are blind".to_owned(),
        paragraphs: vec![
            "The market is open, but no fresh quotes come for the stocks of these alerts, so they cannot be judged. \
             You are told once more when they see again."
                .to_owned(),
        ],
        facts: facts(lines, more),
        closing: vec!["You get this because you asked to be told (notify_blind in your preferences).".to_owned()],
        ..Content::default()
    }
}

pub(super) fn seeing(alerts: &[NamedAlert], more: usize, since: &str, time_zone: &TimeZone) -> Content {
    Content {
        subject: "Alerts of yours are judged again".to_owned(),
        headline: "These alerts see again".to_owned(),
        paragraphs: vec![format!(
            "Fresh quotes come again for the stocks of these alerts, of which the first was blind since {}.",
            instant(since, time_zone)
        )],
        facts: facts(alerts.iter().map(line), more),
        closing: vec!["You get this because you asked to be told (notify_blind in your preferences).".to_owned()],
        ..Content::default()
    }
}

pub(super) fn split(split: &SplitNews, alerts: &[MovedAlert], more: usize) -> Content {
    let symbol = plain(&split.symbol, WORD);
    let date = day(&split.date);
    Content {
        subject: format!("{symbol} was split, and your alerts on it with it"),
        headline: format!("Your alerts on {symbol} were adjusted"),
        paragraphs: vec![format!(
            "Since {date}, {symbol} has {} new shares for each old one. These alerts were moved into new shares, so that \
             they wait for the same as before. You need not do anything.",
            plain(&split.ratio, WORD)
        )],
        facts: facts(alerts.iter().map(moved), more),
        ..Content::default()
    }
}

pub(super) fn sms_low(used: u32, quota: u32, renewed_on: &str) -> Content {
    Content {
        subject: format!("{used} of your {quota} text messages this month are used"),
        headline: "Few text messages are left".to_owned(),
        paragraphs: vec![format!(
            "Your plan has {quota} text messages a month, and {used} of them are used. When none is left, alerts that are set to \
             text message come by mail until {}.",
            day(renewed_on)
        )],
        ..Content::default()
    }
}

pub(super) fn sms_used(quota: u32, renewed_on: &str) -> Content {
    let paragraph = if quota == 0 {
        "Your plan has no text messages. Alerts that are set to text message come by mail.".to_owned()
    } else {
        format!(
            "Your plan has {quota} text messages a month, and all of them are used. Alerts that are set to text message come by \
             mail until {}.",
            day(renewed_on)
        )
    };
    Content {
        subject: "No text messages are left: your alerts come by mail".to_owned(),
        headline: "No text messages are left".to_owned(),
        paragraphs: vec![paragraph],
        ..Content::default()
    }
}

pub(super) fn paused_by_plan(plan: &str, alerts: &[NamedAlert], more: usize) -> Content {
    let plan = plain(plan, WORD);
    Content {
        subject: format!("The {plan} plan has paused alerts of yours"),
        headline: "These alerts were paused".to_owned(),
        paragraphs: vec![format!(
            "Your account is on the {plan} plan now, which does not have these alerts. They are kept, and are judged again when \
             you change them to what the plan has, or take a plan that has them, and activate them."
        )],
        facts: facts(alerts.iter().map(line), more),
        ..Content::default()
    }
}

/// A day in words.
fn day(text: &str) -> String {
    let date: Option<Date> = text.parse().ok();
    date.map_or_else(|| plain(text, WORD), |date| date.strftime("%-d %B %Y").to_string())
}

/// One line for each alert, and one for those that are not named.
fn facts(lines: impl Iterator<Item = String>, more: usize) -> Vec<Fact> {
    let fact = |label, value| Fact {
        label,
        value,
        tone: Tone::Plain,
    };
    let mut facts: Vec<Fact> = lines.map(|value| fact("Alert", value)).collect();
    if more > 0 {
        facts.push(fact("And", format!("{more} more")));
    }
    facts
}

/// `AAPL: Price at or above, 200.00 USD`
fn line(alert: &NamedAlert) -> String {
    let name = name(alert);
    match shown(alert, alert.threshold.as_deref()) {
        Some(threshold) => format!("{name}, {threshold}"),
        None => name,
    }
}

/// `AAPL: Price at or above, 200.00 USD is now 50.00 USD; counted from 190.00 USD, now 47.50 USD`
fn moved(moved: &MovedAlert) -> String {
    let MovedAlert {
        alert,
        previous_threshold,
        initial_price,
        previous_initial_price,
    } = moved;
    let now = shown(alert, alert.threshold.as_deref());
    let before = shown(alert, previous_threshold.as_deref());
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

fn name(alert: &NamedAlert) -> String {
    let condition = plain(&alert.condition, WORD);
    format!("{}: {}", plain(&alert.symbol, WORD), words(&condition).0)
}

/// A threshold of an alert with its unit.
fn shown(alert: &NamedAlert, threshold: Option<&str>) -> Option<String> {
    let threshold = threshold?.parse().ok()?;
    Some(words(&alert.condition).1.show(threshold))
}

fn instant(text: &str, time_zone: &TimeZone) -> String {
    let at: Option<Timestamp> = text.parse().ok();
    at.map_or_else(
        || plain(text, WORD),
        |at| {
            at.to_zoned(time_zone.clone())
                .strftime("%-d %B %Y, %H:%M %Z")
                .to_string()
        },
    )
}
