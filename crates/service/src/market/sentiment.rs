//! How the market as a whole feels, as far as its prices tell.
//!
//! Breadth: not how far prices moved, but how many of them did, and where they stand in their own past. Each company counts
//! once. Everything here follows from prices that are kept; nobody is asked, and no news is read.

use std::cmp::Ordering;

use alerts::engine::Engine;
use jiff::civil::Date;
use market::day::day_number;
use market::history::DAYS_OF_52_WEEKS;
use market::{Decimal, MICROS_PER_UNIT, Price, Symbol};

use super::listed::CompaniesOfTheDay;
use super::{Coverage, ListedQuote};
use crate::market::MarketOverview;

/// From how many companies on the score gets a label: fewer say little of the market.
pub const MIN_STOCKS_FOR_LABEL: u32 = 20;
/// A hundred percent in millionths.
const HUNDRED: i128 = 100 * MICROS_PER_UNIT as i128;

/// How many companies moved which way in the latest session, and where they stand.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sentiment {
    /// The session; `None` while no price is known.
    pub session: Option<Date>,
    /// How many companies are counted.
    pub coverage: Coverage,
    /// Those above their previous close.
    pub advancers: u32,
    /// Those below it.
    pub decliners: u32,
    /// Those at it.
    pub unchanged: u32,
    /// Advancers ÷ decliners; `None` without decliners.
    pub advance_decline_ratio: Option<Decimal>,
    /// Of those with an average of 50 sessions, how many percent are above it.
    pub above_ma_50_pct: Option<Decimal>,
    /// The same of 200 sessions.
    pub above_ma_200_pct: Option<Decimal>,
    /// Those that were above everything of the 52 weeks before the session.
    pub new_highs: u32,
    /// Those that were below everything of the 52 weeks before the session.
    pub new_lows: u32,
    /// All of that as one number, 0 to 100, to a tenth; [`score`] says how.
    pub score: Option<Decimal>,
    /// The score as a word; `None` if fewer than [`MIN_STOCKS_FOR_LABEL`] companies are counted.
    pub mood: Option<Mood>,
}

/// A score as a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mood {
    /// Below 20.
    VeryBearish,
    /// Below 40.
    Bearish,
    /// 40 to 60.
    Neutral,
    /// Above 60.
    Bullish,
    /// Above 80.
    VeryBullish,
}

impl Mood {
    /// Every word there is.
    pub const ALL: &'static [Self] = &[
        Self::VeryBearish,
        Self::Bearish,
        Self::Neutral,
        Self::Bullish,
        Self::VeryBullish,
    ];

    /// The word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::VeryBearish => "very_bearish",
            Self::Bearish => "bearish",
            Self::Neutral => "neutral",
            Self::Bullish => "bullish",
            Self::VeryBullish => "very_bullish",
        }
    }

    /// The word for a score.
    fn of(score: Decimal) -> Self {
        match score.micros() {
            ..20_000_000 => Self::VeryBearish,
            20_000_000..40_000_000 => Self::Bearish,
            40_000_000..=60_000_000 => Self::Neutral,
            60_000_001..=80_000_000 => Self::Bullish,
            _ => Self::VeryBullish,
        }
    }
}

/// What is seen of one company.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Seen {
    moved: Ordering,
    /// Whether it is above its averages of 50 and of 200 sessions, as far as there are any.
    is_above: [Option<bool>; 2],
    /// Whether it made a new high and a new low; `None` without a session before.
    extremes: Option<(bool, bool)>,
}

impl MarketOverview {
    /// How the market as a whole feels: the breadth of the latest session of which prices are known.
    #[must_use]
    pub fn sentiment(&self) -> Sentiment {
        let CompaniesOfTheDay { session, of, listed } = self.companies_of_the_day();
        let seen = listed.iter().filter_map(|company| self.seen(company, session?));
        let mut found = sum(seen);
        found.session = session;
        found.coverage.of = of;
        found
    }

