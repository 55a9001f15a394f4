//! The threshold and parameters of each kind of condition.

use alerts::ConditionKind;
use alerts::ConditionKind as Kind;
use serde_json::{Value, json};

/// The largest number that is stored exactly, with six decimals.
pub(super) const MAX_NUMBER: i64 = 9_223_372_036_854;
/// The smallest positive number that is stored.
pub(super) const MIN_POSITIVE_NUMBER: f64 = 0.000_001;

/// A date from 1900 to 2999. A pattern cannot check that it is not in the past.
const DATE: &str = concat!(
    "(19|2[0-9])[0-9]{2}-",
    "((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)",
    "|(19|2[0-9])(0[48]|[2468][048]|[13579][26])-02-29|2[048]00-02-29",
);
const TIME: &str = "([01][0-9]|2[0-3]):[0-5][0-9]";

/// The request schema of similar conditions.
pub(super) struct RequestShape {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) kinds: &'static [ConditionKind],
    pub(super) threshold: ThresholdRule,
    /// The condition's own parameters.
    pub(super) parameters: Vec<(&'static str, Value)>,
    /// The required parameters.
    pub(super) required: &'static [&'static str],
}

pub(super) enum ThresholdRule {
    Omitted,
    /// Any value is accepted. It may have a meaning without other parameters.
    Ignored(Value),
    Optional(Value),
    Required(Value),
}

fn number(description: &str, minimum: f64, maximum: i64) -> Value {
    json!({"type": "number", "description": description, "minimum": minimum, "maximum": maximum})
}

fn whole(description: &str, minimum: i64, maximum: i64) -> Value {
    json!({"type": "integer", "description": description, "minimum": minimum, "maximum": maximum})
}

fn word(description: &str, words: &[&str]) -> Value {
    let mut words: Vec<Value> = words.iter().map(|word| json!(word)).collect();
    words.push(Value::Null);
    json!({"type": ["string", "null"], "description": description, "enum": words})
}

pub(super) fn optional(mut schema: Value) -> Value {
    schema["type"] = json!([schema["type"], "null"]);
    schema
}

fn plain(
    name: &'static str,
    description: &'static str,
    kinds: &'static [ConditionKind],
    threshold: ThresholdRule,
) -> RequestShape {
    RequestShape {
        name,
        description,
        kinds,
        threshold,
        parameters: Vec::new(),
        required: &[],
    }
}

