//! Notifications about a fired alert.

use alerts::expression::Expression;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::figures::{label, signed_percent, signed_usd, usd, with_unit};
use super::page::{self, Action, Content, Fact, Tone};
use super::{EmailContext, RenderedEmail, gsm, local_time};
use crate::templates::plain;

/// Maximum length of a symbol, in characters.
const MAX_SYMBOL_LENGTH: usize = 12;
/// Maximum length of a company name in an email, in characters.
const MAX_COMPANY_LENGTH: usize = 80;
/// Maximum length of a company name in a text message, in characters.
const MAX_COMPANY_LENGTH_IN_SMS: usize = 30;
/// Maximum length of a reason, in characters.
const MAX_REASON_LENGTH: usize = 300;
/// Maximum length of the rationale of an alert, in characters.
const MAX_RATIONALE_LENGTH: usize = 500;
/// Maximum length of the sentence of an expression, in characters.
const MAX_SENTENCE_LENGTH: usize = 1_000;
/// Maximum length of a note in a list of alerts, in characters.
const MAX_NOTE_LENGTH_IN_LINE: usize = 80;
/// Maximum length of a note, in characters.
const MAX_NOTE_LENGTH: usize = 2_000;

/// Why a message goes to the account's own address.
pub(super) const FALLBACK: &str = "None of the notification channels of this alert could be reached, so it was sent to the address of \
    your account. The page of the alert shows the error of each channel.";

/// The data of a fired alert, from its event.
#[derive(Clone, PartialEq, Debug)]
pub struct FiredAlert {
    symbol: String,
    company: Option<String>,
    reason: String,
    condition: String,
    /// The sentence of an expression.
    sentence: Option<String>,
    threshold: Option<f64>,
    price: Option<f64>,
    change: Option<f64>,
    change_percent: Option<f64>,
    initial_price: Option<f64>,
    at: Option<Timestamp>,
    rationale: Option<String>,
    /// The note of a reminder, a parameter of its condition.
    reminder_note: Option<String>,
    /// The note of the alert.
    note: Option<String>,
    /// Whether the alert is set to text message.
    is_by_sms: bool,
    /// Why it is sent by email instead of text message.
    not_by_sms: Option<NotBySms>,
    /// Whether it is sent to the account's own address because no notification channel could be reached.
    is_fallback: bool,
    /// The link to the alert, for its owner.
    link: Option<String>,
    /// The link that acknowledges the firing.
    acknowledge_link: Option<String>,
    /// The texts from the templates of the owner.
    custom: CustomTexts,
}

/// The texts of a notification from the templates of its owner. Missing ones have their default.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CustomTexts {
    /// The title, one line.
    pub title: Option<String>,
    /// The text, with line breaks.
    pub text: Option<String>,
}

/// Why a message is sent by email instead of text message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotBySms {
    /// The plan has no text messages left this month.
    OverQuota,
    /// The account has no verified phone number.
    NoNumber,
}

impl NotBySms {
    pub(super) const fn sentence(self) -> &'static str {
        match self {
            Self::OverQuota => "your plan has no text messages left this month",
            Self::NoNumber => "your account has no verified phone number",
        }
    }
}

/// A notification without markup, for chat and push services.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelText {
    /// The title, one line: `AAPL 200.01 USD, +1.64 % today`.
    pub title: String,
    /// The text, with line breaks.
    pub text: String,
}

impl FiredAlert {
    /// Reads the `data` of an event, the same as in a webhook body. Missing fields are left out of the notification.
    #[must_use]
    pub fn from_event_data(data: &str) -> Self {
        let data: Value = serde_json::from_str(data).unwrap_or_default();
        let text = |pointer: &str| data.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let number = |pointer: &str| data.pointer(pointer).and_then(Value::as_f64);
        let some = |text: String| (!text.is_empty()).then_some(text);
        let symbol = some(plain(text("/alert/symbol"), MAX_SYMBOL_LENGTH))
            .or_else(|| some(plain(text("/stock/symbol"), MAX_SYMBOL_LENGTH)));
        let symbol = symbol.unwrap_or_else(|| "A stock".to_owned());
        let condition = text("/alert/condition");
        let is_reminder = matches!(condition, "reminder" | "daily_reminder");
        let reminder_note = some(plain(text("/alert/parameters/note"), MAX_NOTE_LENGTH)).filter(|_| is_reminder);
        let note =
            some(plain(text("/alert/note"), MAX_NOTE_LENGTH)).filter(|note| Some(note) != reminder_note.as_ref());
        let expression = text("/alert/parameters/when").parse::<Expression>().ok();
        let own = text("/alert/symbol").parse().ok();
        let sentence = expression.filter(|_| condition == "expression").zip(own);
        let sentence = sentence.map(|(expression, own)| plain(&expression.sentence(own), MAX_SENTENCE_LENGTH));
        Self {
            sentence,
            company: some(plain(text("/company_name"), MAX_COMPANY_LENGTH)).filter(|company| *company != symbol),
            reason: some(plain(text("/reason"), MAX_REASON_LENGTH))
                .unwrap_or_else(|| "your alert has fired".to_owned()),
            condition: plain(condition, MAX_COMPANY_LENGTH),
            threshold: number("/alert/threshold"),
            price: number("/stock/price"),
            change: number("/stock/change"),
            change_percent: number("/stock/change_percent"),
            initial_price: number("/alert/initial_price"),
            at: text("/alert/triggered_at").parse().ok(),
            rationale: some(plain(text("/alert/parameters/rationale"), MAX_RATIONALE_LENGTH)),
            reminder_note,
            note,
            is_by_sms: text("/alert/notification") == "sms",
            not_by_sms: None,
            is_fallback: false,
            link: None,
            acknowledge_link: None,
            custom: CustomTexts::default(),
            symbol,
        }
    }

