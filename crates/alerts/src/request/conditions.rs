//! The threshold and the parameters of each of the 23 conditions.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::ParseContext;
use super::fields::{FieldErrors, InvalidField};
use super::numbers::{self, NumberRule, Threshold};
use super::parameters::{Parameters, listed};
use super::reminder;
use crate::condition::{
    BuzzDirection, Condition, ConditionKind, DeliveryTime, EpsBasis, InsiderCriteria, InsiderDirection, RsiDirection,
    Side, VolumeBaseline,
};

const RSI_DIRECTIONS: &[(&str, RsiDirection)] = &[
    ("above", RsiDirection::Above),
    ("below", RsiDirection::Below),
    ("both", RsiDirection::Both),
    ("up", RsiDirection::Above),
    ("down", RsiDirection::Below),
];

const VOLUME_BASELINES: &[(&str, VolumeBaseline)] = &[
    ("ma20", VolumeBaseline::Ma20),
    ("ma50", VolumeBaseline::Ma50),
    ("ma100", VolumeBaseline::Ma100),
];

const BUZZ_DIRECTIONS: &[(&str, BuzzDirection)] =
    &[("rising", BuzzDirection::Rising), ("falling", BuzzDirection::Falling)];

const INSIDER_DIRECTIONS: &[(&str, InsiderDirection)] = &[
    ("buy", InsiderDirection::Buy),
    ("sell", InsiderDirection::Sell),
    ("both", InsiderDirection::Both),
];

const DELIVERY_TIMES: &[(&str, DeliveryTime)] = &[
    ("market_open", DeliveryTime::MarketOpen),
    ("after_market_close", DeliveryTime::AfterMarketClose),
];

/// The RSI threshold from which an alert without a direction waits for a rise.
const RSI_MIDDLE_MICROS: i64 = 50_000_000;

/// Returns the canonical names of the parameters that a condition reads.
pub(super) const fn own_parameters(kind: ConditionKind) -> &'static [&'static str] {
    use ConditionKind as Kind;
    match kind {
        Kind::RsiLimit | Kind::SocialBuzz => &["direction"],
        Kind::VolumeChange => &["volumeBaseline"],
        Kind::InsiderTransactions => &["direction", "minExecutives", "windowDays", "openMarketOnly"],
        Kind::Reminder => &["date", "reminderDate", "reminderTime", "note"],
        Kind::DailyReminder => &["deliveryTime", "note"],
        Kind::DividendPayment => &["shares"],
        _ => &[],
    }
}

/// The parts of a request that form its condition.
pub(super) struct ConditionRequest<'a> {
    pub(super) kind: ConditionKind,
    pub(super) threshold: Threshold<'a>,
    /// The current moment of a reminder that is being updated.
    pub(super) current_moment: Option<Timestamp>,
}

/// Reads a condition and the parameters in their normal form. Parts that are already invalid are skipped.
pub(super) fn read_with(
    request: Result<ConditionRequest<'_>, InvalidField>,
    parameters: Result<Option<Map<String, Value>>, InvalidField>,
    threshold: Threshold<'_>,
    context: &ParseContext<'_>,
    errors: &mut FieldErrors,
) -> Result<(Condition, Option<Map<String, Value>>), InvalidField> {
    match (request, parameters) {
        (Ok(request), Ok(parameters)) => {
            let mut parameters = Parameters::new(parameters);
            let note = match request.kind {
                ConditionKind::Reminder | ConditionKind::DailyReminder => parameters.note(errors),
                _ => Ok(()),
            };
            let condition = read(&request, &mut parameters, context, errors)?;
            note?;
            Ok((condition, parameters.into_normal()))
        }
        (Ok(request), Err(invalid)) => {
            // The threshold can still be checked. Errors about missing parameters are dropped.
            let mut threshold_errors = FieldErrors::default();
            let _ = read(&request, &mut Parameters::new(None), context, &mut threshold_errors);
            errors.merge_field("threshold", threshold_errors);
            Err(invalid)
        }
        (Err(invalid), _) => {
            threshold.must_be_a_number(errors);
            Err(invalid)
        }
    }
}

