//! The evaluation status of rules: the first metric that is not evaluated, in the order of the text, gives the issue.

use jiff::Timestamp;
use market::Decimal;
use market::calendar::new_york_date;

use super::direct::{DirectCondition, RuleCondition};
use super::rule::{ArmedRule, RuleStock};
use super::values::{SeenAt, view_of};
use crate::condition::EpsBasis;
use crate::engine::evaluation::earnings_issue;
use crate::engine::event::{Feed, StockIndex};
use crate::engine::hot_line::NO_DAY;
use crate::engine::{Engine, EvaluationIssue};
use crate::expression::metric::{ChangeBase, Metric};
use crate::expression::shape::metrics;
use crate::metrics::{MetricDependency, StockInputs, dependencies, is_of_newest_price, required_sessions};
use crate::options::TriggerPrice;

impl Engine {
    /// Returns the issue of a rule, and the stock that has it.
    pub(in crate::engine) fn rule_issue(
        &self,
        armed: &ArmedRule,
        now: Timestamp,
    ) -> Option<(StockIndex, EvaluationIssue)> {
        let expression = match &armed.rule.judged {
            RuleCondition::Expression(expression) => expression,
            RuleCondition::Direct(direct) => return self.direct_issue(armed, *direct, now),
        };
        metrics(expression).into_iter().find_map(|used| {
            let at = armed.stocks.iter().find(|at| at.name == used.symbol)?;
            let issue = self.metric_issue(armed, at, used.metric, now)?;
            Some((at.stock, issue))
        })
    }

    fn direct_issue(
        &self,
        armed: &ArmedRule,
        direct: DirectCondition,
        now: Timestamp,
    ) -> Option<(StockIndex, EvaluationIssue)> {
        let stock = armed.stock_indices().next()?;
        let rule = &armed.rule;
        let issue = self.condition_issue(&rule.condition, stock, rule.initial_price, now);
        let missing_side = || {
            let hot = &self.hot.get(stock.0 as usize);
            let view = view_of(
                armed,
                &self.stocks[stock.0 as usize],
                hot,
                new_york_date(now),
                SeenAt::Afterwards,
            );
            let is_judged = direct.has_market_data() && (hot.day != NO_DAY || view.is_extended);
            let side = is_judged
                .then(|| missing_detail(rule.options.trigger, &view, Metric::Price))
                .flatten()?;
            Some(EvaluationIssue::NoSourceOfMetric(side))
        };
        issue.or_else(missing_side).map(|issue| (stock, issue))
    }

    fn metric_issue(
        &self,
        armed: &ArmedRule,
        at: &RuleStock,
        metric: Metric,
        now: Timestamp,
    ) -> Option<EvaluationIssue> {
        let feeds = feeds(metric);
        if let Some(&lost) = feeds.iter().find(|feed| self.feeds.is_lost(**feed)) {
            return Some(EvaluationIssue::NoSource(lost));
        }
        let place = at.stock.0 as usize;
        let (stock, hot) = (&self.stocks[place], &self.hot.get(place));
        // Quotes and fundamentals are known to be missing from their values.
        let is_other = |feed: &&Feed| !matches!(feed, Feed::Quotes | Feed::Fundamentals);
        if let Some(&feed) = feeds.iter().find(is_other)
            && !self.has_delivered(feed, stock, now)
        {
            return Some(EvaluationIssue::NeverDelivered(feed));
        }
        let view = view_of(armed, stock, hot, new_york_date(now), SeenAt::Afterwards);
        if (hot.day != NO_DAY || view.is_extended)
            && let Some(detail) = missing_detail(armed.rule.options.trigger, &view, metric)
        {
            return Some(EvaluationIssue::NoSourceOfMetric(detail));
        }
        let is_stale = || self.stale_since(hot, now).is_some_and(|since| since < now);
        let needs_quotes = feeds.contains(&Feed::Quotes);
        match missing_value(armed, &view, metric) {
            // The initial price also waits for quotes, so stale quotes are the more specific issue.
            Some(EvaluationIssue::NoInitialPrice) if view.price.is_some() && is_stale() => {
                Some(EvaluationIssue::StaleQuotes)
            }
            Some(missing) => Some(missing),
            None if needs_quotes && view.price.is_none() => Some(EvaluationIssue::NoPrice),
            None if needs_quotes && is_stale() => Some(EvaluationIssue::StaleQuotes),
            None => (needs_quotes && self.lacks_extended_hours(armed, now)).then_some(EvaluationIssue::NoExtendedHours),
        }
    }

    /// Returns whether it is the time of extended hours, in which a rule is judged, and no source delivers their prices.
    fn lacks_extended_hours(&self, armed: &ArmedRule, now: Timestamp) -> bool {
        let is_judged = !self.config.has_extended_hours && armed.judges_extended_hours();
        is_judged && self.calendar.extended_hours_at(now).is_some()
    }
}

