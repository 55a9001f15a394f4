//! Market sentiment, derived from prices.
//!
//! It measures breadth: the number of companies that moved, and their position relative to their own past, not how
//! far prices moved. Each company counts once. Everything here follows from stored prices; no provider and no news
//! is involved.

use std::cmp::Ordering;

use alerts::engine::Engine;
use jiff::civil::Date;
use market::day::day_number;
use market::history::DAYS_OF_52_WEEKS;
use market::{Decimal, MICROS_PER_UNIT, Price, Symbol};

use super::listed::SessionCompanies;
use super::{Coverage, ListedQuote};
use crate::market::MarketOverview;

/// The minimum number of companies for a label. Fewer say little about the market.
pub const MIN_STOCKS_FOR_LABEL: u32 = 20;
/// 100 percent in millionths.
const HUNDRED_PERCENT_MICROS: i128 = 100 * MICROS_PER_UNIT as i128;

/// The breadth of the market in the latest session.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sentiment {
    /// The session; `None` while no price is known.
    pub session: Option<Date>,
    /// The number of counted companies.
    pub coverage: Coverage,
    /// The companies above their previous close.
    pub advancers: u32,
    /// The companies below their previous close.
    pub decliners: u32,
    /// The companies at their previous close.
    pub unchanged: u32,
    /// Advancers ÷ decliners; `None` without decliners.
    pub advance_decline_ratio: Option<Decimal>,
    /// The percentage of companies above their 50-session average, of those that have an average.
    pub above_ma_50_pct: Option<Decimal>,
    /// The percentage of companies above their 200-session average, of those that have an average.
    pub above_ma_200_pct: Option<Decimal>,
    /// The companies above every price of the 52 weeks before the session.
    pub new_highs: u32,
    /// The companies below every price of the 52 weeks before the session.
    pub new_lows: u32,
    /// The combined score from 0 to 100, to a tenth; see [`score`].
    pub score: Option<Decimal>,
    /// The label of the score; `None` if fewer than [`MIN_STOCKS_FOR_LABEL`] companies are counted.
    pub label: Option<SentimentLabel>,
}

/// The label of a score.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SentimentLabel {
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

impl SentimentLabel {
    /// All labels.
    pub const ALL: &'static [Self] = &[
        Self::VeryBearish,
        Self::Bearish,
        Self::Neutral,
        Self::Bullish,
        Self::VeryBullish,
    ];

    /// Returns the name.
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

    /// Returns the label of a score.
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

/// The state of one company.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct CompanyBreadth {
    moved: Ordering,
    /// Whether it is above its averages of 50 and of 200 sessions; `None` without an average.
    is_above: [Option<bool>; 2],
    /// Whether it made a new high and a new low; `None` without an earlier session.
    extremes: Option<(bool, bool)>,
}

impl MarketOverview {
    /// Returns the sentiment: the breadth of the latest session with known prices.
    #[must_use]
    pub fn sentiment(&self) -> Sentiment {
        let SessionCompanies { session, of, listed } = self.session_companies();
        let companies = listed.iter().filter_map(|company| self.breadth_of(company, session?));
        let mut found = sum(companies);
        found.session = session;
        found.coverage.of = of;
        found
    }

    fn breadth_of(&self, company: &ListedQuote, session: Date) -> Option<CompanyBreadth> {
        let (price, previous) = company.quote.price.zip(company.quote.previous_close)?;
        let symbol = company.row.symbol;
        Some(self.evaluator.read(|engine| CompanyBreadth {
            moved: price.cmp(&previous),
            is_above: [50, 200].map(|period| {
                let average = engine.current_average(symbol, period)?;
                Some(price.decimal() > average)
            }),
            extremes: extremes(engine, symbol, session),
        }))
    }
}

/// Whether a stock's highest price of a session was above, and its lowest below, every price of the 52 weeks
/// before.
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

fn sum(companies: impl Iterator<Item = CompanyBreadth>) -> Sentiment {
    let mut found = Sentiment::default();
    let (mut above, mut with_average, mut with_past) = ([0_u32; 2], [0_u32; 2], 0);
    for company in companies {
        found.coverage.stocks += 1;
        match company.moved {
            Ordering::Greater => found.advancers += 1,
            Ordering::Less => found.decliners += 1,
            Ordering::Equal => found.unchanged += 1,
        }
        for (which, is_above) in company.is_above.into_iter().enumerate() {
            with_average[which] += u32::from(is_above.is_some());
            above[which] += u32::from(is_above == Some(true));
        }
        if let Some((is_high, is_low)) = company.extremes {
            with_past += 1;
            found.new_highs += u32::from(is_high);
            found.new_lows += u32::from(is_low);
        }
    }
    let [above_50, above_200] = [0, 1].map(|which| percent_of(above[which].into(), with_average[which]));
    found.above_ma_50_pct = above_50.map(decimal_from_micros);
    found.above_ma_200_pct = above_200.map(decimal_from_micros);
    found.advance_decline_ratio = rounded_quotient(
        i128::from(found.advancers) * i128::from(MICROS_PER_UNIT),
        found.decliners,
    )
    .map(decimal_from_micros);
    let moved = percent_of(found.advancers.into(), found.advancers + found.decliners);
    let surplus = i128::from(found.new_highs) - i128::from(found.new_lows);
    let beyond = percent_of(surplus, with_past).map(|surplus| (HUNDRED_PERCENT_MICROS + surplus) / 2);
    found.score = score(&[moved, above_50, above_200, beyond]);
    let is_covered = found.coverage.stocks >= MIN_STOCKS_FOR_LABEL;
    found.label = found.score.filter(|_| is_covered).map(SentimentLabel::of);
    found
}

