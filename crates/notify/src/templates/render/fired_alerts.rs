//! Notifications about several fired alerts.

use jiff::tz::TimeZone;

use super::fired_alert::{ChannelText, FALLBACK, FiredAlert, NotBySms};
use super::page::{self, Action, Content};
use super::{EmailContext, RenderedEmail, gsm};

/// Several fired alerts in one notification.
#[derive(Clone, PartialEq, Debug)]
pub struct FiredAlerts {
    /// The alerts that are listed.
    pub listed: Vec<FiredAlert>,
    /// The number of all alerts.
    pub total: u64,
    /// The link to the list of firings.
    pub link: Option<String>,
    /// The link that acknowledges all firings.
    pub acknowledge_link: Option<String>,
    /// Why they are sent by email instead of text message.
    pub not_by_sms: Option<NotBySms>,
    /// Whether they are sent to the account's own address because no notification channel could be reached.
    pub is_fallback: bool,
}

impl FiredAlerts {
    /// Returns the notification for chat and push services, without its links. The number comes first, because services cut long texts.
    #[must_use]
    pub fn to_channel_text(&self, time_zone: &TimeZone) -> ChannelText {
        let mut lines = self.lines(time_zone);
        lines.extend(self.more());
        ChannelText {
            title: self.headline(),
            text: lines.join("\n"),
        }
    }

    fn headline(&self) -> String {
        format!("{} alerts have fired", self.total)
    }

    fn lines(&self, time_zone: &TimeZone) -> Vec<String> {
        self.listed.iter().map(|alert| alert.line(time_zone)).collect()
    }

    fn more(&self) -> Option<String> {
        let listed = u64::try_from(self.listed.len()).unwrap_or(u64::MAX);
        let more = self.total.saturating_sub(listed);
        (more > 0).then(|| format!("and {more} more"))
    }
}

/// Renders the notification as an email.
#[must_use]
pub fn fired_alerts_email(alerts: &FiredAlerts, context: &EmailContext) -> RenderedEmail {
    let mut paragraphs = alerts.lines(&context.time_zone);
    paragraphs.extend(alerts.more());
    let mut closing = vec!["Prices may be delayed. This is not investment advice.".to_owned()];
    closing.extend(alerts.not_by_sms.map(|reason| {
        format!(
            "Some of these alerts are set to text message. They were sent by email because {}.",
            reason.sentence()
        )
    }));
    if alerts.is_fallback {
        closing.push(FALLBACK.to_owned());
    }
    let content = Content {
        subject: alerts.headline(),
        headline: alerts.headline(),
        paragraphs,
        action: alerts.link.clone().map(|link| Action {
            label: "Open the alerts that fired",
            link,
        }),
        second_action: alerts.acknowledge_link.clone().map(|link| Action {
            label: "Acknowledge all: I have seen them",
            link,
        }),
        shows_link: true,
        closing,
        ..Content::default()
    };
    page::render(&content, context)
}

/// Renders the notification as a text message of at most 306 GSM characters with as many alerts as fit. The links are always complete.
#[must_use]
pub fn fired_alerts_sms(alerts: &FiredAlerts, product: &str) -> String {
    let beginning = format!("{product}: {}.", alerts.headline());
    let links = gsm::links_at_the_end([("Alerts", &alerts.link), ("Seen all", &alerts.acknowledge_link)]);
    let lines = alerts.listed.iter().map(|alert| format!("{}.", alert.short_line()));
    gsm::to_gsm_list(&beginning, lines, &links)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fired(symbol: &str) -> FiredAlert {
        let data = json!({
            "alert": {"symbol": symbol, "triggered_at": "2026-03-02T15:04:00Z", "note": "sell half"},
            "reason": "the price rose to 200.00 USD",
            "stock": {"price": 200.01, "change_percent": 1.64},
        });
        FiredAlert::from_event_data(&data.to_string())
    }

    fn alerts(listed: usize, total: u64) -> FiredAlerts {
        FiredAlerts {
            listed: (0..listed).map(|nth| fired(&format!("S{nth}"))).collect(),
            total,
            link: Some("https://alerts.example.com/fired".to_owned()),
            acknowledge_link: Some("https://alerts.example.com/acknowledge?t=abc".to_owned()),
            not_by_sms: None,
            is_fallback: false,
        }
    }

    #[test]
    fn text_for_services_lists_each_alert_and_the_number_of_others() {
        let text = alerts(2, 5).to_channel_text(&TimeZone::UTC);
        assert_eq!(text.title, "5 alerts have fired");
        let lines: Vec<&str> = text.text.lines().collect();
        assert_eq!(
            lines,
            [
                "15:04 S0 200.01 USD, +1.64 % today: the price rose to 200.00 USD – sell half",
                "15:04 S1 200.01 USD, +1.64 % today: the price rose to 200.00 USD – sell half",
                "and 3 more",
            ]
        );
        assert!(!alerts(2, 2).to_channel_text(&TimeZone::UTC).text.contains("more"));
    }

    #[test]
    fn text_message_has_complete_alerts_and_links() {
        let text = fired_alerts_sms(&alerts(50, 63), "Bellwether");
        assert!(text.len() <= 306, "{text}");
        assert!(text.starts_with("Bellwether: 63 alerts have fired. S0: the price rose to 200.00 USD. S1: "));
        let (lines, links) = text.split_once(" Alerts: ").unwrap();
        assert!(lines.ends_with("USD."), "{text}");
        assert_eq!(
            links,
            "https://alerts.example.com/fired Seen all: https://alerts.example.com/acknowledge?t=abc"
        );
    }

    #[test]
    fn email_says_why_it_is_no_text_message() {
        let mut alerts = alerts(2, 2);
        alerts.not_by_sms = Some(NotBySms::OverQuota);
        let context = EmailContext::new("Bellwether", "https://alerts.example.com");
        let mail = fired_alerts_email(&alerts, &context);
        assert_eq!(mail.subject, "2 alerts have fired");
        for part in ["S1 200.01 USD", "acknowledge?t=abc", "no text messages left this month"] {
            assert!(mail.text.contains(part) && mail.html.contains(part), "{part}");
        }
    }

    #[test]
    fn email_says_that_no_channel_could_be_reached() {
        let alerts = FiredAlerts {
            is_fallback: true,
            ..alerts(2, 2)
        };
        let mail = fired_alerts_email(&alerts, &EmailContext::new("Bellwether", "https://alerts.example.com"));
        assert!(mail.text.contains("could be reached"), "{}", mail.text);
    }
}