/// Returns the feeds that a metric depends on.
fn feeds(metric: Metric) -> Vec<Feed> {
    // The extremes since arming are those of judged prices.
    if matches!(metric, Metric::HighSinceArmed | Metric::LowSinceArmed) {
        return vec![Feed::Quotes];
    }
    let feed = |dependency: &MetricDependency| match dependency {
        MetricDependency::Price | MetricDependency::Volume | MetricDependency::BidAsk | MetricDependency::Vwap => {
            Some(Feed::Quotes)
        }
        MetricDependency::Fundamentals => Some(Feed::Fundamentals),
        MetricDependency::Mentions => Some(Feed::Mentions),
        MetricDependency::InsiderTrades => Some(Feed::Insiders),
        MetricDependency::EarningsDates => Some(Feed::Earnings),
        MetricDependency::DividendDates => Some(Feed::Dividends),
        MetricDependency::History | MetricDependency::Date | MetricDependency::AlertBasis => None,
    };
    dependencies(metric).iter().filter_map(feed).collect()
}

/// Returns which detail of a quote a metric needs and the running session does not have.
fn missing_detail(trigger: TriggerPrice, view: &StockInputs<'_>, metric: Metric) -> Option<&'static str> {
    let judges = |sides: [TriggerPrice; 2]| is_of_newest_price(metric) && sides.contains(&trigger);
    let needs_bid = metric == Metric::Bid || judges([TriggerPrice::Bid, TriggerPrice::Mid]);
    let needs_ask = metric == Metric::Ask || judges([TriggerPrice::Ask, TriggerPrice::Mid]);
    if metric == Metric::Vwap {
        return view.session?.vwap.is_none().then_some("vwap");
    }
    let bid = (needs_bid && view.bid.is_none()).then_some("bid");
    bid.or_else(|| (needs_ask && view.ask.is_none()).then_some("ask"))
}

/// Returns the issue of a metric whose value does not depend on the next observation alone.
fn missing_value(armed: &ArmedRule, view: &StockInputs<'_>, metric: Metric) -> Option<EvaluationIssue> {
    let (have, need) = (view.history.len(), required_sessions(metric));
    if have < usize::from(need) {
        let have = u16::try_from(have).unwrap_or(u16::MAX);
        return Some(EvaluationIssue::TooLittleHistory { have, need });
    }
    let figures = &view.fundamentals;
    let missing = |figure: Option<Decimal>, issue| figure.is_none().then_some(issue);
    let base = match metric {
        Metric::ChangePct(ChangeBase::OfAlert) => Some(armed.change_base()),
        Metric::ChangePct(base) => Some(base),
        _ => None,
    };
    match metric {
        Metric::ChangePct(_) if base == Some(ChangeBase::Creation) && armed.rule.initial_price.is_none() => {
            Some(EvaluationIssue::NoInitialPrice)
        }
        Metric::ChangePct(_) if base == Some(ChangeBase::PrevClose) && have == 0 => {
            Some(EvaluationIssue::TooLittleHistory { have: 0, need: 1 })
        }
        Metric::Rsi(_) => {
            let newest = view.price.map(market::Price::micros);
            let newest = newest.or_else(|| view.history.close_back(0))?;
            let is_flat = view.history.bars().all(|bar| bar.close.micros() == newest);
            is_flat.then_some(EvaluationIssue::NoMovement)
        }
        Metric::RelativeVolume(n) => {
            let sum = view.history.sum_of_volumes(n.get().into());
            (sum == Some(0)).then_some(EvaluationIssue::NoMovement)
        }
        Metric::Pe => earnings_issue(figures, EpsBasis::Trailing),
        Metric::ForwardPe => earnings_issue(figures, EpsBasis::Forward),
        Metric::Eps => missing(figures.trailing_eps, EvaluationIssue::NoEarningsPerShare),
        Metric::MarketCap => missing(figures.market_cap, EvaluationIssue::NoSourceOfMetric("market_cap")),
        Metric::DividendYield => missing(
            figures.dividend_yield,
            EvaluationIssue::NoSourceOfMetric("dividend_yield"),
        ),
        Metric::Mentions | Metric::MentionsRatio => view.mentions.is_none().then_some(EvaluationIssue::TooFewMentions),
        Metric::DaysToEarnings => {
            let is_known = view.earnings.iter().any(|date| *date >= view.today);
            (!is_known).then_some(EvaluationIssue::NoDateKnown)
        }
        Metric::DaysToExDividend => {
            let is_known = view.dividends.iter().any(|dividend| dividend.ex_date >= view.today);
            (!is_known).then_some(EvaluationIssue::NoDateKnown)
        }
        Metric::DaysToPayment => {
            let mut dates = view.dividends.iter().filter_map(|dividend| dividend.payment_date);
            (!dates.any(|date| date >= view.today)).then_some(EvaluationIssue::NoDateKnown)
        }
        _ => None,
    }
}