/// Reads a condition and brings its own parameters into their normal form.
pub(super) fn read(
    request: &ConditionRequest<'_>,
    parameters: &mut Parameters,
    context: &ParseContext<'_>,
    errors: &mut FieldErrors,
) -> Result<Condition, InvalidField> {
    use ConditionKind as Kind;
    let mut reader = Reader {
        kind: request.kind,
        threshold: request.threshold,
        parameters,
        errors,
    };
    match request.kind {
        Kind::PriceAbove => reader.price(Side::Above),
        Kind::PriceBelow => reader.price(Side::Below),
        Kind::PriceChangeUp => reader.price_change(Side::Above, &numbers::PERCENT),
        Kind::PriceChangeDown => reader.price_change(Side::Below, &numbers::PERCENT_DOWN),
        Kind::NewHigh => reader.plain(Condition::NewExtreme { side: Side::Above }),
        Kind::NewLow => reader.plain(Condition::NewExtreme { side: Side::Below }),
        Kind::MaCrossoverGolden => reader.plain(Condition::MaCrossover { side: Side::Above }),
        Kind::MaCrossoverDeath => reader.plain(Condition::MaCrossover { side: Side::Below }),
        Kind::MaTouchAbove => reader.ma_touch(Side::Above),
        Kind::MaTouchBelow => reader.ma_touch(Side::Below),
        Kind::RsiLimit => reader.rsi(),
        Kind::VolumeChange => reader.volume_change(),
        Kind::PeRatioBelow => reader.pe_ratio(Side::Below, EpsBasis::Trailing),
        Kind::PeRatioAbove => reader.pe_ratio(Side::Above, EpsBasis::Trailing),
        Kind::ForwardPeBelow => reader.pe_ratio(Side::Below, EpsBasis::Forward),
        Kind::ForwardPeAbove => reader.pe_ratio(Side::Above, EpsBasis::Forward),
        Kind::SocialBuzz => reader.social_buzz(),
        Kind::InsiderTransactions => reader.insider_transactions(),
        Kind::Reminder => {
            let Reader {
                threshold,
                parameters,
                errors,
                ..
            } = reader;
            reminder::read(threshold, request.current_moment, parameters, context, errors)
        }
        Kind::DailyReminder => reader.daily_reminder(),
        Kind::EarningsAnnouncement => reader.earnings_announcement(),
        Kind::DividendExDate => reader.dividend_ex_date(),
        Kind::DividendPayment => reader.dividend_payment(),
    }
}

/// A reader of one condition. It reads all parts before it returns the first error, so that no error hides another.
struct Reader<'r, 'a> {
    kind: ConditionKind,
    threshold: Threshold<'a>,
    parameters: &'r mut Parameters,
    errors: &'r mut FieldErrors,
}

impl Reader<'_, '_> {
    fn required<T>(&mut self, rule: &NumberRule<T>) -> Result<T, InvalidField> {
        self.threshold.required(self.kind, rule, self.errors)
    }

    fn no_threshold(&mut self) -> Result<(), InvalidField> {
        self.threshold.forbidden(self.kind, self.errors)
    }