    /// Adds the link to the alert.
    #[must_use]
    pub fn with_link(self, link: String) -> Self {
        Self {
            link: Some(link),
            ..self
        }
    }

    /// Adds the link that acknowledges the firing.
    #[must_use]
    pub fn with_acknowledge_link(self, link: String) -> Self {
        Self {
            acknowledge_link: Some(link),
            ..self
        }
    }

    /// Replaces the default texts.
    #[must_use]
    pub fn with_custom_texts(self, custom: CustomTexts) -> Self {
        Self { custom, ..self }
    }

    /// Returns whether the alert is set to text message.
    #[must_use]
    pub const fn is_by_sms(&self) -> bool {
        self.is_by_sms
    }

    /// Says why it is sent by email instead of text message.
    #[must_use]
    pub fn with_not_by_sms(self, reason: NotBySms) -> Self {
        Self {
            not_by_sms: Some(reason),
            ..self
        }
    }

    /// Says that it is sent to the account's own address because no notification channel could be reached.
    #[must_use]
    pub fn without_reached_channel(self) -> Self {
        Self {
            is_fallback: true,
            ..self
        }
    }

    /// Returns the notification for chat and push services, without its links.
    #[must_use]
    pub fn to_channel_text(&self, time_zone: &TimeZone) -> ChannelText {
        let mut lines = vec![format!("{}: {}.", self.title(), self.reason.trim_end_matches('.'))];
        let notes = self.reminder_note.iter().chain(&self.note);
        lines.extend(notes.map(|note| format!("Note: {note}")));
        lines.extend(
            self.rationale
                .iter()
                .map(|rationale| format!("Noted when the alert was set: {rationale}")),
        );
        lines.extend(self.at.map(|at| local_time(at, time_zone)));
        ChannelText {
            title: self.custom.title.clone().unwrap_or_else(|| self.symbol_and_price()),
            text: self.custom.text.clone().unwrap_or_else(|| lines.join("\n")),
        }
    }

    /// Returns the alert as a line of a list: `09:30 AAPL 200.01 USD, +1.64 % today: the price rose to 200.00 USD`.
    pub(super) fn line(&self, time_zone: &TimeZone) -> String {
        let at = self
            .at
            .map(|at| at.to_zoned(time_zone.clone()).strftime("%H:%M ").to_string());
        let notes = self.reminder_note.iter().chain(&self.note);
        let notes: String = notes
            .map(|note| format!(" – {}", plain(note, MAX_NOTE_LENGTH_IN_LINE)))
            .collect();
        format!(
            "{}{}: {}{notes}",
            at.unwrap_or_default(),
            self.symbol_and_price(),
            self.reason.trim_end_matches('.')
        )
    }

    /// Returns the alert in a text message about several ones: `AAPL: the price rose to 200.00 USD`.
    pub(super) fn short_line(&self) -> String {
        gsm::without_links(&format!("{}: {}", self.symbol, self.reason.trim_end_matches('.')))
    }

    fn symbol_and_price(&self) -> String {
        let mut text = self.symbol.clone();
        if let Some(price) = self.price {
            text.push_str(&format!(" {}", usd(price)));
            if let Some(percent) = self.change_percent {
                text.push_str(&format!(", {} today", signed_percent(percent)));
            }
        }
        text
    }

    fn title(&self) -> String {
        match &self.company {
            Some(company) => format!("{} ({company})", self.symbol),
            None => self.symbol.clone(),
        }
    }

