//! The conditions on the price and on P/E ratios.

use super::spec::{ConditionSpec, NumberRange, NumberUnit, RequestSpec, above_zero, required};
use super::{Condition, ConditionFamily, EpsBasis, Side};

const PRICE: RequestSpec = RequestSpec {
    name: "PriceAlert",
    description: "The price is at or above (at or below) a price.",
    threshold: required(
        "A price in US dollars",
        above_zero("a price in US dollars", NumberUnit::Usd).at_most(1_000_000_000),
    ),
    parameters: &[],
};

pub(super) const PRICE_ABOVE: ConditionSpec = ConditionSpec {
    name: "price_above",
    family: ConditionFamily::Price,
    label: "Price at or above",
    fires_when: "the price is at or above the threshold",
    needs: "a quote",
    request: &PRICE,
    example: r#"{"symbol": "AAPL", "condition": "price_above", "threshold": 200}"#,
    build: |values| values.price(Side::Above),
};

pub(super) const PRICE_BELOW: ConditionSpec = ConditionSpec {
    name: "price_below",
    label: "Price at or below",
    fires_when: "the price is at or below the threshold",
    example: r#"{"symbol": "AAPL", "condition": "price_below", "threshold": 150.5}"#,
    build: |values| values.price(Side::Below),
    ..PRICE_ABOVE
};

pub(super) const PERCENTAGE: NumberRange = above_zero("a percentage", NumberUnit::Percent);

pub(super) const PRICE_CHANGE_UP: ConditionSpec = ConditionSpec {
    name: "price_change_up",
    family: ConditionFamily::Price,
    label: "Price up by",
    fires_when: "the price is the threshold's percentage above the price at activation",
    needs: "an initial price: the current price at activation, or the first one after that",
    request: &RequestSpec {
        name: "PriceRiseAlert",
        description: "The price is a percentage above the alert's `initial_price`.",
        threshold: required("A percentage", PERCENTAGE),
        parameters: &[],
    },
    example: r#"{"symbol": "AAPL", "condition": "price_change_up", "threshold": 5}"#,
    build: |values| values.price_change(Side::Above),
};

pub(super) const PRICE_CHANGE_DOWN: ConditionSpec = ConditionSpec {
    name: "price_change_down",
    label: "Price down by",
    fires_when: "the price is the threshold's percentage below the price at activation",
    request: &RequestSpec {
        name: "PriceFallAlert",
        description: "The price is a percentage below the alert's `initial_price`.",
        threshold: required("A percentage", PERCENTAGE.at_most(100)),
        parameters: &[],
    },
    example: r#"{"symbol": "AAPL", "condition": "price_change_down", "threshold": 5}"#,
    build: |values| values.price_change(Side::Below),
    ..PRICE_CHANGE_UP
};

pub(super) const EXTREME: RequestSpec = RequestSpec {
    name: "ExtremeAlert",
    description: "The price is above the highest (below the lowest) of 52 weeks; or the 50-day average crosses the 200-day average.",
    threshold: None,
    parameters: &[],
};

pub(super) const NEW_HIGH: ConditionSpec = ConditionSpec {
    name: "new_high",
    family: ConditionFamily::Price,
    label: "New 52-week high",
    fires_when: "the price is above the 52-week high",
    needs: "a completed session or an earlier observation",
    request: &EXTREME,
    example: r#"{"symbol": "AAPL", "condition": "new_high"}"#,
    build: |_| Some(Condition::NewExtreme { side: Side::Above }),
};

pub(super) const NEW_LOW: ConditionSpec = ConditionSpec {
    name: "new_low",
    label: "New 52-week low",
    fires_when: "the price is below the 52-week low",
    example: r#"{"symbol": "AAPL", "condition": "new_low"}"#,
    build: |_| Some(Condition::NewExtreme { side: Side::Below }),
    ..NEW_HIGH
};

pub(super) const PE_RATIO_BELOW: ConditionSpec = ConditionSpec {
    name: "pe_ratio_below",
    family: ConditionFamily::Fundamental,
    label: "P/E at or below",
    fires_when: "price / trailing earnings per share is at or below the threshold",
    needs: "earnings per share above 0",
    request: &RequestSpec {
        name: "RatioAlert",
        description: "Price ÷ earnings per share, trailing or forward, is at or below (at or above) a ratio.",
        threshold: required("A ratio", above_zero("a ratio", NumberUnit::None)),
        parameters: &[],
    },
    example: r#"{"symbol": "AAPL", "condition": "pe_ratio_below", "threshold": 15}"#,
    build: |values| values.pe_ratio(EpsBasis::Trailing, Side::Below),
};

pub(super) const PE_RATIO_ABOVE: ConditionSpec = ConditionSpec {
    name: "pe_ratio_above",
    label: "P/E at or above",
    fires_when: "price / trailing earnings per share is at or above the threshold",
    example: r#"{"symbol": "AAPL", "condition": "pe_ratio_above", "threshold": 40}"#,
    build: |values| values.pe_ratio(EpsBasis::Trailing, Side::Above),
    ..PE_RATIO_BELOW
};

pub(super) const FORWARD_PE_BELOW: ConditionSpec = ConditionSpec {
    name: "forward_pe_below",
    label: "Forward P/E at or below",
    fires_when: "price / forward earnings per share is at or below the threshold",
    example: r#"{"symbol": "AAPL", "condition": "forward_pe_below", "threshold": 15}"#,
    build: |values| values.pe_ratio(EpsBasis::Forward, Side::Below),
    ..PE_RATIO_BELOW
};

pub(super) const FORWARD_PE_ABOVE: ConditionSpec = ConditionSpec {
    name: "forward_pe_above",
    label: "Forward P/E at or above",
    fires_when: "price / forward earnings per share is at or above the threshold",
    example: r#"{"symbol": "AAPL", "condition": "forward_pe_above", "threshold": 40}"#,
    build: |values| values.pe_ratio(EpsBasis::Forward, Side::Above),
    ..PE_RATIO_BELOW
};
