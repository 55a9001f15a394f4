//! What each kind of condition takes.

use alerts::ConditionKind;
use alerts::ConditionKind as Kind;
use serde_json::{Value, json};

/// The largest number that is kept exactly, to six decimals.
pub(super) const MOST: i64 = 9_223_372_036_854;
/// The smallest number above zero that is kept.
pub(super) const LEAST: f64 = 0.000_001;

/// A date of the years 1900 to 2999. Whether it is past, no pattern can say.
const DATE: &str = concat!(
    "(19|2[0-9])[0-9]{2}-",
    "((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)",
    "|(19|2[0-9])(0[48]|[2468][048]|[13579][26])-02-29|2[048]00-02-29",
);
const TIME: &str = "([01][0-9]|2[0-3]):[0-5][0-9]";

/// Conditions whose requests look alike.
pub(super) struct Shape {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) kinds: &'static [ConditionKind],
    pub(super) threshold: Threshold,
    /// The condition's own parameters.
    pub(super) parameters: Vec<(&'static str, Value)>,
    /// Those of them that must be there.
    pub(super) required: &'static [&'static str],
}

pub(super) enum Threshold {
    Omitted,
    /// Anything is taken, and may mean something without other parameters.
    Ignored(Value),
    Optional(Value),
    Required(Value),
}

fn number(description: &str, least: f64, most: i64) -> Value {
    json!({"type": "number", "description": description, "minimum": least, "maximum": most})
}

fn whole(description: &str, least: i64, most: i64) -> Value {
    json!({"type": "integer", "description": description, "minimum": least, "maximum": most})
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
    threshold: Threshold,
) -> Shape {
    Shape {
        name,
        description,
        kinds,
        threshold,
        parameters: Vec::new(),
        required: &[],
    }
}

pub(super) fn shapes() -> Vec<Shape> {
    vec![
        plain(
            "PriceAlert",
            "The price is at or above (at or below) a price.",
            &[Kind::PriceAbove, Kind::PriceBelow],
            Threshold::Required(number("A price in US dollars", LEAST, 1_000_000_000)),
        ),
        plain(
            "PriceRiseAlert",
            "The price is a percentage above the alert's `initial_price`.",
            &[Kind::PriceChangeUp],
            Threshold::Required(number("A percentage", LEAST, MOST)),
        ),
        plain(
            "PriceFallAlert",
            "The price is a percentage below the alert's `initial_price`.",
            &[Kind::PriceChangeDown],
            Threshold::Required(number("A percentage", LEAST, 100)),
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
            Threshold::Omitted,
        ),
        plain(
            "AverageTouchAlert",
            "The price comes to its moving average from below (from above).",
            &[Kind::MaTouchAbove, Kind::MaTouchBelow],
            Threshold::Required(whole("The average's sessions", 2, 400)),
        ),
        Shape {
            name: "RsiAlert",
            description: "Wilder's RSI(14) is at or beyond a threshold.",
            kinds: &[Kind::RsiLimit],
            threshold: Threshold::Required(number("An RSI", 0.0, 100)),
            parameters: vec![(
                "direction",
                word(
                    "To the threshold from which side; `both`: to whichever side the RSI is not on now. Left out: `above` for a threshold of 50 or more, else `below`. `up` and `down` are taken for `above` and `below`",
                    &["above", "below", "both", "up", "down"],
                ),
            )],
            required: &[],
        },
        Shape {
            name: "VolumeAlert",
            description: "The session's volume so far is a percentage above the average of completed sessions.",
            kinds: &[Kind::VolumeChange],
            threshold: Threshold::Required(number("A percentage", LEAST, MOST)),
            parameters: vec![(
                "volumeBaseline",
                word(
                    "The average of 20, 50 or 100 sessions; `ma20` if it is left out",
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
            Threshold::Required(number("A ratio", LEAST, MOST)),
        ),
        Shape {
            name: "BuzzAlert",
            description: "People begin to talk far more, or far less, about the stock than they did.",
            kinds: &[Kind::SocialBuzz],
            threshold: Threshold::Omitted,
            parameters: vec![(
                "direction",
                json!({"type": "string", "description": "Which way", "enum": ["rising", "falling"]}),
            )],
            required: &["direction"],
        },
        insiders(),
        Shape {
            name: "DailyReminderAlert",
            description: "Every trading day; the alert stays active.",
            kinds: &[Kind::DailyReminder],
            threshold: Threshold::Omitted,
            parameters: vec![
                (
                    "deliveryTime",
                    word(
                        "At the open, or 15 minutes after the close; `market_open` if it is left out. Also taken as `delivery_time`",
                        &["market_open", "after_market_close"],
                    ),
                ),
                note(),
            ],
            required: &[],
        },
        plain(
            "EarningsAlert",
            "The next earnings date is at most so many calendar days ahead.",
            &[Kind::EarningsAnnouncement],
            Threshold::Required(whole("Days", 0, 365)),
        ),
        plain(
            "ExDividendAlert",
            "The next ex-dividend date is at most so many calendar days ahead.",
            &[Kind::DividendExDate],
            Threshold::Optional(whole("Days; 1 if it is left out", 0, 365)),
        ),
        Shape {
            name: "DividendPaymentAlert",
            description: "A dividend is paid today.",
            kinds: &[Kind::DividendPayment],
            threshold: Threshold::Omitted,
            parameters: vec![(
                "shares",
                optional(number(
                    "How many you have, for the amount in the notification",
                    LEAST,
                    MOST,
                )),
            )],
            required: &[],
        },
        Shape {
            name: "ReminderAlert",
            description: "Once, on a date at the market's open (on a closed day at 09:30 in New York), or at an instant.",
            kinds: &[Kind::Reminder],
            threshold: Threshold::Ignored(json!({
                "description": "Ignored: the date counts. Without any date a whole number N from 1 to 36500 means the open N calendar days ahead",
            })),
            parameters: reminder_parameters(),
            required: &[],
        },
    ]
}

fn insiders() -> Shape {
    Shape {
        name: "InsiderAlert",
        description: "Insiders bought or sold for more than so much, by the filings of the last days.",
        kinds: &[Kind::InsiderTransactions],
        threshold: Threshold::Required(number("US dollars, all trades together", LEAST, MOST)),
        parameters: vec![
            (
                "direction",
                word("Which trades; `both` if it is left out", &["buy", "sell", "both"]),
            ),
            (
                "minExecutives",
                optional(whole("By at least so many insiders; 1 if it is left out", 1, 100)),
            ),
            (
                "windowDays",
                optional(whole("Filed within so many days; 7 if it is left out", 1, 365)),
            ),
            (
                "openMarketOnly",
                json!({"type": ["boolean", "null"], "description": "Only purchases and sales on the open market; true if it is left out"}),
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
            json!({"type": "string", "pattern": moment, "description": "A date, or a date-time (without an offset in the account's time zone), which must not be past"}),
        ),
        (
            "reminder_date",
            json!({"type": "string", "pattern": format!("^({DATE})$"), "description": "A date, which must not be past; instead of `date`"}),
        ),
        (
            "reminder_time",
            json!({"type": ["string", "null"], "pattern": format!("^{TIME}$"), "description": "A time of that day in the account's time zone, as HH:MM"}),
        ),
        note(),
    ]
}

fn note() -> (&'static str, Value) {
    let most = alerts::request::MAX_NOTE_CHARACTERS;
    (
        "note",
        json!({"type": ["string", "null"], "maxLength": most, "description": "Shown in the message"}),
    )
}
