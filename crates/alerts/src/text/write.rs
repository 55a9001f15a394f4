//! Writes an alert as a sentence that [`parse_text`](super::parse_text) reads as the same alert.

use jiff::Timestamp;

use super::named;
use super::phrases::{PHRASES, PhraseValue, TextOption};
use crate::alert::{Channel, NewAlert};
use crate::condition::Condition;
use crate::expression::Expression;
use crate::expression::conversion::{from_condition, to_condition};
use crate::options::{Expiry, PercentBase, Rearm, Repeat, SessionScope, TriggerPrice};

/// Returns an alert as a sentence: `AAPL falls to 180.00 or below each time cooldown 1h to sms`; `None` if neither words nor an
/// expression mean exactly the same as its condition.
#[must_use]
pub fn sentence(alert: &NewAlert) -> Option<String> {
    let mut sentence = condition_in_words(alert)?;
    sentence.push_str(&option_phrases(alert));
    Some(sentence)
}

/// Returns the options and the channel that differ from their defaults as the phrases of a sentence, each after a space.
#[must_use]
pub fn option_phrases(alert: &NewAlert) -> String {
    let within = match &alert.condition {
        Condition::Expression(condition) => condition.within,
        _ => None,
    };
    let options = &alert.options;
    let mut sentence = Sentence(String::new());
    match within {
        Some(crate::expression::Within::Session) => sentence.fixed(TextOption::Within, "session"),
        other => sentence.with_value(TextOption::Within, other),
    }
    sentence.fixed_unless_default(TextOption::Repeat, options.repeat, Repeat::name);
    if let Some(firings) = options.max_firings {
        sentence.with_value(TextOption::MaxFirings, Some(format!("{firings} times")));
    }
    sentence.with_value(TextOption::Cooldown, options.cooldown.map(|cooldown| cooldown.span()));
    sentence.flag(TextOption::CooldownRefire, options.cooldown_refire);
    match options.rearm {
        Some(Rearm::At(level)) => sentence.add(&format!("re-arm at {level}")),
        Some(Rearm::Percent(percent)) => sentence.add(&format!("re-arm after {percent}%")),
        None => {}
    }
    sentence.with_value(TextOption::Hold, options.hold.map(|hold| hold.span()));
    sentence.with_value(
        TextOption::ExpiresAt,
        options.expires_at.map(|expiry| match expiry {
            Expiry::Date(date) => date.to_string(),
            Expiry::Instant(at) => instant(at),
        }),
    );
    sentence.flag(TextOption::NotifyOnExpiry, options.notify_on_expiry);
    sentence.with_value(TextOption::SnoozedUntil, options.snoozed_until.map(instant));
    sentence.fixed_unless_default(TextOption::Session, options.session, SessionScope::name);
    sentence.fixed_unless_default(TextOption::Trigger, options.trigger, TriggerPrice::name);
    // The sentence of a price change names its base.
    if !matches!(alert.condition, Condition::PriceChange { .. }) {
        sentence.fixed_unless_default(TextOption::Base, options.base, PercentBase::name);
    }
    if alert.notification != Channel::default() {
        sentence.with_value(TextOption::Channel, Some(alert.notification.name()));
    }
    sentence.0
}

fn condition_in_words(alert: &NewAlert) -> Option<String> {
    let condition = &alert.condition;
    let named = || named::written(alert.symbol, condition);
    if matches!(condition, Condition::PriceChange { .. }) && alert.options.base != PercentBase::Creation {
        let mut sentence = Sentence(named()?);
        sentence.fixed(TextOption::Base, alert.options.base.name());
        return Some(sentence.0);
    }
    let is_expression = matches!(condition, Condition::Expression(_));
    let is_exact = |expression: &Expression| is_expression || to_condition(expression).as_ref() == Some(condition);
    let exact = from_condition(condition).filter(is_exact);
    exact.map_or_else(named, |expression| Some(expression.sentence(alert.symbol)))
}

pub(super) fn instant(at: Timestamp) -> String {
    format!("{at:.3}")
}

struct Sentence(String);

impl Sentence {
    fn add(&mut self, text: &str) {
        self.0.push(' ');
        self.0.push_str(text);
    }

    /// Adds the first phrase of an option whose value is of a kind.
    fn phrase(&mut self, option: TextOption, is_of_kind: impl Fn(PhraseValue) -> bool) {
        let found = PHRASES
            .iter()
            .find(|(_, of, value)| *of == option && is_of_kind(*value));
        if let Some((words, ..)) = found {
            self.add(&words.join(" "));
        }
    }

    fn fixed(&mut self, option: TextOption, name: &str) {
        self.phrase(
            option,
            |value| matches!(value, PhraseValue::Fixed(text) if text == name),
        );
    }

    fn fixed_unless_default<T: Copy + Default + PartialEq>(
        &mut self,
        option: TextOption,
        value: T,
        name: fn(T) -> &'static str,
    ) {
        if value != T::default() {
            self.fixed(option, name(value));
        }
    }

    fn flag(&mut self, option: TextOption, is_set: bool) {
        if is_set {
            self.phrase(option, |value| value == PhraseValue::Flag);
        }
    }

    fn with_value(&mut self, option: TextOption, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.phrase(option, |value| !matches!(value, PhraseValue::Fixed(_)));
            self.add(&value.to_string());
        }
    }
}
