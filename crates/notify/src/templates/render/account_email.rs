//! The texts of account emails.

use jiff::tz::TimeZone;

use super::page::{self, Action, Content, Fact};
use super::{EmailContext, RenderedEmail, alert_notices, gsm};
use crate::templates::{AccountEmail, plain};

/// Maximum length of a symbol or a code, in characters.
const MAX_SYMBOL_LENGTH: usize = 12;
/// Maximum length of a condition in words, in characters.
const MAX_CONDITION_LENGTH: usize = 200;
/// Maximum length of the problem of a template, in characters.
const MAX_PROBLEM_LENGTH: usize = 400;
/// Maximum length of an email address or a URL, in characters.
const MAX_URL_LENGTH: usize = 200;

/// Renders an account message as an email.
#[must_use]
pub fn account_email(email: &AccountEmail, context: &EmailContext) -> RenderedEmail {
    page::render(&content(email, &context.product, &context.time_zone), context)
}

/// Renders an account message as a text message. Only [`AccountEmail::PhoneCode`] has a text for that; of all others, it is the
/// subject of the email.
#[must_use]
pub fn account_sms(email: &AccountEmail, product: &str) -> String {
    match email {
        AccountEmail::PhoneCode { code } => gsm::to_gsm(&format!(
            "{} is your {product} code. It expires in a few minutes. Do not share it with anyone.",
            plain(code, MAX_SYMBOL_LENGTH)
        )),
        email => gsm::to_gsm(&gsm::without_links(&content(email, product, &TimeZone::UTC).subject)),
    }
}

