//! The comparisons of conditions that are judged directly, for explanations and reasons. All of them must be true.

use market::{Decimal, MICROS_PER_UNIT};

use super::direct::{DirectCondition, OwnStock, rsi_now};
use super::explain::distance_pct;
use super::explanation::{ExplainedTerm, TermSource};
use crate::condition::{BuzzDirection, InsiderCriteria, InsiderDirection, Side};
use crate::engine::Engine;
use crate::engine::group::averages;
use crate::lifecycle::Lifecycle;

/// Two numbers, of which the left one must be at or beyond the right one.
struct Compared {
    text: String,
    left: Option<Decimal>,
    right: Option<Decimal>,
    holds: Option<bool>,
}

impl Engine {
    /// Returns the comparisons of a condition. Reminders compare nothing.
    pub(super) fn direct_terms(
        &self,
        direct: DirectCondition,
        own: &OwnStock<'_>,
        state: &Lifecycle,
    ) -> Vec<ExplainedTerm> {
        use TermSource::{DailyBars, InsiderTrades, Mentions, Quotes};
        match direct {
            DirectCondition::AverageCross(side) => vec![
                self.term_of(own, now_crossed(side, own), &[Quotes, DailyBars]),
                ExplainedTerm {
                    // No price of today changes the averages of the last session.
                    distance_pct: None,
                    as_of: None,
                    ..self.term_of(own, not_crossed_before(side, own), &[DailyBars])
                },
            ],
            DirectCondition::RsiBothSides { threshold } => {
                let compared = rsi(threshold, own, state.rsi_side);
                vec![self.term_of(own, compared, &[Quotes, DailyBars])]
            }
            DirectCondition::Buzz(direction) => {
                let compared = self.mentions(direction, own);
                compared.map(|compared| self.term_of(own, compared, &[Mentions])).into()
            }
            DirectCondition::Insiders(criteria) => {
                let compared = insiders(&criteria, own);
                compared
                    .map(|compared| self.term_of(own, compared, &[InsiderTrades]))
                    .into()
            }
            DirectCondition::Reminder { .. } | DirectCondition::DailyReminder(_) => Vec::new(),
        }
    }

    fn term_of(&self, own: &OwnStock<'_>, compared: Compared, sources: &[TermSource]) -> ExplainedTerm {
        let Compared {
            text,
            left,
            right,
            holds,
        } = compared;
        let hot = &self.hot.get(own.index.0 as usize);
        ExplainedTerm {
            text,
            left,
            right,
            holds,
            distance_pct: left.zip(right).and_then(|(left, right)| distance_pct(left, right)),
            as_of: (hot.last != 0).then(|| hot.last_at()),
            sources: sources.to_vec(),
        }
    }

    fn mentions(&self, direction: BuzzDirection, own: &OwnStock<'_>) -> [Compared; 2] {
        let thresholds = &self.config.buzz;
        let counts = own.inputs.mentions;
        let day = counts.and_then(|counts| Decimal::from_units(counts.last_day));
        let usual = counts.map(|counts| Decimal::from_micros(counts.week_before.saturating_mul(MICROS_PER_UNIT) / 7));
        let ratio = counts.and_then(|counts| {
            let scaled = i128::from(counts.last_day) * 7 * i128::from(MICROS_PER_UNIT);
            let ratio = scaled.checked_div(i128::from(counts.week_before))?;
            i64::try_from(ratio).ok().map(Decimal::from_micros)
        });
        let whole = |number: u32| Decimal::from_units(i64::from(number));
        match direction {
            BuzzDirection::Rising => [
                at_least("mentions in 24 hours", day, whole(thresholds.rising_mentions)),
                at_least("mentions_ratio", ratio, Some(thresholds.rising_ratio)),
            ],
            BuzzDirection::Falling => [
                at_least("usual mentions per day", usual, whole(thresholds.falling_base)),
                at_most("mentions_ratio", ratio, thresholds.falling_ratio),
            ],
        }
    }
}

fn at_least(metric: &str, left: Option<Decimal>, right: Option<Decimal>) -> Compared {
    Compared {
        text: right.map_or_else(|| metric.to_owned(), |right| format!("{metric} >= {right}")),
        left,
        right,
        holds: left.zip(right).map(|(left, right)| left >= right),
    }
}

fn at_most(metric: &str, left: Option<Decimal>, right: Decimal) -> Compared {
    Compared {
        text: format!("{metric} <= {right}"),
        left,
        right: Some(right),
        holds: left.map(|left| left <= right),
    }
}

fn now_crossed(side: Side, own: &OwnStock<'_>) -> Compared {
    let price = own.inputs.price.map(market::Price::micros);
    let compared = price.and_then(|price| averages(price, own.inputs.history));
    let exact = price.and_then(|price| {
        let sum = |sessions| own.inputs.history.sum_of_closes(sessions);
        Some((4 * (sum(49)? + price)).cmp(&(sum(199)? + price)))
    });
    Compared {
        text: format!("sma(50) {} sma(200)", side.pick(">", "<")),
        left: compared.map(|(sma_50, _)| sma_50),
        right: compared.map(|(_, sma_200)| sma_200),
        holds: exact.map(|order| side.pick(order.is_gt(), order.is_lt())),
    }
}

fn not_crossed_before(side: Side, own: &OwnStock<'_>) -> Compared {
    let sum = |sessions| own.inputs.history.sum_of_closes(sessions);
    let sums = sum(50).zip(sum(200));
    let average = |sum: i64, sessions: i64| Decimal::from_micros((sum + sessions / 2) / sessions);
    Compared {
        text: format!(
            "sma(50) {} sma(200) at the last completed session",
            side.pick("<=", ">=")
        ),
        left: sums.map(|(sum, _)| average(sum, 50)),
        right: sums.map(|(_, sum)| average(sum, 200)),
        holds: sums.map(|(sum_50, sum_200)| {
            let order = (4 * sum_50).cmp(&sum_200);
            side.pick(order.is_le(), order.is_ge())
        }),
    }
}

/// Compares the RSI with the threshold on the side that it must reach.
fn rsi(threshold: Decimal, own: &OwnStock<'_>, side: Option<Side>) -> Compared {
    let now = rsi_now(&own.inputs).map(Decimal::from_micros);
    match side {
        Some(Side::Below) => at_least("rsi(14)", now, Some(threshold)),
        Some(Side::Above) => at_most("rsi(14)", now, threshold),
        // The next RSI that is not exactly at the threshold determines the side.
        None => Compared {
            text: format!("rsi(14) crosses {threshold}"),
            left: now,
            right: Some(threshold),
            holds: now.map(|_| false),
        },
    }
}

fn insiders(criteria: &InsiderCriteria, own: &OwnStock<'_>) -> [Compared; 2] {
    let totals = own.facts.map(|facts| facts.insider_totals(criteria, own.inputs.today));
    let traded = match criteria.direction {
        InsiderDirection::Buy => "bought",
        InsiderDirection::Sell => "sold",
        InsiderDirection::Both => "traded",
    };
    let days = match criteria.window_days {
        1 => "1 day".to_owned(),
        days => format!("{days} days"),
    };
    [
        at_least(
            &format!("USD {traded} by insiders within {days}"),
            totals.map(|(value_usd, _)| value_usd),
            Some(criteria.threshold_usd),
        ),
        at_least(
            &format!("insiders who {traded} within {days}"),
            totals.and_then(|(_, insiders)| Decimal::from_units(i64::from(insiders))),
            Decimal::from_units(i64::from(criteria.min_executives)),
        ),
    ]
}
