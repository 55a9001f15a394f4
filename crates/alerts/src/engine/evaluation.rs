//! The evaluation status of alerts.

use std::fmt;

use jiff::{SignedDuration, Timestamp};
use market::calendar::{Session, new_york_date};
use market::{Price, Symbol};

use super::Engine;
use super::event::{Feed, StockIndex};
use super::group::volume_sum;
use super::hot_line::HotLine;
use super::registry::ArmedAlert;
use super::stock::Stock;
use crate::alert::{Alert, AlertId};
use crate::condition::{Condition, EpsBasis};
use crate::metrics::FundamentalFigures;

/// The evaluation status of an alert.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Evaluation {
    /// The status.
    pub state: EvaluationStatus,
    /// The start of the status, as far as it is known.
    pub since: Timestamp,
}

/// Whether an alert is evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EvaluationStatus {
    /// The alert is evaluated.
    Ok,
    /// The alert is not evaluated yet. No action is needed.
    Waiting(EvaluationIssue),
    /// The alert is not evaluated, and waiting alone does not help.
    Blind(EvaluationIssue),
}

/// The reason for which an alert is not evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EvaluationIssue {
    /// No price was ever observed.
    NoPrice,
    /// The history has too few completed sessions.
    TooLittleHistory {
        /// The number of completed sessions.
        have: u16,
        /// The required number of sessions.
        need: u16,
    },
    /// The stock did not move, or was not traded, over the whole span of the indicator.
    NoMovement,
    /// A percent change has no initial price. The first current price becomes it.
    NoInitialPrice,
    /// No earnings per share are known.
    NoEarningsPerShare,
    /// Earnings per share are zero or negative.
    EarningsNotPositive,
    /// No future date is known.
    NoDateKnown,
    /// The mentions do not cover eight days without a gap.
    TooFewMentions,
    /// Quotes stopped during the session.
    StaleQuotes,
    /// The source delivers no prices of extended hours, and it is their time.
    NoExtendedHours,
    /// The last price has a timestamp in the future, so it is not used.
    LastPriceInFuture {
        /// The time of the price.
        at: Timestamp,
    },
    /// No source delivers the required data.
    NoSource(Feed),
    /// No source delivers the metric of an expression.
    NoSourceOfMetric(&'static str),
    /// No source has delivered the data: no mentions of the stock within eight days, or nothing at all of another kind.
    NeverDelivered(Feed),
}

/// The maximum age of mentions. A stock without newer mentions has no source of mentions.
const MENTIONS_MAX_AGE: SignedDuration = SignedDuration::from_hours(8 * 24);

impl fmt::Display for EvaluationIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPrice => f.write_str("no price has been observed yet"),
            Self::TooLittleHistory { have, need } => {
                write!(f, "not enough history: {have} of {need} completed sessions")
            }
            Self::NoMovement => f.write_str("the stock has not moved or was not traded over the whole period"),
            Self::NoInitialPrice => {
                f.write_str("no initial price yet; the first current price becomes the initial price")
            }
            Self::NoEarningsPerShare => f.write_str("no earnings per share are known"),
            Self::EarningsNotPositive => f.write_str("earnings per share are not positive, so there is no P/E"),
            Self::NoDateKnown => f.write_str("no future date is known"),
            Self::TooFewMentions => f.write_str("mentions do not cover eight days without a gap yet"),
            Self::StaleQuotes => f.write_str("quotes have stopped during the session"),
            Self::NoExtendedHours => {
                f.write_str("no source delivers prices of extended hours; the alert waits for the regular session")
            }
            Self::LastPriceInFuture { at } => write!(
                f,
                "the last price is dated {at:.0}, which is in the future; the alert waits for the next price"
            ),
            Self::NoSource(feed) => write!(f, "no source delivers {}", feed.name()),
            Self::NoSourceOfMetric(metric) => write!(f, "no source delivers {metric}"),
            Self::NeverDelivered(Feed::Mentions) => {
                f.write_str("no source has delivered mentions of this stock in the last eight days")
            }
            Self::NeverDelivered(feed) => write!(f, "no source has delivered {} yet", feed.name()),
        }
    }
}

impl Feed {
    /// Returns the name of the feed's data.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quotes => "quotes",
            Self::Fundamentals => "fundamentals",
            Self::Earnings => "earnings dates",
            Self::Dividends => "dividends",
            Self::Insiders => "insider trades",
            Self::Mentions => "mentions",
        }
    }

    /// Returns the feed that a condition requires; `None` for conditions of the clock alone.
    #[must_use]
    pub const fn of(condition: &Condition) -> Option<Self> {
        match condition {
            Condition::SocialBuzz(_) => Some(Self::Mentions),
            Condition::InsiderTransactions(_) => Some(Self::Insiders),
            Condition::EarningsAnnouncement { .. } => Some(Self::Earnings),
            Condition::DividendExDate { .. } | Condition::DividendPayment { .. } => Some(Self::Dividends),
            Condition::Reminder { .. } | Condition::DailyReminder(_) => None,
            _ => Some(Self::Quotes),
        }
    }
}

