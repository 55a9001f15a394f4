//! Reads options from JSON. Unknown names are errors, because a misspelt option would change when the alert fires.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use market::Decimal;
use serde_json::{Map, Value};

use super::names::{OPTION_NAMES, REARM_NAMES, in_words};
use super::span::SpanError;
use super::{
    AlertOptions, Cooldown, Expiry, Hold, MAX_FIRINGS, PercentBase, Rearm, Repeat, SessionScope, Span, TriggerPrice,
};
use crate::expression::nearest_names;
use crate::request::{DATE_FORMS, DateOrInstant, FieldErrors, ParseContext, decimal, kind_of, member, parse_date};

/// The maximum of a re-arm distance in percent.
const MAX_REARM_PERCENT: i64 = 100;

/// The maximum length of an unknown name that an error repeats as its field.
const MAX_UNKNOWN_NAME_BYTES: usize = 40;

/// Reads the member `options` of a request. A null counts as an omitted member, and so does a snooze that has ended.
///
/// # Errors
/// The errors of each field, such as `options.cooldown`. The end of the alert must be after `context.now`.
pub fn parse_options(value: &Value, context: &ParseContext<'_>) -> Result<AlertOptions, FieldErrors> {
    parse_changed_options(value, None, context)
}

/// Reads the member `options` of an update. The alert may keep the end `kept`, even if that has passed.
///
/// # Errors
/// As [`parse_options`].
pub(crate) fn parse_changed_options(
    value: &Value,
    kept: Option<Expiry>,
    context: &ParseContext<'_>,
) -> Result<AlertOptions, FieldErrors> {
    let mut reader = Reader::default();
    let options = reader.options(value, context.time_zone);
    // Responses have milliseconds.
    let milliseconds = |expiry: Option<Expiry>| expiry.map(|expiry| expiry.instant().as_millisecond());
    if milliseconds(options.expires_at) != milliseconds(kept) {
        reader.must_be_ahead("options.expires_at", options.expires(), context.now);
    }
    reader.finish(options.without_ended_snooze(context.now))
}

/// Reads options that were [written](AlertOptions::to_json) for the database. Instants can be past.
///
/// # Errors
/// The errors of each field.
pub fn restore_options(value: &Value) -> Result<AlertOptions, FieldErrors> {
    let mut reader = Reader::default();
    let options = reader.options(value, &TimeZone::UTC);
    reader.finish(options)
}

/// A reader that collects errors. An invalid option has its default in the result.
#[derive(Default)]
struct Reader {
    errors: FieldErrors,
}

impl Reader {
    fn finish(self, options: AlertOptions) -> Result<AlertOptions, FieldErrors> {
        if self.errors.is_empty() {
            Ok(options)
        } else {
            Err(self.errors)
        }
    }

    fn options(&mut self, value: &Value, zone: &TimeZone) -> AlertOptions {
        let map = match value {
            Value::Null => return AlertOptions::default(),
            Value::Object(map) => map,
            other => {
                let message = format!("must be an object or null, not {}", kind_of(other));
                self.errors.add("options", message);
                return AlertOptions::default();
            }
        };
        self.unknown_names("options", map, OPTION_NAMES);
        let options = AlertOptions {
            repeat: self.named(map, "repeat", Repeat::ALL, Repeat::name),
            cooldown: self.span(map, "cooldown", "from 1m to 30d", Cooldown::new),
            cooldown_refire: self.flag(map, "cooldown_refire"),
            rearm: self.rearm(map),
            hold: self.span(map, "hold", "from 1m to 5d of session time", Hold::new),
            expires_at: self.expiry(map, zone),
            notify_on_expiry: self.flag(map, "notify_on_expiry"),
            snoozed_until: self.instant(map, "snoozed_until", zone),
            session: self.named(map, "session", SessionScope::ALL, SessionScope::name),
            trigger: self.named(map, "trigger", TriggerPrice::ALL, TriggerPrice::name),
            base: self.named(map, "base", PercentBase::ALL, PercentBase::name),
            max_firings: self.max_firings(map),
        };
        let repeats = options.repeat != Repeat::Once || !self.errors.of("options.repeat").is_empty();
        if !repeats && options.max_firings.is_some_and(|firings| firings > 1) {
            let message =
                "must be 1 or omitted for an alert that fires once; set options.repeat to each_time or once_per_day";
            self.errors.add("options.max_firings", message);
        }
        options
    }