    fn word<T: Copy + PartialEq>(
        &mut self,
        name: &'static str,
        words: &[(&'static str, T)],
    ) -> Result<Option<T>, InvalidField> {
        self.parameters.word(name, words, self.errors)
    }

    fn plain(&mut self, condition: Condition) -> Result<Condition, InvalidField> {
        self.no_threshold()?;
        Ok(condition)
    }

    fn price(&mut self, side: Side) -> Result<Condition, InvalidField> {
        let threshold = self.required(&numbers::PRICE)?;
        Ok(Condition::Price { side, threshold })
    }

    fn price_change(&mut self, side: Side, rule: &NumberRule<market::Decimal>) -> Result<Condition, InvalidField> {
        let percent = self.required(rule)?;
        Ok(Condition::PriceChange { side, percent })
    }

    fn ma_touch(&mut self, side: Side) -> Result<Condition, InvalidField> {
        let period = self.required(&numbers::SESSIONS)?;
        Ok(Condition::MaTouch { side, period })
    }

    fn rsi(&mut self) -> Result<Condition, InvalidField> {
        let threshold = self.required(&numbers::RSI);
        let direction = self.word("direction", RSI_DIRECTIONS);
        let (threshold, direction) = (threshold?, direction?);
        let nearer = if threshold.micros() >= RSI_MIDDLE_MICROS {
            RsiDirection::Above
        } else {
            RsiDirection::Below
        };
        Ok(Condition::Rsi {
            direction: direction.unwrap_or(nearer),
            threshold,
        })
    }

    fn volume_change(&mut self) -> Result<Condition, InvalidField> {
        let percent = self.required(&numbers::PERCENT);
        let baseline = self.word("volumeBaseline", VOLUME_BASELINES);
        let (percent, baseline) = (percent?, baseline?.unwrap_or(VolumeBaseline::Ma20));
        Ok(Condition::VolumeChange { baseline, percent })
    }

    fn pe_ratio(&mut self, side: Side, earnings: EpsBasis) -> Result<Condition, InvalidField> {
        let threshold = self.required(&numbers::RATIO)?;
        Ok(Condition::PeRatio {
            side,
            earnings,
            threshold,
        })
    }

    fn social_buzz(&mut self) -> Result<Condition, InvalidField> {
        let threshold = self.no_threshold();
        let direction = self.word("direction", BUZZ_DIRECTIONS)?;
        let Some(direction) = direction else {
            let words = listed(BUZZ_DIRECTIONS);
            let message = format!("is required for {}; it must be {words}", self.kind);
            return Err(self.errors.add("parameters.direction", message));
        };
        threshold?;
        Ok(Condition::SocialBuzz(direction))
    }

    fn insider_transactions(&mut self) -> Result<Condition, InvalidField> {
        let threshold_usd = self.required(&numbers::DOLLARS);
        let direction = self.word("direction", INSIDER_DIRECTIONS);
        let Self { parameters, errors, .. } = self;
        let min_executives = parameters.number("minExecutives", &numbers::EXECUTIVES, errors);
        let window_days = parameters.number("windowDays", &numbers::WINDOW_DAYS, errors);
        let open_market_only = parameters.flag("openMarketOnly", errors);
        Ok(Condition::InsiderTransactions(InsiderCriteria {
            threshold_usd: threshold_usd?,
            direction: direction?.unwrap_or(InsiderDirection::Both),
            min_executives: min_executives?.unwrap_or(1),
            window_days: window_days?.unwrap_or(7),
            open_market_only: open_market_only?.unwrap_or(true),
        }))
    }

    fn daily_reminder(&mut self) -> Result<Condition, InvalidField> {
        let threshold = self.no_threshold();
        let time = self.word("deliveryTime", DELIVERY_TIMES);
        threshold?;
        Ok(Condition::DailyReminder(time?.unwrap_or(DeliveryTime::MarketOpen)))
    }

    fn earnings_announcement(&mut self) -> Result<Condition, InvalidField> {
        let days_ahead = self.required(&numbers::DAYS_AHEAD)?;
        Ok(Condition::EarningsAnnouncement { days_ahead })
    }

    fn dividend_ex_date(&mut self) -> Result<Condition, InvalidField> {
        let days_ahead = self.threshold.optional(self.kind, &numbers::DAYS_AHEAD, self.errors)?;
        Ok(Condition::DividendExDate {
            days_ahead: days_ahead.unwrap_or(1),
        })
    }

    fn dividend_payment(&mut self) -> Result<Condition, InvalidField> {
        let threshold = self.no_threshold();
        let shares = self.parameters.number("shares", &numbers::SHARES, self.errors);
        threshold?;
        Ok(Condition::DividendPayment { shares: shares? })
    }
}