    fn facts(&self, time_zone: &TimeZone) -> Vec<Fact> {
        let mut facts = Vec::new();
        let mut add = |label, value: Option<String>, tone| {
            if let Some(value) = value {
                facts.push(Fact { label, value, tone });
            }
        };
        add("Stock", Some(self.title()), Tone::Plain);
        add("Price", self.price.map(usd), Tone::Plain);
        let tone = match self.change.or(self.change_percent) {
            Some(change) if change > 0.0 => Tone::Up,
            Some(change) if change < 0.0 => Tone::Down,
            _ => Tone::Plain,
        };
        add("Change today", self.change(), tone);
        let label = self
            .sentence
            .clone()
            .or_else(|| Some(label(&self.condition).to_owned()));
        add("Alert", label.filter(|text| !text.is_empty()), Tone::Plain);
        let threshold = self.threshold.map(|threshold| with_unit(&self.condition, threshold));
        add("Threshold", threshold, Tone::Plain);
        add("Price when set", self.initial_price.map(usd), Tone::Plain);
        add("When", self.at.map(|at| local_time(at, time_zone)), Tone::Plain);
        facts
    }

    /// Formats the change of the day: `+3.25 USD (+1.64 %)`.
    fn change(&self) -> Option<String> {
        let percent = self.change_percent.map(signed_percent);
        match (self.change, percent) {
            (Some(change), Some(percent)) => Some(format!("{} ({percent})", signed_usd(change))),
            (Some(change), None) => Some(signed_usd(change)),
            (None, percent) => percent,
        }
    }
}

/// Renders the notification as an email.
#[must_use]
pub fn fired_alert_email(alert: &FiredAlert, context: &EmailContext) -> RenderedEmail {
    let mut paragraphs = vec![format!("{}: {}.", alert.title(), alert.reason)];
    for note in alert.reminder_note.iter().chain(&alert.note) {
        paragraphs.push(format!("Your note: {note}"));
    }
    if let Some(rationale) = &alert.rationale {
        paragraphs.push(format!("Noted when the alert was set: {rationale}"));
    }
    let mut facts = alert.facts(&context.time_zone);
    if let Some(text) = &alert.custom.text {
        paragraphs = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect();
        facts.clear();
    }
    let mut closing = vec!["Prices may be delayed. This is not investment advice.".to_owned()];
    if let Some(reason) = alert.not_by_sms {
        closing.push(format!(
            "This alert is set to text message. It was sent by email because {}.",
            reason.sentence()
        ));
    }
    if alert.is_fallback {
        closing.push(FALLBACK.to_owned());
    }
    let content = Content {
        subject: alert
            .custom
            .title
            .clone()
            .unwrap_or_else(|| format!("{}: {}", alert.symbol, alert.reason)),
        headline: format!("Your alert on {} has fired", alert.symbol),
        paragraphs,
        facts,
        action: alert.link.clone().map(|link| Action {
            label: "Open the alert",
            link,
        }),
        second_action: alert.acknowledge_link.clone().map(|link| Action {
            label: "Acknowledge: I have seen it",
            link,
        }),
        shows_link: true,
        closing,
    };
    page::render(&content, context)
}

/// Renders the notification as a text message of at most 306 GSM characters: two concatenated messages. The links come last and are
/// always complete; the note before them is shortened first.
#[must_use]
pub fn fired_alert_sms(alert: &FiredAlert, product: &str) -> String {
    let company = alert
        .company
        .as_deref()
        .map(|company| gsm::without_links(&plain(company, MAX_COMPANY_LENGTH_IN_SMS)));
    // A name in another script would become question marks only.
    let company = company.filter(|company| gsm::fits_gsm(company));
    let mut text = format!("{product}: {}", alert.symbol);
    if let Some(company) = company {
        text.push_str(&format!(" ({company})"));
    }
    text.push_str(&format!(": {}.", gsm::without_links(&alert.reason)));
    if let Some(note) = &alert.reminder_note {
        text.push_str(&format!(" Your note: {}", gsm::without_links(note)));
    } else if let Some(price) = alert.price {
        text.push_str(&format!(" Price {}", usd(price)));
        if let Some(percent) = alert.change_percent {
            text.push_str(&format!(", {} today", signed_percent(percent)));
        }
        text.push('.');
    }
    if let Some(note) = alert.note.as_deref().filter(|note| gsm::is_readable_in_gsm(note)) {
        text.push_str(&format!(" Your note: {}", gsm::without_links(note)));
    }
    if let Some(custom) = &alert.custom.text {
        text.clone_from(custom);
    }
    let links = gsm::links_at_the_end([("Alert", &alert.link), ("Seen it", &alert.acknowledge_link)]);
    gsm::to_gsm_with_end(&text, &links)
}