    fn unknown_names(&mut self, parent: &str, map: &Map<String, Value>, known: &'static [&'static str]) {
        for name in map.keys().filter(|name| !known.contains(&name.as_str())) {
            let help = match nearest_names(name, known.iter().copied()).first() {
                Some(nearest) => format!("did you mean {nearest}?"),
                None => format!("give {}", in_words(known)),
            };
            let is_plain = (1..=MAX_UNKNOWN_NAME_BYTES).contains(&name.len())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if is_plain {
                self.errors
                    .add(format!("{parent}.{name}"), format!("is unknown; {help}"));
            } else {
                self.errors.add(parent, format!("has an unknown member; {help}"));
            }
        }
    }

    fn named<T: Copy + Default>(
        &mut self,
        map: &Map<String, Value>,
        name: &str,
        all: &[T],
        name_of: fn(T) -> &'static str,
    ) -> T {
        let Some(value) = member(map, name) else {
            return T::default();
        };
        let text = value.as_str().unwrap_or_default();
        let found = all.iter().copied().find(|known| name_of(*known) == text);
        found.unwrap_or_else(|| {
            let names: Vec<_> = all.iter().map(|known| name_of(*known)).collect();
            let allowed = in_words(&names);
            let message = match nearest_names(text, names).first() {
                Some(nearest) => format!("must be {allowed}; did you mean {nearest}?"),
                None => format!("must be {allowed}"),
            };
            self.errors.add(format!("options.{name}"), message);
            T::default()
        })
    }

    fn flag(&mut self, map: &Map<String, Value>, name: &str) -> bool {
        match member(map, name) {
            None => false,
            Some(Value::Bool(flag)) => *flag,
            Some(other) => {
                let message = format!("must be true or false, not {}", kind_of(other));
                self.errors.add(format!("options.{name}"), message);
                false
            }
        }
    }

    /// Reads a length of time; `allowed` continues after "must be a duration".
    fn span<T>(
        &mut self,
        map: &Map<String, Value>,
        name: &str,
        allowed: &str,
        in_range: fn(Span) -> Option<T>,
    ) -> Option<T> {
        let value = member(map, name)?;
        let span: Result<Span, SpanError> = value.as_str().ok_or(SpanError).and_then(str::parse);
        let found = span.ok().and_then(in_range);
        if found.is_none() {
            let message = format!("must be a duration {allowed}, such as \"15m\", \"2h\" or \"1d\"");
            self.errors.add(format!("options.{name}"), message);
        }
        found
    }

    fn rearm(&mut self, map: &Map<String, Value>) -> Option<Rearm> {
        const FORMS: &str = r#"{"at": level} or {"percent": number}"#;
        let value = member(map, "rearm")?;
        let Value::Object(rearm) = value else {
            let message = format!("must be {FORMS}, not {}", kind_of(value));
            self.errors.add("options.rearm", message);
            return None;
        };
        self.unknown_names("options.rearm", rearm, REARM_NAMES);
        match (member(rearm, "at"), member(rearm, "percent")) {
            (Some(at), None) => self.number("options.rearm.at", at, "a number").map(Rearm::At),
            (None, Some(percent)) => {
                let allowed = format!("a percentage above 0 and at most {MAX_REARM_PERCENT}");
                let number = self.number("options.rearm.percent", percent, &allowed)?;
                let is_allowed = number > Decimal::ZERO && Some(number) <= Decimal::from_units(MAX_REARM_PERCENT);
                if !is_allowed {
                    let message = format!("must be {allowed}, but is {number}");
                    self.errors.add("options.rearm.percent", message);
                }
                is_allowed.then_some(Rearm::Percent(number))
            }
            (Some(_), Some(_)) | (None, None) => {
                self.errors.add("options.rearm", format!("must be {FORMS}"));
                None
            }
        }
    }

    fn number(&mut self, field: &str, value: &Value, allowed: &str) -> Option<Decimal> {
        match decimal(value, allowed) {
            Ok(number) => Some(number),
            Err(message) => {
                self.errors.add(field, message);
                None
            }
        }
    }

    fn max_firings(&mut self, map: &Map<String, Value>) -> Option<u16> {
        let allowed = format!("a whole number from 1 to {MAX_FIRINGS}");
        let number = self.number("options.max_firings", member(map, "max_firings")?, &allowed)?;
        let firings = number.as_whole().and_then(|whole| u16::try_from(whole).ok());
        let firings = firings.filter(|firings| (1..=MAX_FIRINGS).contains(firings));
        if firings.is_none() {
            let message = format!("must be {allowed}, but is {number}");
            self.errors.add("options.max_firings", message);
        }
        firings
    }

    fn expiry(&mut self, map: &Map<String, Value>, zone: &TimeZone) -> Option<Expiry> {
        let value = member(map, "expires_at")?;
        match value.as_str().and_then(|text| parse_date(text.trim(), zone)) {
            Some(DateOrInstant::Day(date)) => Some(Expiry::Date(date)),
            Some(DateOrInstant::Instant(at)) => Some(Expiry::Instant(at)),
            None => {
                self.errors.add("options.expires_at", format!("must be {DATE_FORMS}"));
                None
            }
        }
    }

    fn instant(&mut self, map: &Map<String, Value>, name: &str, zone: &TimeZone) -> Option<Timestamp> {
        let value = member(map, name)?;
        if let Some(DateOrInstant::Instant(at)) = value.as_str().and_then(|text| parse_date(text.trim(), zone)) {
            return Some(at);
        }
        let message = "must be a date-time such as 2030-01-31T09:30:00-05:00";
        self.errors.add(format!("options.{name}"), message);
        None
    }

    fn must_be_ahead(&mut self, field: &str, at: Option<Timestamp>, now: Timestamp) {
        if let Some(at) = at.filter(|&at| at <= now) {
            let message = format!("means {at:.0}, which is in the past; give a moment after {now:.0}");
            self.errors.add(field, message);
        }
    }
}