pub(super) fn shapes() -> Vec<RequestShape> {
    vec![
        plain(
            "PriceAlert",
            "The price is at or above (at or below) a price.",
            &[Kind::PriceAbove, Kind::PriceBelow],
            ThresholdRule::Required(number("A price in US dollars", MIN_POSITIVE_NUMBER, 1_000_000_000)),
        ),
        plain(
            "PriceRiseAlert",
            "The price is a percentage above the alert's `initial_price`.",
            &[Kind::PriceChangeUp],
            ThresholdRule::Required(number("A percentage", MIN_POSITIVE_NUMBER, MAX_NUMBER)),
        ),
        plain(
            "PriceFallAlert",
            "The price is a percentage below the alert's `initial_price`.",
            &[Kind::PriceChangeDown],
            ThresholdRule::Required(number("A percentage", MIN_POSITIVE_NUMBER, 100)),
        ),
        plain(
            "ExtremeAlert",
            "The price is above the highest (below the lowest) of 52 weeks; or the 50-day average crosses the 200-day average.",
            &[
                Kind::NewHigh,
                Kind::NewLow,
                Kind::MaCrossoverGolden,
                Kind::MaCrossoverDeath,
            ],
            ThresholdRule::Omitted,
        ),
        plain(
            "AverageTouchAlert",
            "The price reaches its moving average from below (from above).",
            &[Kind::MaTouchAbove, Kind::MaTouchBelow],
            ThresholdRule::Required(whole("The length of the average in sessions", 2, 400)),
        ),
        RequestShape {
            name: "RsiAlert",
            description: "Wilder's RSI(14) is at or beyond a threshold.",
            kinds: &[Kind::RsiLimit],
            threshold: ThresholdRule::Required(number("An RSI", 0.0, 100)),
            parameters: vec![(
                "direction",
                word(
                    "The side of the threshold that fires; `both` means the side opposite to the current RSI. Default: `above` for a threshold of 50 or more, else `below`. `up` and `down` are aliases of `above` and `below`",
                    &["above", "below", "both", "up", "down"],
                ),
            )],
            required: &[],
        },
        RequestShape {
            name: "VolumeAlert",
            description: "The session's volume so far is a percentage above the average of completed sessions.",
            kinds: &[Kind::VolumeChange],
            threshold: ThresholdRule::Required(number("A percentage", MIN_POSITIVE_NUMBER, MAX_NUMBER)),
            parameters: vec![(
                "volumeBaseline",
                word(
                    "The average of 20, 50 or 100 sessions; default `ma20`",
                    &["ma20", "ma50", "ma100"],
                ),
            )],
            required: &[],
        },
        plain(
            "RatioAlert",
            "Price ÷ earnings per share, trailing or forward, is at or below (at or above) a ratio.",
            &[
                Kind::PeRatioBelow,
                Kind::PeRatioAbove,
                Kind::ForwardPeBelow,
                Kind::ForwardPeAbove,
            ],
            ThresholdRule::Required(number("A ratio", MIN_POSITIVE_NUMBER, MAX_NUMBER)),
        ),
        RequestShape {
            name: "BuzzAlert",
            description: "Mentions of the stock rise or fall strongly.",
            kinds: &[Kind::SocialBuzz],
            threshold: ThresholdRule::Omitted,
            parameters: vec![(
                "direction",
                json!({"type": "string", "description": "The direction of the change", "enum": ["rising", "falling"]}),
            )],
            required: &["direction"],
        },
        insiders(),
        RequestShape {
            name: "DailyReminderAlert",
            description: "Every trading day; the alert stays active.",
            kinds: &[Kind::DailyReminder],
            threshold: ThresholdRule::Omitted,
            parameters: vec![
                (
                    "deliveryTime",
                    word(
                        "At the open, or 15 minutes after the close; default `market_open`. `delivery_time` is an alias",
                        &["market_open", "after_market_close"],
                    ),
                ),
                note(),
            ],
            required: &[],
        },
        plain(
            "EarningsAlert",
            "The next earnings date is at most the given number of calendar days ahead.",
            &[Kind::EarningsAnnouncement],
            ThresholdRule::Required(whole("Days", 0, 365)),
        ),
        plain(
            "ExDividendAlert",
            "The next ex-dividend date is at most the given number of calendar days ahead.",
            &[Kind::DividendExDate],
            ThresholdRule::Optional(whole("Days; default 1", 0, 365)),
        ),
        RequestShape {
            name: "DividendPaymentAlert",
            description: "A dividend is paid today.",
            kinds: &[Kind::DividendPayment],
            threshold: ThresholdRule::Omitted,
            parameters: vec![(
                "shares",
                optional(number(
                    "The number of shares you hold, for the amount in the notification",
                    MIN_POSITIVE_NUMBER,
                    MAX_NUMBER,
                )),
            )],
            required: &[],
        },
        RequestShape {
            name: "ReminderAlert",
            description: "Once, on a date at the market's open (on a closed day at 09:30 in New York), or at an instant.",
            kinds: &[Kind::Reminder],
            threshold: ThresholdRule::Ignored(json!({
                "description": "Ignored if there is a date. Without a date, a whole number N from 1 to 36500 means the open N calendar days ahead",
            })),
            parameters: reminder_parameters(),
            required: &[],
        },
    ]
}

fn insiders() -> RequestShape {
    RequestShape {
        name: "InsiderAlert",
        description: "Insiders bought or sold for more than the threshold, according to recent filings.",
        kinds: &[Kind::InsiderTransactions],
        threshold: ThresholdRule::Required(number(
            "US dollars, total of all trades",
            MIN_POSITIVE_NUMBER,
            MAX_NUMBER,
        )),
        parameters: vec![
            (
                "direction",
                word("The trades that count; default `both`", &["buy", "sell", "both"]),
            ),
            (
                "minExecutives",
                optional(whole("The minimum number of insiders; default 1", 1, 100)),
            ),
            (
                "windowDays",
                optional(whole("The maximum age of filings in days; default 7", 1, 365)),
            ),
            (
                "openMarketOnly",
                json!({"type": ["boolean", "null"], "description": "Only open-market purchases and sales; default true"}),
            ),
        ],
        required: &[],
    }
}

fn reminder_parameters() -> Vec<(&'static str, Value)> {
    let moment = format!("^({DATE})(T{TIME}:[0-5][0-9](\\.[0-9]{{1,9}})?(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])?)?$");
    vec![
        (
            "date",
            json!({"type": "string", "pattern": moment, "description": "A date, or a date-time (in the account's time zone if it has no offset). It must not be in the past"}),
        ),
        (
            "reminder_date",
            json!({"type": "string", "pattern": format!("^({DATE})$"), "description": "A date, as an alternative to `date`. It must not be in the past"}),
        ),
        (
            "reminder_time",
            json!({"type": ["string", "null"], "pattern": format!("^{TIME}$"), "description": "The time on `reminder_date` in the account's time zone, as HH:MM"}),
        ),
        note(),
    ]
}

fn note() -> (&'static str, Value) {
    let max_length = alerts::request::MAX_NOTE_CHARACTERS;
    (
        "note",
        json!({"type": ["string", "null"], "maxLength": max_length, "description": "A note in the notification"}),
    )
}