/// A stock whose quotes stopped during the current session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StaleStock {
    /// The stock.
    pub symbol: Symbol,
    /// The time of its last observation.
    pub last_at: Timestamp,
    /// The time from which its quotes are stale.
    pub since: Timestamp,
}

/// The number of alerts in each evaluation status.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EvaluationCounts {
    /// Alerts that are evaluated.
    pub ok: usize,
    /// Alerts that wait.
    pub waiting: usize,
    /// Alerts that are blind.
    pub blind: usize,
}

impl Engine {
    /// Counts the armed alerts by evaluation status. It visits each of them.
    #[must_use]
    pub fn evaluation_counts(&self, now: Timestamp) -> EvaluationCounts {
        let mut counts = EvaluationCounts::default();
        let alerts = self.registry.live();
        let issues = alerts.map(|slot| self.evaluation_issue(self.registry.alert(slot), now));
        let of_rules = self.rules.iter().map(|rule| self.rule_issue(rule, now));
        for issue in issues.chain(of_rules.map(|found| found.map(|(_, issue)| issue))) {
            match issue {
                None => counts.ok += 1,
                Some(reason) if reason.is_blind() => counts.blind += 1,
                Some(_) => counts.waiting += 1,
            }
        }
        counts
    }

    /// Returns the evaluation status of an alert; `None` if it is not armed.
    #[must_use]
    pub fn evaluation(&self, id: AlertId, now: Timestamp) -> Option<Evaluation> {
        let (armed_at, issue) = if let Some(slot) = self.registry.find(id) {
            let armed = self.registry.alert(slot);
            let issue = self.evaluation_issue(armed, now);
            (armed.armed_at, issue.map(|issue| (armed.stock, issue)))
        } else {
            let rule = self.rules.find(id)?;
            (rule.armed_at(), self.rule_issue(rule, now))
        };
        Some(self.status_of(issue, armed_at, now))
    }

    /// Returns the evaluation status of an active alert that another engine with the same market data evaluates, by its stored state.
    /// Without any data of one of its stocks, it waits for a price.
    #[must_use]
    pub fn evaluation_elsewhere(&self, alert: &Alert, now: Timestamp) -> Evaluation {
        if alert.lifecycle.is_some() {
            let Some(rule) = self.armed_elsewhere(alert) else {
                return waits_for_price(alert.armed_at);
            };
            return self.status_of(self.rule_issue(&rule, now), alert.armed_at, now);
        }
        let Some(&stock) = self.indices.get(&alert.symbol) else {
            return waits_for_price(alert.armed_at);
        };
        let issue = self.condition_issue(&alert.condition, stock, alert.initial_price, now);
        self.status_of(issue.map(|issue| (stock, issue)), alert.armed_at, now)
    }

    fn status_of(
        &self,
        issue: Option<(StockIndex, EvaluationIssue)>,
        armed_at: Timestamp,
        now: Timestamp,
    ) -> Evaluation {
        let (state, since) = match issue {
            Some((stock, reason @ EvaluationIssue::StaleQuotes)) => {
                let since = self.stale_since(&self.hot.get(stock.0 as usize), now);
                (EvaluationStatus::Blind(reason), since.unwrap_or(now))
            }
            Some((_, reason)) if reason.is_blind() => (EvaluationStatus::Blind(reason), armed_at),
            Some((_, reason)) => (EvaluationStatus::Waiting(reason), armed_at),
            None => (EvaluationStatus::Ok, armed_at),
        };
        Evaluation { state, since }
    }

    /// Returns the stocks whose quotes stopped during the current session. Their alerts are blind because of
    /// [`EvaluationIssue::StaleQuotes`]. It visits each stock once and no alert.
    #[must_use]
    pub fn stale_stocks(&self, now: Timestamp) -> Vec<StaleStock> {
        let Some(session) = self.calendar.session_at(now) else {
            return Vec::new();
        };
        if self.feeds.is_lost(Feed::Quotes) {
            return Vec::new();
        }
        let stocks = self.symbols.iter().zip(self.hot.iter());
        let stale = stocks.filter_map(|(&symbol, hot)| {
            let since = self.stale_from(&hot, &session).filter(|since| *since < now)?;
            (hot.last != 0).then_some(StaleStock {
                symbol,
                last_at: hot.last_at(),
                since,
            })
        });
        stale.collect()
    }

    pub(super) fn evaluation_issue(&self, armed: &ArmedAlert, now: Timestamp) -> Option<EvaluationIssue> {
        self.condition_issue(&armed.condition, armed.stock, armed.initial_price, now)
    }