/// Returns the mean, to a tenth, of the known percentages: the companies that have risen, of those that moved; the
/// companies above their 50-session average; the companies above their 200-session average; and 50 plus half the
/// percentage points by which new highs outnumber new lows.
fn score(percentages: &[Option<i128>]) -> Option<Decimal> {
    const TENTH: i128 = MICROS_PER_UNIT as i128 / 10;
    let known: Vec<i128> = percentages.iter().flatten().copied().collect();
    let count = i128::try_from(known.len()).ok().filter(|count| *count > 0)?;
    // All of them are 0 to 100, so halves are rounded up.
    let tenths = (known.iter().sum::<i128>() * 2 + count * TENTH) / (count * TENTH * 2);
    Some(decimal_from_micros(tenths * TENTH))
}

/// Returns `some` of `all` in percent, in millionths; `None` if `all` is 0.
fn percent_of(some: i128, all: u32) -> Option<i128> {
    rounded_quotient(some * HUNDRED_PERCENT_MICROS, all)
}

/// Returns the nearest integer to a quotient, halves away from zero.
fn rounded_quotient(some: i128, by: u32) -> Option<i128> {
    let half = i128::from(by) / 2;
    (some + if some < 0 { -half } else { half }).checked_div(i128::from(by))
}

/// Converts a value that is far within the range of decimals.
fn decimal_from_micros(micros: i128) -> Decimal {
    Decimal::from_micros(i64::try_from(micros).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn company(moved: Ordering, is_above: [Option<bool>; 2], extremes: Option<(bool, bool)>) -> CompanyBreadth {
        CompanyBreadth {
            moved,
            is_above,
            extremes,
        }
    }

    fn text(number: Option<Decimal>) -> String {
        number.map_or_else(|| "-".to_owned(), |number| number.to_string())
    }

    #[test]
    fn score_is_the_mean_of_known_percentages() {
        let companies = [
            company(Ordering::Greater, [Some(true), Some(true)], Some((true, false))),
            company(Ordering::Greater, [Some(true), None], Some((false, false))),
            company(Ordering::Less, [Some(false), None], Some((false, false))),
            company(Ordering::Equal, [None, None], None),
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
    fn score_has_a_label_from_twenty_companies_on() {
        let label = |count| {
            let rose = company(Ordering::Greater, [None, None], None);
            let found = sum(std::iter::repeat_n(rose, count));
            assert_eq!(text(found.score), "100");
            found.label
        };
        assert_eq!(label(19), None);
        assert_eq!(label(20), Some(SentimentLabel::VeryBullish));
    }

    #[test]
    fn unknown_percentages_are_left_out_and_no_company_means_no_score() {
        let fell = sum([company(Ordering::Less, [None, None], None)].into_iter());
        assert_eq!(text(fell.score), "0");
        assert_eq!(text(fell.advance_decline_ratio), "0");
        let rose = sum([company(Ordering::Greater, [None, None], None)].into_iter());
        assert_eq!(
            (text(rose.score), text(rose.advance_decline_ratio)),
            ("100".to_owned(), "-".to_owned())
        );
        let still = sum([company(Ordering::Equal, [None, None], None)].into_iter());
        assert_eq!((still.coverage.stocks, still.score, still.label), (1, None, None));
        assert_eq!(sum(std::iter::empty()), Sentiment::default());
    }

    #[test]
    fn new_lows_lower_the_score_as_new_highs_raise_it() {
        let of = |extremes| text(sum([company(Ordering::Equal, [None, None], Some(extremes))].into_iter()).score);
        assert_eq!(
            [of((true, false)), of((false, true)), of((false, false))],
            ["100", "0", "50"]
        );
        // A session can have both.
        assert_eq!(of((true, true)), "50");
    }

    #[test]
    fn label_boundaries_are_symmetric() {
        let word = |tenths: i64| SentimentLabel::of(Decimal::from_micros(tenths * 100_000)).name();
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
