//! A condition as a sentence, such as "fires at or below 190.00".

use std::fmt;

use market::display::Usd;
use market::{Decimal, Price};

use crate::condition::{
    BuzzDirection, Condition, DeliveryTime, EpsBasis, InsiderCriteria, InsiderDirection, RsiDirection, Side,
};
use crate::engine::change_level;
use crate::expression::conversion::from_condition_with_base;
use crate::options::{AlertOptions, PercentBase};

/// Returns a sentence that describes the condition of an alert with options: as [`sentence`], but a price change from another base than
/// the initial price names that base.
#[must_use]
pub fn sentence_with_options(condition: &Condition, options: &AlertOptions, initial_price: Option<Price>) -> String {
    match (condition, from_condition_with_base(condition, options.base)) {
        (Condition::PriceChange { .. }, Some(expression)) if options.base != PercentBase::Creation => {
            format!("fires when {}", expression.sentence_without_symbol())
        }
        _ => sentence(condition, initial_price),
    }
}

/// Returns a sentence that describes the condition. `initial_price` is the base of percent changes.
///
/// ```
/// use alerts::Condition;
/// use alerts::condition::Side;
/// let condition = Condition::Price { side: Side::Below, threshold: "190".parse().unwrap() };
/// assert_eq!(alerts::sentence::sentence(&condition, None), "fires at or below 190.00");
/// ```
#[must_use]
pub fn sentence(condition: &Condition, initial_price: Option<Price>) -> String {
    match *condition {
        Condition::Price { side, threshold } => {
            format!("fires at or {side} {}", Usd(threshold.decimal()))
        }
        Condition::PriceChange { side, percent } => price_change(side, percent, initial_price),
        Condition::NewExtreme { side } => format!("fires at a new 52-week {}", side.pick("high", "low")),
        Condition::MaCrossover { side } => {
            format!("fires when the 50-day average crosses {side} the 200-day average")
        }
        Condition::MaTouch { side, period } => {
            let from = side.pick("below", "above");
            format!("fires when the price touches its {period}-day average from {from}")
        }
        Condition::Rsi { direction, threshold } => match direction {
            RsiDirection::Above => format!("fires when RSI(14) is at or above {threshold}"),
            RsiDirection::Below => format!("fires when RSI(14) is at or below {threshold}"),
            RsiDirection::Both => format!("fires when RSI(14) reaches {threshold} from either side"),
        },
        Condition::VolumeChange { baseline, percent } => {
            let sessions = baseline.sessions();
            format!("fires when the session's volume is {percent}% or more above its {sessions}-session average")
        }
        Condition::PeRatio {
            side,
            earnings,
            threshold,
        } => {
            let ratio = match earnings {
                EpsBasis::Trailing => "P/E",
                EpsBasis::Forward => "forward P/E",
            };
            format!("fires when {ratio} is at or {side} {threshold}")
        }
        Condition::SocialBuzz(BuzzDirection::Rising) => "fires when discussion rises sharply".to_owned(),
        Condition::SocialBuzz(BuzzDirection::Falling) => "fires when discussion fades".to_owned(),
        Condition::InsiderTransactions(criteria) => insiders(criteria),
        Condition::Reminder { at } => format!("fires once, at {at:.0}"),
        Condition::DailyReminder(DeliveryTime::MarketOpen) => "fires every trading day at the market's open".to_owned(),
        Condition::DailyReminder(DeliveryTime::AfterMarketClose) => {
            "fires every trading day, 15 minutes after the market's close".to_owned()
        }
        Condition::EarningsAnnouncement { days_ahead } => {
            format!("fires when the next earnings date is {}", Ahead(days_ahead))
        }
        Condition::DividendExDate { days_ahead } => {
            format!("fires when the next ex-dividend date is {}", Ahead(days_ahead))
        }
        Condition::DividendPayment { .. } => "fires on the day a dividend is paid".to_owned(),
        Condition::Expression(ref condition) => {
            format!("fires when {}", condition.expression.sentence_without_symbol())
        }
    }
}

