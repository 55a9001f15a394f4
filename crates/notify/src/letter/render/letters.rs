//! What each letter says.

use jiff::tz::TimeZone;

use super::page::{self, Action, Content, Fact, Tone};
use super::{Frame, Mail, alerts as told, gsm};
use crate::letter::{Letter, plain};

/// A stock's symbol has at most so many characters, ...
const SYMBOL: usize = 12;
/// ... what somebody wishes for so many, ...
const WISH: usize = 200;
/// ... an address or a URL so many.
const URL: usize = 200;

/// A letter as a mail.
#[must_use]
pub fn mail(letter: &Letter, frame: &Frame) -> Mail {
    page::mail(&content(letter, &frame.product, &frame.time_zone), frame)
}

/// A letter as a text message. All but [`Letter::PhoneCode`] are made for mail; of those, this is the subject.
#[must_use]
pub fn sms(letter: &Letter, product: &str) -> String {
    match letter {
        Letter::PhoneCode { code } => gsm::fitted(&format!(
            "{} is your {product} code. It is good for a few minutes. Nobody who asks you for it is from {product}.",
            plain(code, SYMBOL)
        )),
        letter => gsm::fitted(&gsm::unlinked(&content(letter, product, &TimeZone::UTC).subject)),
    }
}

fn content(letter: &Letter, product: &str, time_zone: &TimeZone) -> Content {
    match letter {
        Letter::ConfirmAddress { link } => asking(
            &format!("Confirm your address for {product}"),
            "Is this your address?",
            format!("Somebody, hopefully you, has registered at {product} with this address."),
            action("Confirm my address", link),
            "If it was not you, do nothing: without a click, no account can be used with this address.",
        ),
        Letter::AlreadyRegistered { link } => asking(
            &format!("You already have an account at {product}"),
            "You already have an account",
            "Somebody, hopefully you, has tried to register with this address, which has an account. Nothing was changed."
                .to_owned(),
            action("Sign in", link),
            "If you have forgotten your password, say so there, and choose another one. If it was not you, do nothing.",
        ),
        Letter::MagicLink { link } => asking(
            &format!("Sign in to {product}"),
            "Your link to sign in",
            "The link signs you in once, and is good for a short time.".to_owned(),
            action("Sign in", link),
            "If you did not ask for it, do nothing, and show it to nobody: whoever has it can sign in as you.",
        ),
        Letter::ResetPassword { link } => asking(
            &format!("Choose a new password for {product}"),
            "Choose a new password",
            "The link lets you choose a new password once, and is good for a short time. All sessions end when you do."
                .to_owned(),
            action("Choose a new password", link),
            "If you did not ask for it, do nothing: your password stays as it is.",
        ),
        Letter::ConfirmNewAddress { link } => asking(
            &format!("Confirm your new address for {product}"),
            "Is this your new address?",
            format!("An account at {product} is to have this address from now on."),
            action("Confirm my new address", link),
            "If it was not you who asked for it, do nothing: the account keeps its address.",
        ),
        Letter::AddressChanged { new_address } => Content {
            subject: format!("The address of your {product} account was changed"),
            headline: "The address of your account was changed".to_owned(),
            paragraphs: vec!["Mail goes to the new address from now on, and signing in needs it.".to_owned()],
            facts: vec![fact("New address", plain(new_address, URL))],
            closing: vec!["If it was not you, answer whoever runs this service at once.".to_owned()],
            ..Content::default()
        },
        Letter::PasswordChanged { link } => Content {
            subject: format!("The password of your {product} account was changed"),
            headline: "Your password was changed".to_owned(),
            paragraphs: vec!["All other sessions have ended.".to_owned()],
            action: Some(action("Choose another password", link)),
            shows_link: true,
            closing: vec!["If it was not you, say there that you have forgotten your password, and choose another one at once.".to_owned()],
            ..Content::default()
        },
        Letter::GuestAlert { symbol, wish, link } => {
            let symbol = plain(symbol, SYMBOL);
            Content {
                facts: vec![fact("Stock", symbol.clone()), fact("Tell me when", plain(wish, WISH))],
                ..asking(
                    &format!("Confirm your alert on {symbol}"),
                    "Do you want this alert?",
                    format!("Somebody, hopefully you, has asked {product} to write to this address when this happens:"),
                    action("Yes, make it active", link),
                    "The link is good for two days. If it was not you, do nothing: without a click, no alert is active.",
                )
            }
        }
        Letter::WebhookOff { url, reason } => Content {
            subject: "A webhook of yours was switched off".to_owned(),
            headline: "A webhook of yours was switched off".to_owned(),
            paragraphs: vec![
                match reason.as_str() {
                    "gone" => "It answered 410 (gone), which says that it wants nothing any more.",
                    _ => "Every delivery to it has failed for five days.",
                }
                .to_owned(),
                "Your alerts stay active, and other ways to tell you go on.".to_owned(),
            ],
            facts: vec![fact("Webhook", plain(url, URL))],
            closing: vec!["Switch it on again when it works: what fires from then on is delivered.".to_owned()],
            ..Content::default()
        },
        Letter::AlertsBlind { alerts, more } => told::blind(alerts, *more, time_zone),
        Letter::AlertsSee { alerts, more, since } => told::seeing(alerts, *more, since, time_zone),
        Letter::SplitAdjusted { split, alerts, more } => told::split(split, alerts, *more),
        Letter::SmsQuotaLow {
            used,
            quota,
            renewed_on,
        } => told::sms_low(*used, *quota, renewed_on),
        Letter::SmsQuotaUsed { quota, renewed_on } => told::sms_used(*quota, renewed_on),
        Letter::PlanPausedAlerts { plan, alerts, more } => told::paused_by_plan(plan, alerts, *more),
        Letter::PhoneCode { code } => Content {
            subject: format!("Your {product} code"),
            headline: plain(code, SYMBOL),
            paragraphs: vec!["Enter this code to show that the telephone number is yours.".to_owned()],
            closing: vec!["If you did not ask for it, do nothing, and tell it to nobody.".to_owned()],
            ..Content::default()
        },
    }
}

/// A letter that asks for a click.
fn asking(subject: &str, headline: &str, what: String, action: Action, otherwise: &str) -> Content {
    Content {
        subject: subject.to_owned(),
        headline: headline.to_owned(),
        paragraphs: vec![what],
        facts: Vec::new(),
        action: Some(action),
        shows_link: true,
        closing: vec![otherwise.to_owned()],
    }
}

fn action(label: &'static str, link: &str) -> Action {
    Action {
        label,
        link: link.to_owned(),
    }
}

const fn fact(label: &'static str, value: String) -> Fact {
    Fact {
        label,
        value,
        tone: Tone::Plain,
    }
}
