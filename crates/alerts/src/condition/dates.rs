//! Reminders, and the conditions on earnings and dividend dates.

use super::spec::{
    ConditionSpec, NumberRange, NumberUnit, ParameterRule, ParameterSpec, RequestSpec, ThresholdNeed, ThresholdSpec,
    above_zero, parameter, required, whole,
};
use super::{Condition, ConditionFamily, DeliveryTime};

const NOTE: ParameterSpec = parameter("note", "A note in the notification", ParameterRule::Note);

const DAYS_AHEAD: NumberRange = whole("a whole number of days", NumberUnit::Days, 0, 365);

pub(super) const REMINDER: ConditionSpec = ConditionSpec {
    name: "reminder",
    family: ConditionFamily::Time,
    label: "Reminder",
    fires_when: "a date, once",
    needs: "nothing",
    request: &RequestSpec {
        name: "ReminderAlert",
        description: "Once, on a date at the market's open (on a closed day at 09:30 in New York), or at an instant.",
        threshold: Some(ThresholdSpec {
            description: "Ignored if there is a date. Without a date, a whole number N from 1 to 36500 means the open N calendar days ahead",
            need: ThresholdNeed::WithoutDate,
            range: whole("a whole number of calendar days", NumberUnit::Days, 0, 36_500),
        }),
        parameters: &[
            parameter(
                "date",
                "A date, or a date-time (in the account's time zone if it has no offset). It must not be in the past",
                ParameterRule::DateTime,
            ),
            parameter(
                "reminder_date",
                "A date, as an alternative to `date`. It must not be in the past",
                ParameterRule::Date,
            ),
            parameter(
                "reminder_time",
                "The time on `reminder_date` in the account's time zone, as HH:MM",
                ParameterRule::Time,
            ),
            NOTE,
        ],
    },
    example: r#"{"symbol": "AAPL", "condition": "reminder", "parameters": {"date": "2030-01-31"}}"#,
    build: |values| Some(Condition::Reminder { at: values.moment? }),
};

pub(super) const DAILY_REMINDER: ConditionSpec = ConditionSpec {
    name: "daily_reminder",
    family: ConditionFamily::Time,
    label: "Daily reminder",
    fires_when: "every trading day; the alert stays active",
    needs: "nothing",
    request: &RequestSpec {
        name: "DailyReminderAlert",
        description: "Every trading day; the alert stays active.",
        threshold: None,
        parameters: &[
            parameter(
                "deliveryTime",
                "At the open, or 15 minutes after the close; default `market_open`. `delivery_time` is an alias",
                ParameterRule::Word(&["market_open", "after_market_close"], &[]),
            ),
            NOTE,
        ],
    },
    example: r#"{"symbol": "AAPL", "condition": "daily_reminder", "parameters": {"deliveryTime": "market_open"}}"#,
    build: |values| match values.word("deliveryTime") {
        Some("after_market_close") => Some(Condition::DailyReminder(DeliveryTime::AfterMarketClose)),
        _ => Some(Condition::DailyReminder(DeliveryTime::MarketOpen)),
    },
};

pub(super) const EARNINGS_ANNOUNCEMENT: ConditionSpec = ConditionSpec {
    name: "earnings_announcement",
    family: ConditionFamily::Dividend,
    label: "Earnings ahead",
    fires_when: "the next earnings date is at most the threshold's days ahead",
    needs: "a future date from any source",
    request: &RequestSpec {
        name: "EarningsAlert",
        description: "The next earnings date is at most the given number of calendar days ahead.",
        threshold: required("Days", DAYS_AHEAD),
        parameters: &[],
    },
    example: r#"{"symbol": "AAPL", "condition": "earnings_announcement", "threshold": 3}"#,
    build: |values| {
        let days_ahead = values.whole()?;
        Some(Condition::EarningsAnnouncement { days_ahead })
    },
};

pub(super) const DIVIDEND_EX_DATE: ConditionSpec = ConditionSpec {
    name: "dividend_ex_date",
    label: "Ex-dividend date ahead",
    fires_when: "the next ex-dividend date is at most the threshold's days ahead",
    request: &RequestSpec {
        name: "ExDividendAlert",
        description: "The next ex-dividend date is at most the given number of calendar days ahead.",
        threshold: Some(ThresholdSpec {
            description: "Days; default 1",
            need: ThresholdNeed::Optional,
            range: DAYS_AHEAD,
        }),
        parameters: &[],
    },
    example: r#"{"symbol": "AAPL", "condition": "dividend_ex_date", "threshold": 2}"#,
    build: |values| {
        let days_ahead = values.whole().unwrap_or(1);
        Some(Condition::DividendExDate { days_ahead })
    },
    ..EARNINGS_ANNOUNCEMENT
};

pub(super) const DIVIDEND_PAYMENT: ConditionSpec = ConditionSpec {
    name: "dividend_payment",
    label: "Dividend payment",
    fires_when: "a dividend is paid today",
    request: &RequestSpec {
        name: "DividendPaymentAlert",
        description: "A dividend is paid today.",
        threshold: None,
        parameters: &[parameter(
            "shares",
            "The number of shares you hold, for the amount in the notification",
            ParameterRule::Number(above_zero("a number of shares", NumberUnit::None)),
        )],
    },
    example: r#"{"symbol": "AAPL", "condition": "dividend_payment", "parameters": {"shares": 25}}"#,
    build: |values| {
        let shares = values.number("shares");
        Some(Condition::DividendPayment { shares })
    },
    ..EARNINGS_ANNOUNCEMENT
};