    fn seen(&self, company: &ListedQuote, session: Date) -> Option<Seen> {
        let (price, previous) = company.quote.price.zip(company.quote.previous_close)?;
        let symbol = company.row.symbol;
        Some(self.evaluator.read(|engine| Seen {
            moved: price.cmp(&previous),
            is_above: [50, 200].map(|period| {
                let average = engine.current_average(symbol, period)?;
                Some(price.decimal() > average)
            }),
            extremes: extremes(engine, symbol, session),
        }))
    }
}

/// Whether a stock's highest price of a session was above, and its lowest below, everything of the 52 weeks before.
fn extremes(engine: &Engine, symbol: Symbol, session: Date) -> Option<(bool, bool)> {
    let history = engine.history(symbol)?;
    let completed = history.bars().rev().find(|bar| bar.date == session);
    let running = || engine.observed_session(symbol).filter(|so_far| so_far.date == session);
    let (high, low) = completed
        .map(|bar| (bar.high, bar.low))
        .or_else(|| running().map(|so_far| (so_far.high, so_far.low)))?;
    let from = day_number(session) - DAYS_OF_52_WEEKS;
    let before = history
        .bars()
        .filter(|bar| bar.date < session && day_number(bar.date) >= from);
    let (highs, lows): (Vec<Price>, Vec<Price>) = before.map(|bar| (bar.high, bar.low)).unzip();
    let (highest, lowest) = highs.into_iter().max().zip(lows.into_iter().min())?;
    Some((high > highest, low < lowest))
}

fn sum(seen: impl Iterator<Item = Seen>) -> Sentiment {
    let mut found = Sentiment::default();
    let (mut above, mut with_average, mut with_past) = ([0_u32; 2], [0_u32; 2], 0);
    for one in seen {
        found.coverage.stocks += 1;
        match one.moved {
            Ordering::Greater => found.advancers += 1,
            Ordering::Less => found.decliners += 1,
            Ordering::Equal => found.unchanged += 1,
        }
        for (which, is_above) in one.is_above.into_iter().enumerate() {
            with_average[which] += u32::from(is_above.is_some());
            above[which] += u32::from(is_above == Some(true));
        }
        if let Some((is_high, is_low)) = one.extremes {
            with_past += 1;
            found.new_highs += u32::from(is_high);
            found.new_lows += u32::from(is_low);
        }
    }
    let [above_50, above_200] = [0, 1].map(|which| part(above[which].into(), with_average[which]));
    found.above_ma_50_pct = above_50.map(millionths);
    found.above_ma_200_pct = above_200.map(millionths);
    found.advance_decline_ratio = divided(
        i128::from(found.advancers) * i128::from(MICROS_PER_UNIT),
        found.decliners,
    )
    .map(millionths);
    let moved = part(found.advancers.into(), found.advancers + found.decliners);
    let surplus = i128::from(found.new_highs) - i128::from(found.new_lows);
    let beyond = part(surplus, with_past).map(|surplus| (HUNDRED + surplus) / 2);
    found.score = score(&[moved, above_50, above_200, beyond]);
    let is_covered = found.coverage.stocks >= MIN_STOCKS_FOR_LABEL;
    found.mood = found.score.filter(|_| is_covered).map(Mood::of);
    found
}

/// The mean, to a tenth, of those of these percentages that can be told: how many of the companies that moved have risen;
/// how many are above their average of 50 sessions; how many above that of 200; and 50 plus half the percentage points by which
/// new highs outnumber new lows.
fn score(percentages: &[Option<i128>]) -> Option<Decimal> {
    const TENTH: i128 = MICROS_PER_UNIT as i128 / 10;
    let known: Vec<i128> = percentages.iter().flatten().copied().collect();
    let count = i128::try_from(known.len()).ok().filter(|count| *count > 0)?;
    // All of them are 0 to 100, so halves are rounded up.
    let tenths = (known.iter().sum::<i128>() * 2 + count * TENTH) / (count * TENTH * 2);
    Some(millionths(tenths * TENTH))
}

/// `some` of `all` in percent, in millionths; `None` of none.
fn part(some: i128, all: u32) -> Option<i128> {
    divided(some * HUNDRED, all)
}