fn price_change(side: Side, percent: Decimal, initial_price: Option<Price>) -> String {
    let Some(initial) = initial_price else {
        return format!("fires {percent}% or more {side} the first price after activation");
    };
    let level = Decimal::from_micros(change_level(initial, side, percent.micros()));
    format!(
        "fires at or {side} {}, {percent}% {side} {}",
        Usd(level),
        Usd(initial.decimal())
    )
}

fn insiders(criteria: InsiderCriteria) -> String {
    let InsiderCriteria {
        threshold_usd,
        direction,
        min_executives,
        window_days,
        ..
    } = criteria;
    let trade = match direction {
        InsiderDirection::Buy => "buy",
        InsiderDirection::Sell => "sell",
        InsiderDirection::Both => "trade",
    };
    let who = match min_executives {
        1 => "insiders".to_owned(),
        least => format!("at least {least} insiders"),
    };
    let window = match window_days {
        1 => "1 day".to_owned(),
        days => format!("{days} days"),
    };
    format!(
        "fires when {who} {trade} for {} USD or more, filed within {window}",
        Usd(threshold_usd)
    )
}

/// A maximum number of days ahead.
struct Ahead(u16);

impl fmt::Display for Ahead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("today"),
            1 => f.write_str("at most 1 day ahead"),
            days => write!(f, "at most {days} days ahead"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    fn price(text: &str) -> Price {
        text.parse().unwrap()
    }

    #[test]
    fn price_sentence_includes_the_level() {
        for (side, text) in [
            (Side::Above, "fires at or above 198.66"),
            (Side::Below, "fires at or below 198.66"),
        ] {
            let condition = Condition::Price {
                side,
                threshold: price("198.66"),
            };
            assert_eq!(sentence(&condition, Some(price("1"))), text);
        }
    }

    #[test]
    fn percent_change_includes_the_level_if_the_initial_price_is_known() {
        let up = Condition::PriceChange {
            side: Side::Above,
            percent: number("5"),
        };
        let down = Condition::PriceChange {
            side: Side::Below,
            percent: number("2.5"),
        };
        assert_eq!(
            sentence(&up, Some(price("189.2"))),
            "fires at or above 198.66, 5% above 189.20"
        );
        assert_eq!(
            sentence(&down, Some(price("200"))),
            "fires at or below 195.00, 2.5% below 200.00"
        );
        assert_eq!(
            sentence(&down, None),
            "fires 2.5% or more below the first price after activation"
        );
    }

    #[test]
    fn insider_sentence_includes_the_number_of_insiders_from_two() {
        let criteria = |min_executives, window_days| {
            Condition::InsiderTransactions(InsiderCriteria {
                threshold_usd: number("1000000"),
                direction: InsiderDirection::Buy,
                min_executives,
                window_days,
                open_market_only: true,
            })
        };
        assert_eq!(
            sentence(&criteria(1, 14), None),
            "fires when insiders buy for 1000000.00 USD or more, filed within 14 days"
        );
        assert_eq!(
            sentence(&criteria(2, 14), None),
            "fires when at least 2 insiders buy for 1000000.00 USD or more, filed within 14 days"
        );
        assert_eq!(
            sentence(&criteria(1, 1), None),
            "fires when insiders buy for 1000000.00 USD or more, filed within 1 day"
        );
    }

    #[test]
    fn dates_ahead_are_counted_in_days() {
        for (days_ahead, text) in [
            (0, "fires when the next earnings date is today"),
            (1, "fires when the next earnings date is at most 1 day ahead"),
            (7, "fires when the next earnings date is at most 7 days ahead"),
        ] {
            assert_eq!(sentence(&Condition::EarningsAnnouncement { days_ahead }, None), text);
        }
    }
}
