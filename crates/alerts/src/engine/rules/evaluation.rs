//! The evaluation status of rules.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::rule::ArmedRule;
use super::values::SeenAt;
use crate::engine::Engine;
use crate::engine::evaluation::EvaluationIssue;
use crate::engine::event::Feed;
use crate::expression::MetricValues;
use crate::expression::ast::MetricReference;
use crate::expression::metric::{Metric, MetricNeed};
use crate::expression::shape::metrics;

impl Engine {
    /// Returns the first reason why a rule is not evaluated, in the order of its metrics.
    pub(in crate::engine) fn rule_issue(&self, armed: &ArmedRule, now: Timestamp) -> Option<EvaluationIssue> {
        let used = metrics(&armed.rule.expression);
        let lost = used.iter().flat_map(|used| used.metric.spec().needs).find_map(|need| {
            let feed = feed_of(*need);
            self.feeds.is_lost(feed).then_some(EvaluationIssue::NoSource(feed))
        });
        if lost.is_some() {
            return lost;
        }
        if armed.is_about_market
            && let Some(stale) = armed.stock_indices().find_map(|stock| self.quote_issue(stock, now))
        {
            return Some(stale);
        }
        let values = self.values(armed, &armed.rule.lifecycle, now, &BTreeSet::new(), SeenAt::Observation);
        used.into_iter()
            .filter(|used| values.value(*used).is_none())
            .map(|used| self.missing_value(armed, used))
            .next()
    }

    fn missing_value(&self, armed: &ArmedRule, used: MetricReference) -> EvaluationIssue {
        let stock = armed.stocks.iter().find(|at| at.name == used.symbol);
        let stock = stock.map(|at| &self.stocks[at.stock.0 as usize]);
        let have = stock.map_or(0, |stock| u16::try_from(stock.history.len()).unwrap_or(u16::MAX));
        let need = sessions_needed(used.metric);
        if have < need {
            return EvaluationIssue::TooLittleHistory { have, need };
        }
        let needs = used.metric.spec().needs;
        if needs.contains(&MetricNeed::InitialPrice) && armed.rule.initial_price.is_none() {
            return EvaluationIssue::NoInitialPrice;
        }
        if needs.contains(&MetricNeed::Earnings) {
            let eps = stock.and_then(|stock| match used.metric {
                Metric::ForwardPe => stock.eps.forward,
                _ => stock.eps.trailing,
            });
            return match eps {
                Some(_) => EvaluationIssue::EarningsNotPositive,
                None => EvaluationIssue::NoEarningsPerShare,
            };
        }
        let facts = [
            (MetricNeed::Mentions, EvaluationIssue::TooFewMentions),
            (
                MetricNeed::InsiderTrades,
                EvaluationIssue::NeverDelivered(Feed::Insiders),
            ),
            (MetricNeed::EarningsDates, EvaluationIssue::NoDateKnown),
            (MetricNeed::DividendDates, EvaluationIssue::NoDateKnown),
        ];
        let missing = facts.into_iter().find(|(need, _)| needs.contains(need));
        missing.map_or(EvaluationIssue::NoValue, |(_, issue)| issue)
    }
}

/// Returns the feed that delivers what a metric needs.
pub(super) const fn feed_of(need: MetricNeed) -> Feed {
    match need {
        MetricNeed::Quote
        | MetricNeed::InitialPrice
        | MetricNeed::BidAsk
        | MetricNeed::Volume
        | MetricNeed::Sessions => Feed::Quotes,
        MetricNeed::Earnings | MetricNeed::Fundamentals => Feed::Fundamentals,
        MetricNeed::Mentions => Feed::Mentions,
        MetricNeed::InsiderTrades => Feed::Insiders,
        MetricNeed::EarningsDates => Feed::Earnings,
        MetricNeed::DividendDates => Feed::Dividends,
    }
}

/// Returns the number of completed sessions without which a metric has no value.
fn sessions_needed(metric: Metric) -> u16 {
    match metric {
        Metric::High(n) | Metric::Low(n) | Metric::Drawdown(n) => n.get(),
        Metric::AverageVolume(n) | Metric::RelativeVolume(n) | Metric::Rsi(n) => n.get(),
        // The present price is today's close.
        Metric::Sma(n) | Metric::Ema(n) | Metric::StandardDeviation(n) => n.get().saturating_sub(1),
        Metric::Atr(n) => n.get(),
        Metric::BollingerUpper(band) | Metric::BollingerLower(band) => band.period.get().saturating_sub(1),
        Metric::Macd(periods) | Metric::MacdSignal(periods) => {
            (periods.slow.get().max(periods.fast.get()) + periods.signal.get()).saturating_sub(2)
        }
        Metric::ChangePct(crate::expression::metric::ChangeBase::Sessions(n)) => n.get(),
        Metric::PrevClose | Metric::GapPct | Metric::High52Weeks | Metric::Low52Weeks => 1,
        _ => 0,
    }
}