/// The nearest to a quotient, halves away from zero.
fn divided(some: i128, by: u32) -> Option<i128> {
    let half = i128::from(by) / 2;
    (some + if some < 0 { -half } else { half }).checked_div(i128::from(by))
}

/// What is far within the range of decimals.
fn millionths(micros: i128) -> Decimal {
    Decimal::from_micros(i64::try_from(micros).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(moved: Ordering, is_above: [Option<bool>; 2], extremes: Option<(bool, bool)>) -> Seen {
        Seen {
            moved,
            is_above,
            extremes,
        }
    }

    fn text(number: Option<Decimal>) -> String {
        number.map_or_else(|| "-".to_owned(), |number| number.to_string())
    }

    #[test]
    fn the_score_is_the_mean_of_what_can_be_told() {
        let companies = [
            seen(Ordering::Greater, [Some(true), Some(true)], Some((true, false))),
            seen(Ordering::Greater, [Some(true), None], Some((false, false))),
            seen(Ordering::Less, [Some(false), None], Some((false, false))),
            seen(Ordering::Equal, [None, None], None),
        ];
        let found = sum(companies.into_iter());
        assert_eq!(
            (found.coverage.stocks, found.advancers, found.decliners, found.unchanged),
            (4, 2, 1, 1)
        );
        assert_eq!((found.new_highs, found.new_lows), (1, 0));
        assert_eq!(text(found.advance_decline_ratio), "2");
        assert_eq!(text(found.above_ma_50_pct), "66.666667");
        assert_eq!(text(found.above_ma_200_pct), "100");
        // (66.67 + 66.67 + 100 + 66.67) ÷ 4
        assert_eq!(text(found.score), "75");
    }

    #[test]
    fn the_score_has_a_label_from_twenty_companies_on() {
        let mood = |count| {
            let rose = seen(Ordering::Greater, [None, None], None);
            let found = sum(std::iter::repeat_n(rose, count));
            assert_eq!(text(found.score), "100");
            found.mood
        };
        assert_eq!(mood(19), None);
        assert_eq!(mood(20), Some(Mood::VeryBullish));
    }

    #[test]
    fn what_cannot_be_told_of_any_is_left_out_and_of_nothing_there_is_no_score() {
        let fell = sum([seen(Ordering::Less, [None, None], None)].into_iter());
        assert_eq!(text(fell.score), "0");
        assert_eq!(text(fell.advance_decline_ratio), "0");
        let rose = sum([seen(Ordering::Greater, [None, None], None)].into_iter());
        assert_eq!(
            (text(rose.score), text(rose.advance_decline_ratio)),
            ("100".to_owned(), "-".to_owned())
        );
        let still = sum([seen(Ordering::Equal, [None, None], None)].into_iter());
        assert_eq!((still.coverage.stocks, still.score, still.mood), (1, None, None));
        assert_eq!(sum(std::iter::empty()), Sentiment::default());
    }

    #[test]
    fn new_lows_pull_the_score_down_as_new_highs_push_it_up() {
        let of = |extremes| text(sum([seen(Ordering::Equal, [None, None], Some(extremes))].into_iter()).score);
        assert_eq!(
            [of((true, false)), of((false, true)), of((false, false))],
            ["100", "0", "50"]
        );
        // A session can be both.
        assert_eq!(of((true, true)), "50");
    }

    #[test]
    fn words_change_on_both_sides_of_forty_and_sixty_alike() {
        let word = |tenths: i64| Mood::of(Decimal::from_micros(tenths * 100_000)).name();
        for (tenths, expected) in [
            (0, "very_bearish"),
            (199, "very_bearish"),
            (200, "bearish"),
            (399, "bearish"),
            (400, "neutral"),
            (600, "neutral"),
            (601, "bullish"),
            (800, "bullish"),
            (801, "very_bullish"),
            (1000, "very_bullish"),
        ] {
            assert_eq!(word(tenths), expected, "{tenths}");
        }
    }
}
