//! Parsing of valid create requests.

use alerts::condition::{
    BuzzDirection, DeliveryTime, EpsBasis, InsiderCriteria, InsiderDirection, RsiDirection, Side, VolumeBaseline,
};
use alerts::request::RequestError;
use alerts::{Channel, Condition, ConditionKind};
use market::Decimal;
use serde_json::{Value, json};

use crate::requests::support::{body, condition, create, errors_of, minimal, parsed};

fn decimal(text: &str) -> Decimal {
    text.parse().unwrap()
}

#[test]
fn parses_every_condition_from_minimal_bodies() {
    let kinds: Vec<_> = minimal()
        .iter()
        .map(|(name, more)| {
            let kind = condition(name, more).kind();
            assert_eq!(kind.name(), *name);
            kind
        })
        .collect();
    assert_eq!(kinds, ConditionKind::ALL);
}

#[test]
fn forbidden_threshold_yields_one_error() {
    let mut forbidding = Vec::new();
    for (name, more) in minimal() {
        for threshold in [json!(1), json!(0), json!("1"), json!({})] {
            let mut with = body(name, &more);
            with["threshold"] = threshold;
            let Err(error) = create(&with) else { continue };
            if error.to_string() != format!("threshold: must be omitted for {name}") {
                continue;
            }
            let RequestError::Invalid(errors) = error else {
                panic!("{name}")
            };
            assert_eq!(
                Value::Object(errors.to_json()),
                json!({"threshold": [format!("must be omitted for {name}")]})
            );
            forbidding.push(name);
        }
    }
    forbidding.dedup();
    assert_eq!(
        forbidding,
        [
            "new_high",
            "new_low",
            "ma_crossover_golden",
            "ma_crossover_death",
            "social_buzz",
            "daily_reminder",
            "dividend_payment",
            "expression",
        ]
    );
}

#[test]
fn null_threshold_counts_as_omitted() {
    for (name, more) in minimal() {
        let mut with = body(name, &more);
        let without_threshold = create(&with).unwrap();
        if more.get("threshold").is_none() {
            with["threshold"] = Value::Null;
            assert_eq!(create(&with), Ok(without_threshold), "{name}");
        } else {
            with["threshold"] = Value::Null;
            let message = create(&with).unwrap_err().to_string();
            assert!(
                message.starts_with(&format!("threshold: is required for {name}")),
                "{message}"
            );
        }
    }
}

#[test]
fn parses_thresholds_and_parameters() {
    let both_ways = |side, period| Condition::MaTouch { side, period };
    let rsi = |direction, text| Condition::Rsi {
        direction,
        threshold: decimal(text),
    };
    let volume = |baseline| Condition::VolumeChange {
        baseline,
        percent: decimal("150"),
    };
    let pe = |side, earnings| Condition::PeRatio {
        side,
        earnings,
        threshold: decimal("17.5"),
    };
    let insiders = InsiderCriteria {
        threshold_usd: decimal("1000000"),
        direction: InsiderDirection::Both,
        min_executives: 1,
        window_days: 7,
        open_market_only: true,
    };
    let table: Vec<(&str, Value, Condition)> = vec![
        (
            "price_above",
            json!({"threshold": 198.66}),
            Condition::Price {
                side: Side::Above,
                threshold: "198.66".parse().unwrap(),
            },
        ),
        (
            "price_change_up",
            json!({"threshold": 250}),
            Condition::PriceChange {
                side: Side::Above,
                percent: decimal("250"),
            },
        ),
        (
            "price_change_down",
            json!({"threshold": 0.5}),
            Condition::PriceChange {
                side: Side::Below,
                percent: decimal("0.5"),
            },
        ),
        ("new_low", json!({}), Condition::NewExtreme { side: Side::Below }),
        (
            "ma_crossover_golden",
            json!({}),
            Condition::MaCrossover { side: Side::Above },
        ),
        ("ma_touch_above", json!({"threshold": 200}), both_ways(Side::Above, 200)),
        ("ma_touch_below", json!({"threshold": 50.0}), both_ways(Side::Below, 50)),
        ("rsi_limit", json!({"threshold": 50}), rsi(RsiDirection::Above, "50")),
        (
            "rsi_limit",
            json!({"threshold": 49.999999}),
            rsi(RsiDirection::Below, "49.999999"),
        ),
        (
            "rsi_limit",
            json!({"threshold": 70, "parameters": {"direction": "below"}}),
            rsi(RsiDirection::Below, "70"),
        ),
        (
            "rsi_limit",
            json!({"threshold": 70, "parameters": {"direction": "down"}}),
            rsi(RsiDirection::Below, "70"),
        ),
        (
            "rsi_limit",
            json!({"threshold": 30, "parameters": {"direction": "up"}}),
            rsi(RsiDirection::Above, "30"),
        ),
        (
            "rsi_limit",
            json!({"threshold": 30, "parameters": {"direction": "both"}}),
            rsi(RsiDirection::Both, "30"),
        ),
        ("volume_change", json!({"threshold": 150}), volume(VolumeBaseline::Ma20)),
        (
            "volume_change",
            json!({"threshold": 150, "parameters": {"volumeBaseline": "ma50"}}),
            volume(VolumeBaseline::Ma50),
        ),
        (
            "volume_change",
            json!({"threshold": 150, "parameters": {"volume_baseline": "ma100"}}),
            volume(VolumeBaseline::Ma100),
        ),
        (
            "pe_ratio_below",
            json!({"threshold": 17.5}),
            pe(Side::Below, EpsBasis::Trailing),
        ),
        (
            "pe_ratio_above",
            json!({"threshold": 17.5}),
            pe(Side::Above, EpsBasis::Trailing),
        ),
        (
            "forward_pe_below",
            json!({"threshold": 17.5}),
            pe(Side::Below, EpsBasis::Forward),
        ),
        (
            "forward_pe_above",
            json!({"threshold": 17.5}),
            pe(Side::Above, EpsBasis::Forward),
        ),
        (
            "social_buzz",
            json!({"parameters": {"direction": "falling"}}),
            Condition::SocialBuzz(BuzzDirection::Falling),
        ),
        (
            "insider_transactions",
            json!({"threshold": 1e6}),
            Condition::InsiderTransactions(insiders),
        ),
        (
            "insider_transactions",
            json!({"threshold": 1e6, "parameters": {
                "direction": "sell", "minExecutives": 3, "windowDays": 30, "openMarketOnly": false
            }}),
            Condition::InsiderTransactions(InsiderCriteria {
                direction: InsiderDirection::Sell,
                min_executives: 3,
                window_days: 30,
                open_market_only: false,
                ..insiders
            }),
        ),
        (
            "daily_reminder",
            json!({}),
            Condition::DailyReminder(DeliveryTime::MarketOpen),
        ),
        (
            "daily_reminder",
            json!({"parameters": {"deliveryTime": "after_market_close"}}),
            Condition::DailyReminder(DeliveryTime::AfterMarketClose),
        ),
        (
            "daily_reminder",
            json!({"parameters": {"delivery_time": "after_market_close"}}),
            Condition::DailyReminder(DeliveryTime::AfterMarketClose),
        ),
        (
            "earnings_announcement",
            json!({"threshold": 0}),
            Condition::EarningsAnnouncement { days_ahead: 0 },
        ),
        (
            "dividend_ex_date",
            json!({}),
            Condition::DividendExDate { days_ahead: 1 },
        ),
        (
            "dividend_ex_date",
            json!({"threshold": 365}),
            Condition::DividendExDate { days_ahead: 365 },
        ),
        (
            "dividend_payment",
            json!({}),
            Condition::DividendPayment { shares: None },
        ),
        (
            "dividend_payment",
            json!({"parameters": {"shares": 12.5}}),
            Condition::DividendPayment {
                shares: Some(decimal("12.5")),
            },
        ),
    ];
    for (name, more, expected) in table {
        assert_eq!(condition(name, &more), expected, "{name} {more}");
    }
}

