//! The conditions on social media mentions and insider trades.

use super::spec::{
    ConditionSpec, NumberUnit, ParameterRule, ParameterSpec, RequestSpec, above_zero, parameter, required, whole,
};
use super::{BuzzDirection, Condition, ConditionFamily, InsiderCriteria, InsiderDirection};

pub(super) const SOCIAL_BUZZ: ConditionSpec = ConditionSpec {
    name: "social_buzz",
    family: ConditionFamily::AlternativeData,
    label: "Discussion",
    fires_when: "mentions of the stock rise or fall strongly",
    needs: "mentions of eight days, without gaps of more than six hours",
    request: &RequestSpec {
        name: "BuzzAlert",
        description: "Mentions of the stock rise or fall strongly.",
        threshold: None,
        parameters: &[ParameterSpec {
            is_required: true,
            ..parameter(
                "direction",
                "The direction of the change",
                ParameterRule::Word(&["rising", "falling"], &[]),
            )
        }],
    },
    example: r#"{"symbol": "AAPL", "condition": "social_buzz", "parameters": {"direction": "rising"}}"#,
    build: |values| match values.word("direction")? {
        "rising" => Some(Condition::SocialBuzz(BuzzDirection::Rising)),
        _ => Some(Condition::SocialBuzz(BuzzDirection::Falling)),
    },
};

pub(super) const INSIDER_TRANSACTIONS: ConditionSpec = ConditionSpec {
    name: "insider_transactions",
    family: ConditionFamily::AlternativeData,
    label: "Insider transactions",
    fires_when: "insiders bought or sold for the threshold or more, according to recent filings",
    needs: "insider trades from any source",
    request: &RequestSpec {
        name: "InsiderAlert",
        description: "Insiders bought or sold for the threshold or more, according to recent filings.",
        threshold: required(
            "US dollars, total of all trades",
            above_zero("an amount in US dollars", NumberUnit::Usd),
        ),
        parameters: &[
            parameter(
                "direction",
                "The trades that count; default `both`",
                ParameterRule::Word(&["buy", "sell", "both"], &[]),
            ),
            parameter(
                "minExecutives",
                "The minimum number of insiders; default 1",
                ParameterRule::Number(whole("a whole number", NumberUnit::None, 1, 100)),
            ),
            parameter(
                "windowDays",
                "The maximum age of filings in days; default 7",
                ParameterRule::Number(whole("a whole number of days", NumberUnit::Days, 1, 365)),
            ),
            parameter(
                "openMarketOnly",
                "Only open-market purchases and sales; default true",
                ParameterRule::Flag,
            ),
        ],
    },
    example: r#"{"symbol": "AAPL", "condition": "insider_transactions", "threshold": 1000000, "parameters": {"direction": "buy", "minExecutives": 2, "windowDays": 14}}"#,
    build: |values| {
        Some(Condition::InsiderTransactions(InsiderCriteria {
            threshold_usd: values.threshold?,
            direction: match values.word("direction") {
                Some("buy") => InsiderDirection::Buy,
                Some("sell") => InsiderDirection::Sell,
                _ => InsiderDirection::Both,
            },
            min_executives: values.whole_number("minExecutives").unwrap_or(1),
            window_days: values.whole_number("windowDays").unwrap_or(7),
            open_market_only: values.flag("openMarketOnly").unwrap_or(true),
        }))
    },
};
