//! The 23 conditions: what each takes as its threshold and which parameters are its own.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::Context;
use super::fields::{Faults, Noted};
use super::numbers::{self, Allowed, Threshold};
use super::parameters::{Parameters, listed};
use super::reminder;
use crate::condition::{
    BuzzDirection, Condition, ConditionKind, DeliveryTime, Earnings, InsiderDirection, InsiderWatch, RsiDirection,
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

/// An RSI threshold from here on up is waited for from below, when no direction is given.
const RSI_MIDDLE_MICROS: i64 = 50_000_000;

/// The parameters that a condition reads, by their written names.
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

/// The parts of a request that make up its condition.
pub(super) struct Asked<'a> {
    pub(super) kind: ConditionKind,
    pub(super) threshold: Threshold<'a>,
    /// The instant that the alert is already set to, if it is a reminder that is being updated.
    pub(super) standing: Option<Timestamp>,
}

/// Reads a condition together with the parameters in their normal form, as far as what it is made
/// of could be read.
pub(super) fn read_with(
    asked: Result<Asked<'_>, Noted>,
    parameters: Result<Option<Map<String, Value>>, Noted>,
    threshold: Threshold<'_>,
    context: &Context<'_>,
    faults: &mut Faults,
) -> Result<(Condition, Option<Map<String, Value>>), Noted> {
    match (asked, parameters) {
        (Ok(asked), Ok(parameters)) => {
            let mut parameters = Parameters::new(parameters);
            let note = match asked.kind {
                ConditionKind::Reminder | ConditionKind::DailyReminder => parameters.note(faults),
                _ => Ok(()),
            };
            let condition = read(&asked, &mut parameters, context, faults)?;
            note?;
            Ok((condition, parameters.into_normal()))
        }
        (Ok(asked), Err(noted)) => {
            // The threshold can still be judged; what is missing in parameters is not news.
            let mut of_threshold = Faults::default();
            let _ = read(&asked, &mut Parameters::new(None), context, &mut of_threshold);
            faults.adopt("threshold", of_threshold);
            Err(noted)
        }
        (Err(noted), _) => {
            threshold.must_be_a_number(faults);
            Err(noted)
        }
    }
}

/// Reads a condition and brings its own parameters into their normal form.
pub(super) fn read(
    asked: &Asked<'_>,
    parameters: &mut Parameters,
    context: &Context<'_>,
    faults: &mut Faults,
) -> Result<Condition, Noted> {
    use ConditionKind as Kind;
    let mut reader = Reader {
        kind: asked.kind,
        threshold: asked.threshold,
        parameters,
        faults,
    };
    match asked.kind {
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
        Kind::PeRatioBelow => reader.pe_ratio(Side::Below, Earnings::Trailing),
        Kind::PeRatioAbove => reader.pe_ratio(Side::Above, Earnings::Trailing),
        Kind::ForwardPeBelow => reader.pe_ratio(Side::Below, Earnings::Forward),
        Kind::ForwardPeAbove => reader.pe_ratio(Side::Above, Earnings::Forward),
        Kind::SocialBuzz => reader.social_buzz(),
        Kind::InsiderTransactions => reader.insider_transactions(),
        Kind::Reminder => {
            let Reader {
                threshold,
                parameters,
                faults,
                ..
            } = reader;
            reminder::read(threshold, asked.standing, parameters, context, faults)
        }
        Kind::DailyReminder => reader.daily_reminder(),
        Kind::EarningsAnnouncement => reader.earnings_announcement(),
        Kind::DividendExDate => reader.dividend_ex_date(),
        Kind::DividendPayment => reader.dividend_payment(),
    }
}

/// Reads one condition. Where it has several parts, all are read before the first fault ends the
/// reading, so that no fault hides another.
struct Reader<'r, 'a> {
    kind: ConditionKind,
    threshold: Threshold<'a>,
    parameters: &'r mut Parameters,
    faults: &'r mut Faults,
}

impl Reader<'_, '_> {
    fn required<T>(&mut self, allowed: &Allowed<T>) -> Result<T, Noted> {
        self.threshold.required(self.kind, allowed, self.faults)
    }

    fn no_threshold(&mut self) -> Result<(), Noted> {
        self.threshold.forbidden(self.kind, self.faults)
    }