    /// Returns the issue of one of the 23 conditions.
    pub(super) fn condition_issue(
        &self,
        condition: &Condition,
        stock: StockIndex,
        initial_price: Option<Price>,
        now: Timestamp,
    ) -> Option<EvaluationIssue> {
        let feed = Feed::of(condition)?;
        if self.feeds.is_lost(feed) {
            return Some(EvaluationIssue::NoSource(feed));
        }
        if matches!(condition, Condition::PeRatio { .. }) && self.feeds.is_lost(Feed::Fundamentals) {
            return Some(EvaluationIssue::NoSource(Feed::Fundamentals));
        }
        let at = stock.0 as usize;
        let stock = &self.stocks[at];
        if feed != Feed::Quotes {
            if !self.has_delivered(feed, stock, now) {
                return Some(EvaluationIssue::NeverDelivered(feed));
            }
            return missing_fact(stock, condition, now);
        }
        let hot = &self.hot.get(at);
        let stale = || (self.stale_since(hot, now)? < now).then_some(EvaluationIssue::StaleQuotes);
        match missing_market_data(stock, hot, condition, initial_price) {
            // The initial price also waits for quotes, so stale quotes are the more specific issue.
            Some(EvaluationIssue::NoInitialPrice) if hot.last != 0 => stale().or(Some(EvaluationIssue::NoInitialPrice)),
            Some(missing) => Some(missing),
            None if hot.last == 0 => Some(EvaluationIssue::NoPrice),
            None => stale(),
        }
    }

    /// Returns whether a feed delivers the data that alerts on the stock need. Mentions are checked for each stock, because a
    /// source omits the stocks that it does not follow.
    pub(super) fn has_delivered(&self, feed: Feed, stock: &Stock, now: Timestamp) -> bool {
        if feed != Feed::Mentions {
            return self.feeds.has_delivered(feed);
        }
        let newest = stock.facts.as_deref().and_then(|facts| facts.buzz.newest());
        newest.is_some_and(|newest| now.duration_since(newest) <= MENTIONS_MAX_AGE)
    }

    /// Returns the time from which a stock's quotes are stale; `None` while the market is closed.
    pub(super) fn stale_since(&self, hot: &HotLine, now: Timestamp) -> Option<Timestamp> {
        self.stale_from(hot, &self.calendar.session_at(now)?)
    }

    fn stale_from(&self, hot: &HotLine, session: &Session) -> Option<Timestamp> {
        let last_due = if self.calendar.is_always_open() {
            hot.last_at()
        } else {
            hot.last_at().max(session.open)
        };
        last_due.checked_add(self.config.stale_after).ok()
    }
}

const fn waits_for_price(since: Timestamp) -> Evaluation {
    Evaluation {
        state: EvaluationStatus::Waiting(EvaluationIssue::NoPrice),
        since,
    }
}

impl EvaluationIssue {
    /// Returns whether waiting alone does not help.
    pub(super) const fn is_blind(self) -> bool {
        matches!(
            self,
            Self::NoEarningsPerShare
                | Self::EarningsNotPositive
                | Self::StaleQuotes
                | Self::NoSource(_)
                | Self::NoSourceOfMetric(_)
                | Self::NeverDelivered(_)
        )
    }
}

fn missing_fact(stock: &Stock, condition: &Condition, now: Timestamp) -> Option<EvaluationIssue> {
    let facts = stock.facts.as_deref();
    match condition {
        Condition::SocialBuzz(_) => {
            (!facts.is_some_and(|facts| facts.buzz.is_known())).then_some(EvaluationIssue::TooFewMentions)
        }
        Condition::InsiderTransactions(_) => None,
        _ => {
            let today = new_york_date(now);
            let due = facts.and_then(|facts| facts.next_due(condition, today));
            due.is_none().then_some(EvaluationIssue::NoDateKnown)
        }
    }
}

fn missing_market_data(
    stock: &Stock,
    hot: &HotLine,
    condition: &Condition,
    initial_price: Option<Price>,
) -> Option<EvaluationIssue> {
    let have = stock.history.len();
    let sessions = |need: u16| {
        let have = u16::try_from(have).unwrap_or(u16::MAX);
        (have < need).then_some(EvaluationIssue::TooLittleHistory { have, need })
    };
    match *condition {
        Condition::PriceChange { .. } if initial_price.is_none() => Some(EvaluationIssue::NoInitialPrice),
        Condition::NewExtreme { .. } => sessions(1),
        Condition::MaCrossover { .. } => sessions(200),
        Condition::MaTouch { period, .. } => sessions(period - 1),
        Condition::Rsi { .. } => sessions(14).or_else(|| {
            let price = if hot.last == 0 {
                stock.history.close_back(0)?
            } else {
                hot.last
            };
            let rsi = stock.history.rsi().micros_at(price);
            rsi.is_none().then_some(EvaluationIssue::NoMovement)
        }),
        Condition::VolumeChange { baseline, .. } => sessions(baseline.sessions()).or_else(|| {
            let volume = volume_sum(&stock.history, baseline);
            volume.is_none().then_some(EvaluationIssue::NoMovement)
        }),
        Condition::PeRatio { earnings, .. } => earnings_issue(&stock.fundamentals, earnings),
        _ => None,
    }
}

/// Returns why a price cannot be divided by the earnings per share.
pub(super) fn earnings_issue(figures: &FundamentalFigures, basis: EpsBasis) -> Option<EvaluationIssue> {
    match figures.eps(basis) {
        None => Some(EvaluationIssue::NoEarningsPerShare),
        Some(eps) if eps.micros() <= 0 => Some(EvaluationIssue::EarningsNotPositive),
        Some(_) => None,
    }
}
