//! Reasons in plain words, with their numbers.
//!
//! Every sentence states an observation, not a forecast. The only number about the future is the touch probability of
//! a random walk, and the text says so.

use alerts::condition::Side;
use market::Price;

use crate::levels::Level;
use crate::probability::HORIZON_SESSIONS;
use crate::upcoming::UpcomingDate;
use crate::volatility::{Volatility, VolatilityBasis};
use crate::{Analysis, AnalysisSubject, TrendDirection, tick};

/// Formats a price with the decimals that the exchange quotes.
pub(crate) fn format_price(price: Price) -> String {
    format!("{:.*}", tick::decimals(price), price.as_f64())
}

/// Formats an amount of dollars that is not a price, such as an average.
pub(crate) fn format_dollars(amount: f64) -> String {
    tick::nearest(amount).map_or_else(|| format!("{amount:.6}"), format_price)
}

/// Formats a ratio as a percentage, such as `1.5%`; very small and very large ones without false precision.
pub(crate) fn format_percent(part: f64) -> String {
    let percent = part * 100.0;
    if percent.abs() >= 100.0 {
        format!("{percent:.0}%")
    } else if percent.abs() < 0.05 && percent != 0.0 {
        format!("{percent:.3}%")
    } else {
        format!("{percent:.1}%")
    }
}

fn times(count: u32) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}

pub(crate) fn in_sessions(sessions: usize) -> String {
    match sessions {
        0 => "today or before the next session".to_owned(),
        1 => "in 1 session".to_owned(),
        more => format!("in {more} sessions"),
    }
}

/// Describes a level: "MSFT has turned at about 402.10 3 times within the last year, …".
pub(crate) fn level(subject: &AnalysisSubject<'_>, level: &Level) -> String {
    let volume = match level.volume_ratio {
        Some(ratio) => format!(", on {ratio:.1} times the usual volume"),
        None => String::new(),
    };
    let last = if level.touches == 1 { "on" } else { "last on" };
    format!(
        "{} has turned at about {} {} within the last year, {last} {}{volume}.",
        subject.symbol,
        format_price(level.price),
        times(level.touches),
        level.last_touch
    )
}

/// Describes the distance to `at`: in percent, in average daily ranges, and the touch probability of a random walk.
pub(crate) fn distance(subject: &AnalysisSubject<'_>, analysis: &Analysis, at: Price) -> String {
    let part = (at.as_f64() / subject.price.as_f64() - 1.0).abs();
    let where_to = if at > subject.price { "above" } else { "below" };
    let volatility = &analysis.volatility;
    let log = subject.distance(at).abs();
    let away = format!(
        "{} is {} {where_to} the price of {}",
        format_price(at),
        format_percent(part),
        format_price(subject.price)
    );
    let probability_pct = analysis.touch_probability(log) * 100.0;
    let often = if probability_pct < 1.0 {
        "less than 1".to_owned()
    } else {
        format!("{probability_pct:.0}")
    };
    match volatility.basis {
        VolatilityBasis::Measured => format!(
            "{away}, {:.1} times an average day's range; a price that moves {} a day without a direction gets that far within \
             {HORIZON_SESSIONS} sessions in about {often} of 100 cases.",
            log / volatility.range_day,
            format_percent(volatility.sigma_day)
        ),
        VolatilityBasis::Assumed | VolatilityBasis::Floored | VolatilityBasis::Capped => {
            format!("{away}. {}", describe_volatility(analysis))
        }
    }
}

/// Describes the size of the stock's daily moves and the basis of that number.
pub(crate) fn describe_volatility(analysis: &Analysis) -> String {
    let Volatility {
        sigma_day,
        range_day,
        basis,
    } = analysis.volatility;
    let (sigma, range) = (format_percent(sigma_day), format_percent(range_day));
    match basis {
        VolatilityBasis::Measured => format!("It moves about {sigma} a day, within an average range of {range}."),
        VolatilityBasis::Assumed => format!(
            "Only {} of its sessions are known, too few to measure its volatility; {sigma} a day, as for an average stock, \
             is assumed.",
            analysis.sessions
        ),
        VolatilityBasis::Floored => {
            format!("It has hardly moved recently; moves of at least {sigma} a day and a range of {range} are assumed.")
        }
        VolatilityBasis::Capped => format!(
            "It has jumped recently, or its data have; moves of at most {sigma} a day and a range of {range} are assumed."
        ),
    }
}