    fn word<T: Copy + PartialEq>(
        &mut self,
        name: &'static str,
        words: &[(&'static str, T)],
    ) -> Result<Option<T>, Noted> {
        self.parameters.word(name, words, self.faults)
    }

    fn plain(&mut self, condition: Condition) -> Result<Condition, Noted> {
        self.no_threshold()?;
        Ok(condition)
    }

    fn price(&mut self, side: Side) -> Result<Condition, Noted> {
        let threshold = self.required(&numbers::PRICE)?;
        Ok(Condition::Price { side, threshold })
    }

    fn price_change(&mut self, side: Side, allowed: &Allowed<market::Decimal>) -> Result<Condition, Noted> {
        let percent = self.required(allowed)?;
        Ok(Condition::PriceChange { side, percent })
    }

    fn ma_touch(&mut self, side: Side) -> Result<Condition, Noted> {
        let period = self.required(&numbers::SESSIONS)?;
        Ok(Condition::MaTouch { side, period })
    }

    fn rsi(&mut self) -> Result<Condition, Noted> {
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

    fn volume_change(&mut self) -> Result<Condition, Noted> {
        let percent = self.required(&numbers::PERCENT);
        let baseline = self.word("volumeBaseline", VOLUME_BASELINES);
        let (percent, baseline) = (percent?, baseline?.unwrap_or(VolumeBaseline::Ma20));
        Ok(Condition::VolumeChange { baseline, percent })
    }

    fn pe_ratio(&mut self, side: Side, earnings: Earnings) -> Result<Condition, Noted> {
        let threshold = self.required(&numbers::RATIO)?;
        Ok(Condition::PeRatio {
            side,
            earnings,
            threshold,
        })
    }

    fn social_buzz(&mut self) -> Result<Condition, Noted> {
        let threshold = self.no_threshold();
        let direction = self.word("direction", BUZZ_DIRECTIONS)?;
        let Some(direction) = direction else {
            let words = listed(BUZZ_DIRECTIONS);
            let message = format!("is required for {}; it must be {words}", self.kind);
            return Err(self.faults.note("parameters.direction", message));
        };
        threshold?;
        Ok(Condition::SocialBuzz(direction))
    }

    fn insider_transactions(&mut self) -> Result<Condition, Noted> {
        let threshold_usd = self.required(&numbers::DOLLARS);
        let direction = self.word("direction", INSIDER_DIRECTIONS);
        let Self { parameters, faults, .. } = self;
        let min_executives = parameters.number("minExecutives", &numbers::EXECUTIVES, faults);
        let window_days = parameters.number("windowDays", &numbers::WINDOW_DAYS, faults);
        let open_market_only = parameters.flag("openMarketOnly", faults);
        Ok(Condition::InsiderTransactions(InsiderWatch {
            threshold_usd: threshold_usd?,
            direction: direction?.unwrap_or(InsiderDirection::Both),
            min_executives: min_executives?.unwrap_or(1),
            window_days: window_days?.unwrap_or(7),
            open_market_only: open_market_only?.unwrap_or(true),
        }))
    }

    fn daily_reminder(&mut self) -> Result<Condition, Noted> {
        let threshold = self.no_threshold();
        let time = self.word("deliveryTime", DELIVERY_TIMES);
        threshold?;
        Ok(Condition::DailyReminder(time?.unwrap_or(DeliveryTime::MarketOpen)))
    }

    fn earnings_announcement(&mut self) -> Result<Condition, Noted> {
        let days_ahead = self.required(&numbers::DAYS_AHEAD)?;
        Ok(Condition::EarningsAnnouncement { days_ahead })
    }

    fn dividend_ex_date(&mut self) -> Result<Condition, Noted> {
        let days_ahead = self.threshold.optional(self.kind, &numbers::DAYS_AHEAD, self.faults)?;
        Ok(Condition::DividendExDate {
            days_ahead: days_ahead.unwrap_or(1),
        })
    }

    fn dividend_payment(&mut self) -> Result<Condition, Noted> {
        let threshold = self.no_threshold();
        let shares = self.parameters.number("shares", &numbers::SHARES, self.faults);
        threshold?;
        Ok(Condition::DividendPayment { shares: shares? })
    }
}
