//! Numbers of requests: read exactly, and judged against what is allowed.

use market::{Decimal, Price};
use serde_json::Value;

use super::fields::{Faults, Noted, kind_of};
use crate::condition::ConditionKind;

/// What a number has to be.
pub(super) struct Allowed<T> {
    /// In words that read on from "must be".
    pub(super) text: &'static str,
    /// The number as what it stands for; `None` when it is out of range.
    pub(super) take: fn(Decimal) -> Option<T>,
}

/// Any price.
pub(super) const PRICE: Allowed<Price> = Allowed {
    text: "a price in US dollars above 0 and at most 1000000000",
    take: |number| Price::try_from(number).ok(),
};

/// More than zero per cent.
pub(super) const PERCENT: Allowed<Decimal> = Allowed {
    text: "a percentage above 0",
    take: positive,
};

/// What a price can lose.
pub(super) const PERCENT_DOWN: Allowed<Decimal> = Allowed {
    text: "a percentage above 0 and at most 100",
    take: |number| positive(number).filter(|percent| percent.micros() <= 100_000_000),
};

/// The period of a moving average.
pub(super) const SESSIONS: Allowed<u16> = Allowed {
    text: "a whole number of sessions from 2 to 400",
    take: |number| whole(number, 2, 400),
};

/// What an RSI can be.
pub(super) const RSI: Allowed<Decimal> = Allowed {
    text: "a number from 0 to 100",
    take: |number| (0..=100_000_000).contains(&number.micros()).then_some(number),
};

/// A price in years of earnings.
pub(super) const RATIO: Allowed<Decimal> = Allowed {
    text: "a ratio above 0",
    take: positive,
};

/// What insiders' trades are worth.
pub(super) const DOLLARS: Allowed<Decimal> = Allowed {
    text: "an amount in US dollars above 0",
    take: positive,
};

/// How long before a date.
pub(super) const DAYS_AHEAD: Allowed<u16> = Allowed {
    text: "a whole number of days from 0 to 365",
    take: |number| whole(number, 0, 365),
};

/// How far a reminder without a date may lie ahead: a century.
pub(super) const REMINDER_DAYS: Allowed<u16> = Allowed {
    text: "a whole number of calendar days from 0 to 36500",
    take: |number| whole(number, 0, 36_500),
};

/// How many insiders have to trade.
pub(super) const EXECUTIVES: Allowed<u16> = Allowed {
    text: "a whole number from 1 to 100",
    take: |number| whole(number, 1, 100),
};

/// How far back insiders' trades count.
pub(super) const WINDOW_DAYS: Allowed<u16> = Allowed {
    text: "a whole number of days from 1 to 365",
    take: |number| whole(number, 1, 365),
};

/// How many shares somebody has.
pub(super) const SHARES: Allowed<Decimal> = Allowed {
    text: "a number of shares above 0",
    take: positive,
};

fn positive(number: Decimal) -> Option<Decimal> {
    (number > Decimal::ZERO).then_some(number)
}

fn whole(number: Decimal, least: u16, most: u16) -> Option<u16> {
    let whole = u16::try_from(number.as_whole()?).ok()?;
    (least..=most).contains(&whole).then_some(whole)
}

/// The number that `value` is, to the digit it was written with; else what is wrong with it.
pub(super) fn decimal<T>(value: &Value, allowed: &Allowed<T>) -> Result<Decimal, String> {
    match value {
        // The text of a JSON number is what the client wrote, where its float would be near it.
        Value::Number(number) => number
            .to_string()
            .parse()
            .map_err(|_| format!("is too large; it must be {}", allowed.text)),
        Value::String(text) => Err(match text.trim().parse::<Decimal>() {
            Ok(number) => format!("must be a number, not a string; write {number} without quotes"),
            Err(_) => format!("must be a number, not a string; it must be {}", allowed.text),
        }),
        other => {
            let kind = kind_of(other);
            Err(format!("must be a number, not {kind}; it must be {}", allowed.text))
        }
    }
}

/// The threshold that a condition is judged with.
#[derive(Clone, Copy)]
pub(super) enum Threshold<'a> {
    /// There is none: left out or null.
    Absent,
    /// The request has this one, which is not null.
    Sent(&'a Value),
    /// The request leaves it out, so the alert's own stays.
    Kept(Decimal),
}

impl<'a> Threshold<'a> {
    /// The request's; null is as good as none.
    pub(super) fn sent(value: Option<&'a Value>) -> Self {
        match value {
            None | Some(Value::Null) => Self::Absent,
            Some(value) => Self::Sent(value),
        }
    }

    /// Nothing, for a condition that takes no threshold.
    pub(super) fn forbidden(self, kind: ConditionKind, faults: &mut Faults) -> Result<(), Noted> {
        match self {
            Self::Sent(_) => Err(faults.note("threshold", format!("must be omitted for {kind}"))),
            Self::Absent | Self::Kept(_) => Ok(()),
        }
    }

    /// The threshold of a condition that can do without.
    pub(super) fn optional<T>(
        self,
        kind: ConditionKind,
        allowed: &Allowed<T>,
        faults: &mut Faults,
    ) -> Result<Option<T>, Noted> {
        let number = match self {
            Self::Absent => return Ok(None),
            Self::Sent(value) => decimal(value, allowed).map_err(|message| faults.note("threshold", message))?,
            Self::Kept(number) => number,
        };
        (allowed.take)(number).map(Some).ok_or_else(|| {
            let text = allowed.text;
            let message = format!("must be {text} for {kind}, but is {number}");
            faults.note("threshold", message)
        })
    }

    /// The threshold of a condition that needs one.
    pub(super) fn required<T>(
        self,
        kind: ConditionKind,
        allowed: &Allowed<T>,
        faults: &mut Faults,
    ) -> Result<T, Noted> {
        self.optional(kind, allowed, faults)?.ok_or_else(|| {
            let message = format!("is required for {kind}; it must be {}", allowed.text);
            faults.note("threshold", message)
        })
    }

    /// Notes what is wrong with it whatever the condition, for when that is not known.
    pub(super) fn must_be_a_number(self, faults: &mut Faults) {
        let any = Allowed {
            text: "a number, or left out",
            take: Some,
        };
        if let Self::Sent(value) = self
            && let Err(message) = decimal(value, &any)
        {
            faults.note("threshold", message);
        }
    }
}