fn content(email: &AccountEmail, product: &str, time_zone: &TimeZone) -> Content {
    match email {
        AccountEmail::ConfirmAddress { link } => confirmation(
            &format!("Confirm your email address for {product}"),
            "Confirm your email address",
            format!("Someone registered at {product} with this email address."),
            action("Confirm email address", link),
            "If this was not you, ignore this email. The account cannot be used without confirmation.",
        ),
        AccountEmail::AlreadyRegistered { link } => confirmation(
            &format!("You already have an account at {product}"),
            "You already have an account",
            "Someone tried to register with this email address, but it already has an account. Nothing was changed.".to_owned(),
            action("Sign in", link),
            "If you forgot your password, choose a new one on the sign-in page. If this was not you, ignore this email.",
        ),
        AccountEmail::MagicLink { link } => confirmation(
            &format!("Sign in to {product}"),
            "Your sign-in link",
            "This link signs you in. It works once and expires soon.".to_owned(),
            action("Sign in", link),
            "If you did not request it, ignore this email and do not share the link: anyone who has it can sign in to your account.",
        ),
        AccountEmail::ResetPassword { link } => confirmation(
            &format!("Choose a new password for {product}"),
            "Choose a new password",
            "Use this link to choose a new password. It works once and expires soon. All sessions end when you change the password."
                .to_owned(),
            action("Choose a new password", link),
            "If you did not request it, ignore this email. Your password stays unchanged.",
        ),
        AccountEmail::ConfirmNewAddress { link } => confirmation(
            &format!("Confirm your new email address for {product}"),
            "Confirm your new email address",
            format!("Someone requested to change the email address of an account at {product} to this one."),
            action("Confirm new email address", link),
            "If this was not you, ignore this email. The account keeps its current email address.",
        ),
        AccountEmail::ConfirmChannel { link } => confirmation(
            &format!("Confirm that {product} may send alerts to this address"),
            "Receive alerts at this address?",
            format!("Someone requested that messages about the alerts of an account at {product} are sent to this email address."),
            action("Receive alerts", link),
            "If this was not you, ignore this email. Nothing is sent to this address without confirmation.",
        ),
        AccountEmail::AddressChanged { new_address } => Content {
            subject: format!("The email address of your {product} account was changed"),
            headline: "Your email address was changed".to_owned(),
            paragraphs: vec!["Emails go to the new address from now on, and you sign in with it.".to_owned()],
            facts: vec![Fact::plain("New address", plain(new_address, MAX_URL_LENGTH))],
            closing: vec!["If this was not you, contact the operator of this service immediately.".to_owned()],
            ..Content::default()
        },
        AccountEmail::PasswordChanged { link } => Content {
            subject: format!("The password of your {product} account was changed"),
            headline: "Your password was changed".to_owned(),
            paragraphs: vec!["All other sessions have ended.".to_owned()],
            action: Some(action("Choose another password", link)),
            shows_link: true,
            closing: vec!["If this was not you, choose a new password on the sign-in page immediately.".to_owned()],
            ..Content::default()
        },
        AccountEmail::GuestAlert {
            symbol,
            condition,
            link,
        } => {
            let symbol = plain(symbol, MAX_SYMBOL_LENGTH);
            Content {
                facts: vec![
                    Fact::plain("Stock", symbol.clone()),
                    Fact::plain("Condition", plain(condition, MAX_CONDITION_LENGTH)),
                ],
                ..confirmation(
                    &format!("Confirm your alert on {symbol}"),
                    "Confirm your alert",
                    format!("Someone asked {product} to email this address when the following happens:"),
                    action("Activate alert", link),
                    "The link is valid for two days. If this was not you, ignore this email. The alert stays inactive.",
                )
            }
        }
        AccountEmail::WebhookDisabled { url, reason } => Content {
            subject: "Your webhook was disabled".to_owned(),
            headline: "Your webhook was disabled".to_owned(),
            paragraphs: vec![
                match reason.as_str() {
                    "gone" => "The receiver returned 410 (gone), which means that it does not accept deliveries any more.",
                    _ => "All deliveries to it have failed for five days.",
                }
                .to_owned(),
                "Your alerts stay active, and notifications through other channels continue.".to_owned(),
            ],
            facts: vec![Fact::plain("Webhook", plain(url, MAX_URL_LENGTH))],
            closing: vec![
                "Enable the webhook again when the receiver works. Deliveries resume with the next alert that fires.".to_owned(),
            ],
            ..Content::default()
        },
        AccountEmail::AlertsStale { alerts, more } => alert_notices::stale(alerts, *more, time_zone),
        AccountEmail::AlertsRecovered { alerts, more, since } => {
            alert_notices::recovered(alerts, *more, since, time_zone)
        }
        AccountEmail::SplitAdjusted { split, alerts, more } => alert_notices::split_adjusted(split, alerts, *more),
        AccountEmail::AlertExpired { alert, at } => alert_notices::expired(alert, at, time_zone),
        AccountEmail::SmsQuotaLow {
            used,
            quota,
            renewed_on,
        } => alert_notices::sms_quota_low(*used, *quota, renewed_on),
        AccountEmail::SmsQuotaUsed { quota, renewed_on } => alert_notices::sms_quota_used(*quota, renewed_on),
        AccountEmail::PlanPausedAlerts { plan, alerts, more } => alert_notices::paused_by_plan(plan, alerts, *more),
        AccountEmail::TemplateFailed {
            channel,
            template,
            error,
        } => Content {
            subject: "A template of your notification channel has failed".to_owned(),
            closing: vec![
                "Change the template in the settings of the channel. You get this email once, until the template is changed.".to_owned(),
            ],
            ..template_failed(Some(channel), template, error)
        },
        AccountEmail::AlertTemplateFailed { link, template, error } => Content {
            subject: "A template of your alert has failed".to_owned(),
            action: Some(Action {
                label: "Open the alert",
                link: link.clone(),
            }),
            closing: vec!["Change `templates` of the alert with PATCH /api/v1/alerts/{id}. You get this email once, until the template is changed.".to_owned()],
            ..template_failed(None, template, error)
        },
        AccountEmail::PhoneCode { code } => Content {
            subject: format!("Your {product} code"),
            headline: plain(code, MAX_SYMBOL_LENGTH),
            paragraphs: vec!["Enter this code to confirm your phone number.".to_owned()],
            closing: vec!["If you did not request it, ignore this email and do not share the code.".to_owned()],
            ..Content::default()
        },
        AccountEmail::ChannelTest => Content {
            subject: format!("Test message from {product}"),
            headline: "This is a test".to_owned(),
            paragraphs: vec!["Messages about your alerts reach you here.".to_owned()],
            closing: vec!["The test was requested in the settings of your account.".to_owned()],
            ..Content::default()
        },
    }
}

fn template_failed(channel: Option<&str>, template: &str, error: &str) -> Content {
    let channel = channel.map(|channel| Fact::plain("Channel", plain(channel, MAX_CONDITION_LENGTH)));
    let facts = [
        Fact::plain("Template", plain(template, MAX_SYMBOL_LENGTH)),
        Fact::plain("Problem", plain(error, MAX_PROBLEM_LENGTH)),
    ];
    Content {
        headline: "A template has failed".to_owned(),
        paragraphs: vec![
            "An alert has fired, and the template could not be rendered. The message was sent with the default text."
                .to_owned(),
        ],
        facts: channel.into_iter().chain(facts).collect(),
        ..Content::default()
    }
}

/// Returns the content of an email that asks the recipient to open a link.
fn confirmation(subject: &str, headline: &str, paragraph: String, action: Action, closing: &str) -> Content {
    Content {
        subject: subject.to_owned(),
        headline: headline.to_owned(),
        paragraphs: vec![paragraph],
        facts: Vec::new(),
        action: Some(action),
        second_action: None,
        shows_link: true,
        closing: vec![closing.to_owned()],
    }
}

fn action(label: &'static str, link: &str) -> Action {
    Action {
        label,
        link: link.to_owned(),
    }
}
