//! Reasons in plain words, with their numbers.
//!
//! Every sentence says what was seen and not what will come. The one number about the future, how often a walk without
//! a direction comes so far, says that it is that.

use alerts::condition::Side;
use market::Price;

use crate::chance::HORIZON_SESSIONS;
use crate::events::Ahead;
use crate::levels::Level;
use crate::volatility::{Basis, Volatility};
use crate::{Analysis, Direction, Subject, tick};

/// A price with the decimals that the exchange quotes.
pub(crate) fn money(price: Price) -> String {
    format!("{:.*}", tick::decimals(price), price.as_f64())
}

/// An amount of dollars that is no price, such as an average.
pub(crate) fn dollars(amount: f64) -> String {
    tick::nearest(amount).map_or_else(|| format!("{amount:.6}"), money)
}

/// A part as a percentage, such as `1.5%`; very small and very large ones without false precision.
pub(crate) fn percent(part: f64) -> String {
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

/// What makes a level: "MSFT has turned at about 402.10 three times within a year, …".
pub(crate) fn level(subject: &Subject<'_>, level: &Level) -> String {
    let volume = match level.volume_ratio {
        Some(ratio) => format!(", on {ratio:.1} times the usual volume"),
        None => String::new(),
    };
    let last = if level.touches == 1 { "on" } else { "last on" };
    format!(
        "{} has turned at about {} {} within the last year, {last} {}{volume}.",
        subject.symbol,
        money(level.price),
        times(level.touches),
        level.last_touch
    )
}

/// How far `at` is: in percent, in days' ranges, and how often a random walk comes so far.
pub(crate) fn distance(subject: &Subject<'_>, analysis: &Analysis, at: Price) -> String {
    let part = (at.as_f64() / subject.price.as_f64() - 1.0).abs();
    let where_to = if at > subject.price { "above" } else { "below" };
    let volatility = &analysis.volatility;
    let log = subject.distance(at).abs();
    let away = format!(
        "{} is {} {where_to} the price of {}",
        money(at),
        percent(part),
        money(subject.price)
    );
    let chance = analysis.chance_of(log) * 100.0;
    let often = if chance < 1.0 {
        "less than 1".to_owned()
    } else {
        format!("{chance:.0}")
    };
    match volatility.basis {
        Basis::Measured => format!(
            "{away}, {:.1} times an average day's range; moving {} a day without a direction, a price comes so far within \
             {HORIZON_SESSIONS} sessions in about {often} of 100 cases.",
            log / volatility.range_day,
            percent(volatility.sigma_day)
        ),
        Basis::Assumed | Basis::Floored | Basis::Capped => format!("{away}. {}", scatter(analysis)),
    }
}

/// How far the stock moves in a day, and where that number comes from.
pub(crate) fn scatter(analysis: &Analysis) -> String {
    let Volatility {
        sigma_day,
        range_day,
        basis,
    } = analysis.volatility;
    let (sigma, range) = (percent(sigma_day), percent(range_day));
    match basis {
        Basis::Measured => format!("It moves about {sigma} a day, within an average range of {range}."),
        Basis::Assumed => format!(
            "Only {} of its sessions are known, too few to measure how far it moves; {sigma} a day, as a middling stock, is \
             assumed.",
            analysis.sessions
        ),
        Basis::Floored => {
            format!("It has hardly moved of late; moves of at least {sigma} a day and a range of {range} are assumed.")
        }
        Basis::Capped => format!(
            "It has leapt of late, or its data have; moves of at most {sigma} a day and a range of {range} are assumed."
        ),
    }
}

/// Where the stock is going, with the averages that say so.
pub(crate) fn trend(subject: &Subject<'_>, analysis: &Analysis) -> String {
    let trend = &analysis.trend;
    let symbol = subject.symbol;
    let mut text = match trend.direction {
        Direction::Unknown => return format!("{symbol} has too few known sessions for a trend."),
        Direction::Up => format!("The trend of {symbol} is upward"),
        Direction::Down => format!("The trend of {symbol} is downward"),
        Direction::Mixed => format!("{symbol} has no clear trend"),
    };
    if let Some(fast) = trend.sma_fast {
        let (price, fast_text) = (money(subject.price), dollars(fast));
        let side = side_of(subject.price, fast);
        text += &format!(": {price} is {side} its 50-day average of {fast_text}");
        if let Some(slope) = trend.slope {
            let moved = percent(slope.abs());
            text += &match (is_zero(&moved), slope > 0.0) {
                (true, _) => ", which has not moved in 20 sessions".to_owned(),
                (false, true) => format!(", which has risen by {moved} in 20 sessions"),
                (false, false) => format!(", which has fallen by {moved} in 20 sessions"),
            };
        }
        if let Some(slow) = trend.sma_slow {
            text += &format!("; the 200-day average is {}", dollars(slow));
        }
    }
    text + "."
}

/// Where an average is, as seen from the price.
pub(crate) fn average(subject: &Subject<'_>, period: u16, average: f64) -> String {
    let part = (subject.price.as_f64() / average - 1.0).abs();
    let side = if subject.price.as_f64() >= average {
        "above"
    } else {
        "below"
    };
    format!(
        "{} is {} {side} its {period}-day average of {}",
        money(subject.price),
        percent(part),
        dollars(average)
    )
}

/// The side of an average, in dollars, on which the price is, by the rounded numbers that are shown.
fn side_of(price: Price, average: f64) -> &'static str {
    if money(price) == dollars(average) {
        "at"
    } else if price.as_f64() > average {
        "above"
    } else {
        "below"
    }
}

/// Whether a number is shown as zero.
fn is_zero(shown: &str) -> bool {
    !shown.contains(|c: char| ('1'..='9').contains(&c))
}

/// When there are earnings.
pub(crate) fn earnings(subject: &Subject<'_>, ahead: &Ahead) -> String {
    let Ahead { date, sessions, .. } = *ahead;
    format!(
        "{} reports earnings on {date}, {}.",
        subject.symbol,
        in_sessions(sessions)
    )
}

/// From when on there is no dividend.
pub(crate) fn ex_dividend(subject: &Subject<'_>, ahead: &Ahead) -> String {
    let Ahead { date, sessions, .. } = *ahead;
    format!(
        "{} trades without its next dividend from {date} on, {}.",
        subject.symbol,
        in_sessions(sessions)
    )
}

/// All of it in a few sentences.
pub(crate) fn summary(subject: &Subject<'_>, analysis: &Analysis) -> String {
    let mut sentences = vec![trend(subject, analysis), scatter(analysis)];
    // The words go by the rounded number that is shown.
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
            money(level.price),
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
