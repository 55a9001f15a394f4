//! Writes options as JSON: only those that differ from their default, in one order, durations as they were written.

use jiff::Timestamp;
use market::Decimal;
use serde_json::{Map, Value, json};

use super::{AlertOptions, Expiry, PercentBase, Rearm, Repeat, SessionScope, TriggerPrice};
use crate::json::number;

impl AlertOptions {
    /// Returns the options as JSON, which [`restore_options`](super::restore_options) reads as the same options.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        let rearm = self.rearm.map(|rearm| match rearm {
            Rearm::At(level) => json!({"at": decimal(level)}),
            Rearm::Percent(percent) => json!({"percent": decimal(percent)}),
        });
        let expires_at = self.expires_at.map(|expiry| match expiry {
            Expiry::Date(date) => date.to_string(),
            Expiry::Instant(at) => instant(at),
        });
        let flag = |flag: bool| flag.then_some(Value::Bool(true));
        let members = [
            ("repeat", unless_default(self.repeat, Repeat::name)),
            (
                "cooldown",
                self.cooldown.map(|cooldown| cooldown.span().to_string().into()),
            ),
            ("cooldown_refire", flag(self.cooldown_refire)),
            ("rearm", rearm),
            ("hold", self.hold.map(|hold| hold.span().to_string().into())),
            ("expires_at", expires_at.map(Value::from)),
            ("notify_on_expiry", flag(self.notify_on_expiry)),
            ("snoozed_until", self.snoozed_until.map(|at| instant(at).into())),
            ("session", unless_default(self.session, SessionScope::name)),
            ("trigger", unless_default(self.trigger, TriggerPrice::name)),
            ("base", unless_default(self.base, PercentBase::name)),
            ("max_firings", self.max_firings.map(Value::from)),
        ];
        let set = members.into_iter().filter_map(|(name, value)| Some((name, value?)));
        set.map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

fn unless_default<T: Copy + Default + PartialEq>(value: T, name: fn(T) -> &'static str) -> Option<Value> {
    (value != T::default()).then(|| name(value).into())
}

fn decimal(number_value: Decimal) -> Value {
    number(number_value).map_or(Value::Null, Value::Number)
}

fn instant(at: Timestamp) -> String {
    format!("{at:.3}")
}
