//! The state of the whole service, for operators.

mod feed;
mod gaps;

use alerts::engine::{BlindStock, EvaluationIssue};
use askama::Template;
use delivery::messages::OutboxMessage;
use jiff::Timestamp;
use market::Symbol;
use service::cron::Job;
use service::operator::ServiceOverview;

use crate::filters;
use crate::layout::Shell;
use crate::texts;
pub use feed::{FeedFact, FeedValue, ProviderLine};
pub use gaps::GapLine;

/// An account.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccountLine {
    /// The email address.
    pub email: String,
    /// The name of the plan.
    pub plan: &'static str,
    /// Whether the address is verified.
    pub is_verified: bool,
    /// Whether the owner operates the service.
    pub is_operator: bool,
    /// When it was created.
    pub created_at: Timestamp,
}

/// Stocks whose alerts cannot be evaluated for one cause, with the fix.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlindCauseLine {
    /// The cause.
    pub cause: String,
    /// The id of the fix's text.
    pub fix: &'static str,
    /// The number of alerts.
    pub alerts: usize,
    /// The first stocks, those with the most alerts first.
    pub stocks: String,
    /// The number of further stocks.
    pub more: usize,
}

impl BlindCauseLine {
    /// Groups stocks by their causes. The cause with the most alerts is the first.
    fn all_of(blind: &[BlindStock]) -> Vec<Self> {
        let mut lines: Vec<Self> = Vec::new();
        for stock in blind {
            let cause = stock.issue.to_string();
            let place = lines.iter().position(|line| line.cause == cause).unwrap_or_else(|| {
                let of_cause = blind.iter().filter(|other| other.issue == stock.issue);
                let (stocks, more) = first_stocks(of_cause.map(|other| other.symbol));
                lines.push(Self {
                    cause,
                    fix: fix(stock.issue),
                    alerts: 0,
                    stocks,
                    more,
                });
                lines.len() - 1
            });
            if let Some(line) = lines.get_mut(place) {
                line.alerts += stock.alerts;
            }
        }
        lines.sort_by_key(|line| std::cmp::Reverse(line.alerts));
        lines
    }
}

/// Returns the id of the text that says what to do about a cause.
const fn fix(issue: EvaluationIssue) -> &'static str {
    match issue {
        EvaluationIssue::StaleQuotes | EvaluationIssue::NoPrice => "fix-quotes",
        EvaluationIssue::LastPriceInFuture { .. } => "fix-clock",
        EvaluationIssue::TooLittleHistory { .. } => "fix-history",
        EvaluationIssue::NoMovement => "fix-movement",
        EvaluationIssue::NoInitialPrice => "fix-initial-price",
        EvaluationIssue::EarningsNotPositive => "fix-loss",
        EvaluationIssue::NoDateKnown => "fix-date",
        EvaluationIssue::TooFewMentions => "fix-mentions",
        EvaluationIssue::NoExtendedHours => "fix-extended-hours",
        EvaluationIssue::NoEarningsPerShare
        | EvaluationIssue::NoSource(_)
        | EvaluationIssue::NoSourceOfMetric(_)
        | EvaluationIssue::NeverDelivered(_) => "fix-source",
    }
}

/// Returns the id of the text of a job.
const fn job_text(job: &Job) -> &'static str {
    match job {
        Job::Evaluate => "job-evaluate",
        Job::DailyReminders => "job-daily-reminders",
        Job::Calendar => "job-calendar",
        Job::Catalog => "job-catalog",
        Job::Bars => "job-bars",
        Job::Fundamentals => "job-fundamentals",
        Job::Events => "job-events",
        Job::Analyst => "job-analyst",
        Job::Deliveries => "job-deliveries",
        Job::PaperTrades => "job-paper-trades",
        Job::Cleanup => "job-cleanup",
    }
}

/// The number of symbols in a line.
const MAX_SYMBOLS: usize = 10;

/// Returns the first symbols, and the number of the others.
fn first_stocks(symbols: impl Iterator<Item = Symbol>) -> (String, usize) {
    let symbols: Vec<String> = symbols.map(|symbol| symbol.to_string()).collect();
    let shown = symbols.len().min(MAX_SYMBOLS);
    let first: Vec<&str> = symbols.iter().take(shown).map(String::as_str).collect();
    (first.join(", "), symbols.len() - shown)
}

/// A message that the service keeps because it sends none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutboxLine {
    /// The recipient.
    pub to: String,
    /// The subject, or the text of a message without one.
    pub subject: String,
    /// When it was stored.
    pub created_at: Timestamp,
}

impl OutboxLine {
    /// Formats a message.
    #[must_use]
    pub fn of(message: &OutboxMessage) -> Self {
        Self {
            to: message.to.clone(),
            subject: message.subject.clone().unwrap_or_else(|| message.text.clone()),
            created_at: message.created_at,
        }
    }
}

