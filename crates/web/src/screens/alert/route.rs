//! The route of an alert in words.

use std::collections::BTreeMap;

use alerts::Alert;
use alerts::routing::{AckTimeout, ChannelRoute, MessageTemplates, RouteDelivery};
use delivery::notification_channels::ChannelDetail;

use crate::texts::{text, text_with};

/// The names of an account's notification channels, by id.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ChannelNames(BTreeMap<String, String>);

impl ChannelNames {
    /// Returns the names of channels.
    #[must_use]
    pub fn of(channels: &[ChannelDetail]) -> Self {
        let channels = channels.iter().map(|detail| &detail.channel);
        Self(
            channels
                .map(|channel| (channel.id.0.to_string(), channel.name.clone()))
                .collect(),
        )
    }

    /// Returns the name of a channel.
    pub(super) fn name(&self, id: &str) -> String {
        self.0.get(id).cloned().unwrap_or_else(|| text("channel-deleted"))
    }
}

/// Where the firings of an alert go.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AlertRoute {
    /// The route in words; `None`: the account's own address or number.
    pub sentence: Option<String>,
    /// Whether it is that of the account.
    pub is_default: bool,
    /// Whether its messages are sent during quiet hours, too.
    pub is_urgent: bool,
    /// The alert's own templates, each with the id of its name.
    pub templates: Vec<(&'static str, String)>,
}

impl AlertRoute {
    /// Describes the route of an alert, which is that of the account unless it has one.
    #[must_use]
    pub fn of(alert: &Alert, default: Option<&ChannelRoute>, names: &ChannelNames) -> Self {
        let own = alert.routing.route.as_deref();
        Self {
            sentence: own.or(default).map(|route| sentence(route, names)),
            is_default: own.is_none() && default.is_some(),
            is_urgent: alert.routing.is_urgent,
            templates: own_templates(alert),
        }
    }
}

fn own_templates(alert: &Alert) -> Vec<(&'static str, String)> {
    let Some(MessageTemplates { title, text, payload }) = alert.routing.templates.as_deref() else {
        return Vec::new();
    };
    let named = [
        ("fact-template-title", title),
        ("fact-template-text", text),
        ("fact-template-payload", payload),
    ];
    let given = named
        .into_iter()
        .filter_map(|(name, source)| Some((name, source.clone()?)));
    given.collect()
}

/// Returns a route in words, such as "Slack, then Telegram after 15 minutes without an acknowledgement".
fn sentence(route: &ChannelRoute, names: &ChannelNames) -> String {
    let names: Vec<String> = route.channels().iter().map(|id| names.name(&id.to_string())).collect();
    if let [only] = names.as_slice() {
        return only.clone();
    }
    let count = names.len().into();
    match route.delivery {
        RouteDelivery::All => text_with("route-sentence-all", [("channels", names.join(", ").into())]),
        RouteDelivery::Failover { ack_timeout } => {
            let then = format!(", {} ", text("route-then"));
            let channels = ("channels", names.join(&then).into());
            match ack_timeout {
                None => text_with("route-sentence-failure", [channels]),
                Some(timeout) => {
                    let time = ("time", time_text(timeout).into());
                    text_with("route-sentence-timeout", [channels, time, ("count", count)])
                }
            }
        }
    }
}

fn time_text(timeout: AckTimeout) -> String {
    let minutes = timeout.duration().as_mins();
    match minutes % 60 {
        0 => text_with("hours", [("count", (minutes / 60).into())]),
        _ => text_with("minutes", [("count", minutes.into())]),
    }
}

#[cfg(test)]
mod tests {
    use alerts::routing::parse_route;
    use serde_json::json;

    use super::*;

    const IDS: [&str; 3] = [
        "0b0ab3a5-6c47-4a5b-8d1f-1f2d6b6f0a01",
        "0b0ab3a5-6c47-4a5b-8d1f-1f2d6b6f0a02",
        "0b0ab3a5-6c47-4a5b-8d1f-1f2d6b6f0a03",
    ];

    #[test]
    fn routes_are_sentences() {
        let names = ["Slack", "Telegram"].iter().zip(IDS);
        let names = ChannelNames(names.map(|(name, id)| (id.to_owned(), (*name).to_owned())).collect());
        for (channels, policy, ack_timeout, expected) in [
            (&IDS[..1], "failover", Some("15m"), "Slack"),
            (&IDS[..2], "all", None, "Slack, Telegram, at the same time"),
            (
                &IDS[..2],
                "failover",
                None,
                "Slack, then Telegram if the one before fails",
            ),
            (
                &IDS[..2],
                "failover",
                Some("15m"),
                "Slack, then Telegram after 15 minutes without an acknowledgement",
            ),
            (
                &IDS[..],
                "failover",
                Some("1h"),
                "Slack, then Telegram, then Deleted channel, each after 1 hour without an acknowledgement",
            ),
        ] {
            let body = json!({"channels": channels, "policy": policy, "ack_timeout": ack_timeout});
            let route = parse_route(&body).unwrap().unwrap();
            assert_eq!(sentence(&route, &names), expected);
        }
    }
}
