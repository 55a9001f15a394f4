//! The conditions on averages, the RSI and the volume.

use super::price::{EXTREME, PERCENTAGE};
use super::spec::{ConditionSpec, NumberUnit, ParameterRule, RequestSpec, between, parameter, required, whole};
use super::{Condition, ConditionFamily, RsiDirection, Side, VolumeBaseline};

pub(super) const MA_CROSSOVER_GOLDEN: ConditionSpec = ConditionSpec {
    name: "ma_crossover_golden",
    family: ConditionFamily::Technical,
    label: "Golden cross (50 over 200 days)",
    fires_when: "the 50-day average crosses the 200-day average upwards",
    needs: "200 completed sessions",
    request: &EXTREME,
    example: r#"{"symbol": "AAPL", "condition": "ma_crossover_golden"}"#,
    build: |_| Some(Condition::MaCrossover { side: Side::Above }),
};

pub(super) const MA_CROSSOVER_DEATH: ConditionSpec = ConditionSpec {
    name: "ma_crossover_death",
    label: "Death cross (50 under 200 days)",
    fires_when: "the 50-day average crosses the 200-day average downwards",
    example: r#"{"symbol": "AAPL", "condition": "ma_crossover_death"}"#,
    build: |_| Some(Condition::MaCrossover { side: Side::Below }),
    ..MA_CROSSOVER_GOLDEN
};

pub(super) const MA_TOUCH_ABOVE: ConditionSpec = ConditionSpec {
    name: "ma_touch_above",
    family: ConditionFamily::Technical,
    label: "Price rises to its average",
    fires_when: "the price reaches its moving average from below",
    needs: "threshold − 1 completed sessions",
    request: &RequestSpec {
        name: "AverageTouchAlert",
        description: "The price reaches its moving average from below (from above).",
        threshold: required(
            "The length of the average in sessions",
            whole("a whole number of sessions", NumberUnit::Sessions, 2, 400),
        ),
        parameters: &[],
    },
    example: r#"{"symbol": "AAPL", "condition": "ma_touch_above", "threshold": 50}"#,
    build: |values| values.ma_touch(Side::Above),
};

pub(super) const MA_TOUCH_BELOW: ConditionSpec = ConditionSpec {
    name: "ma_touch_below",
    label: "Price falls to its average",
    fires_when: "the price reaches its moving average from above",
    example: r#"{"symbol": "AAPL", "condition": "ma_touch_below", "threshold": 50}"#,
    build: |values| values.ma_touch(Side::Below),
    ..MA_TOUCH_ABOVE
};

/// The threshold from which an RSI alert without a direction waits for a rise.
const RSI_MIDDLE_MICROS: i64 = 50_000_000;

pub(super) const RSI_LIMIT: ConditionSpec = ConditionSpec {
    name: "rsi_limit",
    family: ConditionFamily::Technical,
    label: "RSI",
    fires_when: "Wilder's RSI(14) reaches the threshold",
    needs: "14 completed sessions, and a price that has changed",
    request: &RequestSpec {
        name: "RsiAlert",
        description: "Wilder's RSI(14) is at or beyond a threshold.",
        threshold: required("An RSI", between("a number", NumberUnit::None, 0, 100)),
        parameters: &[parameter(
            "direction",
            "The side of the threshold that fires; `both` means the side opposite to the current RSI. \
             Default: `above` for a threshold of 50 or more, else `below`. `up` and `down` are aliases of `above` and `below`",
            ParameterRule::Word(&["above", "below", "both"], &[("up", "above"), ("down", "below")]),
        )],
    },
    example: r#"{"symbol": "AAPL", "condition": "rsi_limit", "threshold": 70, "parameters": {"direction": "above"}}"#,
    build: |values| {
        let threshold = values.threshold?;
        let direction = match values.word("direction") {
            Some("above") => RsiDirection::Above,
            Some("below") => RsiDirection::Below,
            Some("both") => RsiDirection::Both,
            _ if threshold.micros() >= RSI_MIDDLE_MICROS => RsiDirection::Above,
            _ => RsiDirection::Below,
        };
        Some(Condition::Rsi { direction, threshold })
    },
};

pub(super) const VOLUME_CHANGE: ConditionSpec = ConditionSpec {
    name: "volume_change",
    family: ConditionFamily::Volume,
    label: "Volume above its average",
    fires_when: "the session's volume is the threshold's percentage above its average",
    needs: "the average's completed sessions, not all without volume, and quotes with volume",
    request: &RequestSpec {
        name: "VolumeAlert",
        description: "The session's volume so far is a percentage above the average of completed sessions.",
        threshold: required("A percentage", PERCENTAGE),
        parameters: &[parameter(
            "volumeBaseline",
            "The average of 20, 50 or 100 sessions; default `ma20`",
            ParameterRule::Word(&["ma20", "ma50", "ma100"], &[]),
        )],
    },
    example: r#"{"symbol": "AAPL", "condition": "volume_change", "threshold": 50, "parameters": {"volumeBaseline": "ma20"}}"#,
    build: |values| {
        let baseline = match values.word("volumeBaseline") {
            Some("ma50") => VolumeBaseline::Ma50,
            Some("ma100") => VolumeBaseline::Ma100,
            _ => VolumeBaseline::Ma20,
        };
        let percent = values.threshold?;
        Some(Condition::VolumeChange { baseline, percent })
    },
};