/// Describes the trend, with the averages behind it.
pub(crate) fn trend(subject: &AnalysisSubject<'_>, analysis: &Analysis) -> String {
    let trend = &analysis.trend;
    let symbol = subject.symbol;
    let mut text = match trend.direction {
        TrendDirection::Unknown => return format!("{symbol} has too few known sessions for a trend."),
        TrendDirection::Up => format!("The trend of {symbol} is upward"),
        TrendDirection::Down => format!("The trend of {symbol} is downward"),
        TrendDirection::Mixed => format!("{symbol} has no clear trend"),
    };
    if let Some(fast) = trend.sma_fast {
        let (price, fast_text) = (format_price(subject.price), format_dollars(fast));
        let side = side_of(subject.price, fast);
        text += &format!(": {price} is {side} its 50-day average of {fast_text}");
        if let Some(slope) = trend.slope {
            let moved = format_percent(slope.abs());
            text += &match (is_zero(&moved), slope > 0.0) {
                (true, _) => ", which has not moved in 20 sessions".to_owned(),
                (false, true) => format!(", which has risen by {moved} in 20 sessions"),
                (false, false) => format!(", which has fallen by {moved} in 20 sessions"),
            };
        }
        if let Some(slow) = trend.sma_slow {
            text += &format!("; the 200-day average is {}", format_dollars(slow));
        }
    }
    text + "."
}

/// Describes the position of the price relative to an average.
pub(crate) fn average(subject: &AnalysisSubject<'_>, period: u16, average: f64) -> String {
    let part = (subject.price.as_f64() / average - 1.0).abs();
    let side = if subject.price.as_f64() >= average {
        "above"
    } else {
        "below"
    };
    format!(
        "{} is {} {side} its {period}-day average of {}",
        format_price(subject.price),
        format_percent(part),
        format_dollars(average)
    )
}

/// The side of an average (in dollars) on which the price is, judged by the displayed rounded numbers.
fn side_of(price: Price, average: f64) -> &'static str {
    if format_price(price) == format_dollars(average) {
        "at"
    } else if price.as_f64() > average {
        "above"
    } else {
        "below"
    }
}

/// Whether a number is displayed as zero.
fn is_zero(shown: &str) -> bool {
    !shown.contains(|c: char| ('1'..='9').contains(&c))
}

/// Describes the next earnings date.
pub(crate) fn earnings(subject: &AnalysisSubject<'_>, ahead: &UpcomingDate) -> String {
    let UpcomingDate { date, sessions, .. } = *ahead;
    format!(
        "{} reports earnings on {date}, {}.",
        subject.symbol,
        in_sessions(sessions)
    )
}

/// Describes the next ex-dividend date.
pub(crate) fn ex_dividend(subject: &AnalysisSubject<'_>, ahead: &UpcomingDate) -> String {
    let UpcomingDate { date, sessions, .. } = *ahead;
    format!(
        "{} trades without its next dividend from {date} on, {}.",
        subject.symbol,
        in_sessions(sessions)
    )
}

/// Summarises all figures in a few sentences.
pub(crate) fn summary(subject: &AnalysisSubject<'_>, analysis: &Analysis) -> String {
    let mut sentences = vec![trend(subject, analysis), describe_volatility(analysis)];
    // The wording follows the displayed rounded number.
    if let Some(rsi) = analysis.rsi.map(f64::round) {
        let words = if rsi >= 70.0 {
            ", which counts as overbought"
        } else if rsi <= 30.0 {
            ", which counts as oversold"
        } else {
            ""
        };
        sentences.push(format!("Its RSI is {rsi:.0}{words}."));
    }
    let nearest = |side: Side| {
        let level = side.pick(analysis.levels.resistances.first(), analysis.levels.supports.first())?;
        let name = side.pick("resistance", "support");
        Some(format!(
            "the nearest {name} is at {} ({})",
            format_price(level.price),
            times(level.touches)
        ))
    };
    let levels: Vec<String> = [Side::Below, Side::Above].into_iter().filter_map(nearest).collect();
    if levels.is_empty() {
        sentences.push("There is no price at which it turned within the last year.".to_owned());
    } else {
        sentences.push(capitalised(&format!("{}.", levels.join("; "))));
    }
    let events = &analysis.events;
    sentences.extend(events.earnings.map(|ahead| earnings(subject, &ahead)));
    sentences.extend(events.ex_dividend.map(|ahead| ex_dividend(subject, &ahead)));
    sentences.join(" ")
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => String::new(),
    }
}
