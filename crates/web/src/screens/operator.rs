//! The state of the whole service, for operators.

use alerts::engine::{BlindStock, EvaluationIssue};
use askama::Template;
use delivery::messages::OutboxMessage;
use jiff::Timestamp;
use service::cron::Job;
use service::operator::ServiceOverview;

use crate::filters;
use crate::layout::Shell;

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

/// Alerts on a stock that cannot be evaluated, with the fix.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlindStockLine {
    /// The symbol.
    pub symbol: String,
    /// The number of alerts.
    pub alerts: usize,
    /// The cause.
    pub cause: String,
    /// The id of the fix's text.
    pub fix: &'static str,
}

impl BlindStockLine {
    fn of(blind: &BlindStock) -> Self {
        Self {
            symbol: blind.symbol.to_string(),
            alerts: blind.alerts,
            cause: blind.issue.to_string(),
            fix: match blind.issue {
                EvaluationIssue::StaleQuotes | EvaluationIssue::NoPrice => "fix-quotes",
                EvaluationIssue::LastPriceInFuture { .. } => "fix-clock",
                EvaluationIssue::TooLittleHistory { .. } => "fix-history",
                _ => "fix-source",
            },
        }
    }
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

/// A measured value of the service.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Measurement {
    /// Its name and labels, as Prometheus has them.
    pub name: String,
    /// Its value.
    pub value: String,
}

impl Measurement {
    /// Reads the values of the market data sources and of the evaluation from the Prometheus text format.
    #[must_use]
    pub fn all_of(metrics: &str) -> Vec<Self> {
        const SHOWN: [&str; 4] = [
            "bellwether_feed_",
            "bellwether_quotes_",
            "bellwether_evaluation_behind",
            "bellwether_future_state_stocks",
        ];
        let is_shown = |line: &&str| SHOWN.iter().any(|name| line.starts_with(name));
        let lines = metrics.lines().filter(is_shown);
        lines
            .filter_map(|line| line.rsplit_once(' '))
            .map(|(name, value)| Self {
                name: name.trim_start_matches("bellwether_").to_owned(),
                value: value.to_owned(),
            })
            .collect()
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
    /// The stocks whose alerts cannot be evaluated.
    pub blind: Vec<BlindStockLine>,
    /// The numbers of deliveries and messages that wait.
    pub pending: [u64; 2],
    /// The last messages that were stored instead of sent.
    pub outbox: Vec<OutboxLine>,
    /// Measured values.
    pub measurements: Vec<Measurement>,
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
            blind: overview.blind.iter().take(50).map(BlindStockLine::of).collect(),
            pending: [overview.pending_deliveries, overview.pending_messages],
            outbox: outbox.iter().map(OutboxLine::of).collect(),
            measurements: Measurement::all_of(metrics),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_are_those_of_sources_and_evaluation() {
        let text = "# TYPE bellwether_feed_stream_live gauge\nbellwether_feed_stream_live{source=\"a b\"} 1\nhttp_requests_total 7\n";
        let expected = Measurement {
            name: "feed_stream_live{source=\"a b\"}".to_owned(),
            value: "1".to_owned(),
        };
        assert_eq!(Measurement::all_of(text), [expected]);
    }
}