/// The state of the service.
#[derive(Template, Debug)]
#[template(path = "operator.html")]
pub struct OperatorPage {
    /// The frame.
    pub shell: Shell,
    /// Why the service is not ready; `None` if it is.
    pub not_ready: Option<String>,
    /// The newest accounts.
    pub accounts: Vec<AccountLine>,
    /// The number of all accounts.
    pub account_count: u64,
    /// The numbers of alerts that are evaluated, wait and are blind.
    pub alerts: [usize; 3],
    /// The causes for which alerts cannot be evaluated.
    pub blind: Vec<BlindCauseLine>,
    /// The kinds of data that no source delivers.
    pub missing_feeds: Vec<&'static str>,
    /// The gaps in the received prices, the open ones first.
    pub gaps: Vec<GapLine>,
    /// The numbers of deliveries and messages that wait.
    pub pending: [u64; 2],
    /// The last messages that were stored instead of sent.
    pub outbox: Vec<OutboxLine>,
    /// The answers of each provider of market data.
    pub providers: Vec<ProviderLine>,
    /// The facts about the received prices.
    pub feed: Vec<FeedFact>,
    /// The settings in effect with masked secrets.
    pub settings: String,
}

impl OperatorPage {
    /// Formats the state.
    #[must_use]
    pub fn new(
        shell: Shell,
        overview: &ServiceOverview,
        not_ready: Option<String>,
        outbox: &[OutboxMessage],
        metrics: &str,
        settings: &str,
    ) -> Self {
        let accounts = overview.accounts.items.iter().map(|account| AccountLine {
            email: account.email.clone(),
            plan: account.plan.name(),
            is_verified: account.is_verified,
            is_operator: account.is_operator,
            created_at: account.created_at,
        });
        Self {
            settings: settings.to_owned(),
            shell,
            not_ready,
            accounts: accounts.collect(),
            account_count: overview.accounts.total,
            alerts: [overview.alerts.ok, overview.alerts.waiting, overview.alerts.blind],
            blind: BlindCauseLine::all_of(&overview.blind),
            missing_feeds: gaps::feed_names(&overview.missing_feeds),
            gaps: overview.gaps.iter().map(GapLine::of).collect(),
            pending: [overview.pending_deliveries, overview.pending_messages],
            outbox: outbox.iter().map(OutboxLine::of).collect(),
            providers: overview.providers.iter().map(ProviderLine::of).collect(),
            feed: feed::facts(overview, metrics),
        }
    }
}

fn more_text(count: &usize) -> String {
    texts::text_with("gap-more", [("count", (*count).into())])
}

fn failures_text(count: u32) -> String {
    texts::text_with("gap-failures", [("count", count.into())])
}

#[cfg(test)]
mod tests {
    use ::alerts::engine::EvaluationCounts;
    use evaluation::feed::{GapCause, GapReport, GapState, TimeRange};
    use service::Page;

    use super::*;

    #[test]
    fn blind_stocks_are_grouped_by_their_causes() {
        let blind = |symbol: &str, issue, alerts| BlindStock {
            symbol: symbol.parse().unwrap(),
            issue,
            alerts,
        };
        let lines = BlindCauseLine::all_of(&[
            blind("AAPL", EvaluationIssue::NoEarningsPerShare, 4),
            blind("MSFT", EvaluationIssue::StaleQuotes, 3),
            blind("NVDA", EvaluationIssue::StaleQuotes, 2),
        ]);
        let shown = lines.iter().map(|line| (line.stocks.as_str(), line.alerts, line.fix));
        let expected = [("MSFT, NVDA", 5, "fix-quotes"), ("AAPL", 4, "fix-source")];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn gaps_are_listed_with_their_cause_and_state() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let gap = |state| GapReport {
            symbols: ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L"]
                .map(|name| name.parse().unwrap())
                .to_vec(),
            times: TimeRange {
                from: at("2024-03-08T15:00:00Z"),
                to: at("2024-03-08T15:20:00Z"),
            },
            cause: GapCause::StreamLost,
            state,
        };
        let overview = ServiceOverview {
            gaps: vec![
                gap(GapState::Open {
                    failures: 2,
                    next_request_at: at("2024-03-08T15:21:00Z"),
                }),
                gap(GapState::Filled(at("2024-03-08T15:22:00Z"))),
            ],
            missing_feeds: Vec::new(),
            providers: Vec::new(),
            live: evaluation::feed::LiveSourceSnapshot::default(),
            accounts: Page {
                items: Vec::new(),
                total: 0,
            },
            alerts: EvaluationCounts::default(),
            blind: Vec::new(),
            pending_deliveries: 0,
            pending_messages: 0,
        };
        let shell = crate::layout::tests::shell();
        let page = OperatorPage::new(shell, &overview, None, &[], "", "").render().unwrap();
        for part in [
            "A, B, C, D, E, F, G, H, I, J</span> and 2 more",
            "2024-03-08 15:20:00.000",
            "The stream of prices was lost.",
            "Open, requested again at",
            "2 requests failed",
            "Filled",
            "2024-03-08 15:22:00.000",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }
}