#[test]
fn threshold_is_exact_to_six_decimals() {
    for (text, expected) in [
        ("198.66", "198.66"),
        ("0.000001", "0.000001"),
        ("198.66000000000003", "198.66"),
        ("1e2", "100"),
        ("999999999.999999", "999999999.999999"),
        ("1000000000", "1000000000"),
    ] {
        let threshold: Value = serde_json::from_str(text).unwrap();
        let condition = condition("price_below", &json!({"threshold": threshold}));
        assert_eq!(condition.threshold(), Some(decimal(expected)), "{text}");
    }
}

#[test]
fn whole_threshold_has_no_fraction_however_small() {
    for text in ["2.589e-42", "3.0000001", "1e-7"] {
        let threshold: Value = serde_json::from_str(text).unwrap();
        let errors = errors_of(create(&body("dividend_ex_date", &json!({"threshold": threshold}))));
        assert_eq!(errors.of("threshold").len(), 1, "{text}");
    }
    for text in ["3.0", "30e-1", "3"] {
        let threshold: Value = serde_json::from_str(text).unwrap();
        let condition = condition("dividend_ex_date", &json!({"threshold": threshold}));
        assert_eq!(condition, Condition::DividendExDate { days_ahead: 3 }, "{text}");
    }
}

#[test]
fn own_parameters_are_normalized_and_client_metadata_is_kept() {
    let metadata = json!({"source": "web", "onboarding_id": 7, "direction": 3, "deep": {"x": [null]}});
    for (name, more, expected) in [
        ("daily_reminder", json!({}), Value::Null),
        ("daily_reminder", json!({"parameters": null}), Value::Null),
        ("daily_reminder", json!({"parameters": {}}), json!({})),
        (
            "daily_reminder",
            json!({"parameters": {"delivery_time": "market_open", "source": "app"}}),
            json!({"deliveryTime": "market_open", "source": "app"}),
        ),
        (
            "daily_reminder",
            json!({"parameters": {"delivery_time": "market_open", "deliveryTime": "market_open"}}),
            json!({"deliveryTime": "market_open"}),
        ),
        (
            "daily_reminder",
            json!({"parameters": {"deliveryTime": null}}),
            json!({}),
        ),
        (
            "rsi_limit",
            json!({"threshold": 30, "parameters": {"direction": "up"}}),
            json!({"direction": "above"}),
        ),
        (
            "insider_transactions",
            json!({"threshold": 1, "parameters": {"window_days": 30, "min_executives": 2.0}}),
            json!({"windowDays": 30, "minExecutives": 2.0}),
        ),
        (
            "price_above",
            json!({"threshold": 1, "parameters": metadata.clone()}),
            metadata,
        ),
    ] {
        let parameters = parsed(name, &more).parameters.map_or(Value::Null, Value::Object);
        assert_eq!(parameters, expected, "{name} {more}");
    }
}

#[test]
fn parses_other_fields_and_ignores_unknown_ones() {
    let parsed = create(&json!({
        "symbol": " brk.b ", "condition": "new_high", "notification": "sms",
        "email": " ann@example.com ", "status": "triggered", "id": 5
    }))
    .unwrap();
    assert_eq!(parsed.symbol.as_str(), "BRK.B");
    assert_eq!(parsed.notification, Channel::Sms);
    assert_eq!(parsed.email.as_deref(), Some("ann@example.com"));
    let parsed = create(&body("new_high", &json!({"notification": null, "email": null}))).unwrap();
    assert_eq!((parsed.notification, parsed.email), (Channel::Email, None));
}
