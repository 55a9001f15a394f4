//! The health of the market data by provider, in units that a person reads.

use evaluation::feed::{FilterReason, ProviderReport, StreamState};
use jiff::{SignedDuration, Timestamp};
use service::operator::ServiceOverview;

use crate::texts;

/// The answers of a provider in one capability since the start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProviderLine {
    /// The provider with its plan.
    pub provider: String,
    /// The kind of data.
    pub data: String,
    /// The number of answered requests.
    pub answered: u64,
    /// The number of failed requests.
    pub failed: u64,
    /// The time of the last answer.
    pub last_answer_at: Option<Timestamp>,
    /// The time of the newest price.
    pub newest_quote_at: Option<Timestamp>,
    /// How old the newest price was on arrival.
    pub delay: Option<String>,
    /// The last error, with its time.
    pub last_error: Option<(Timestamp, String)>,
    /// The end of the pause after failures.
    pub paused_until: Option<Timestamp>,
    /// The request limits of the plan.
    pub limits: String,
}

impl ProviderLine {
    /// Formats a report.
    #[must_use]
    pub fn of(report: &ProviderReport) -> Self {
        let answers = &report.answers;
        let limits = report.request_limits.iter().map(|limit| {
            let window = SignedDuration::try_from(limit.window).unwrap_or(SignedDuration::MAX);
            let values = [("count", limit.requests.into()), ("time", duration_text(window).into())];
            texts::text_with("provider-limit", values)
        });
        Self {
            provider: format!("{} ({})", report.provider, report.plan),
            data: report.capability.to_string().replace(['_', '-'], " "),
            answered: answers.answered,
            failed: answers.failed,
            last_answer_at: answers.last_answer_at,
            newest_quote_at: answers.newest_quote.map(|(at, _)| at),
            delay: answers.newest_quote.map(|(_, delay)| duration_text(delay)),
            last_error: answers.last_error.as_ref().map(|(at, error)| (*at, error.to_string())),
            paused_until: report.backing_off_until,
            limits: limits.collect::<Vec<_>>().join(", "),
        }
    }
}

/// Returns a duration with its unit.
fn duration_text(duration: SignedDuration) -> String {
    match duration.as_secs() {
        ..1 => format!("{} ms", duration.as_millis().max(0)),
        seconds @ 1..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3_600),
    }
}

/// A fact about the received prices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FeedFact {
    /// The id of its text.
    pub text: &'static str,
    /// Its value with its unit.
    pub value: FeedValue,
}

/// The value of a fact.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FeedValue {
    /// A number.
    Count(u64),
    /// Words.
    Words(String),
    /// An instant.
    At(Timestamp),
}

/// Returns the facts about the received prices: those of all sources, and those of providers.
pub(super) fn facts(overview: &ServiceOverview, metrics: &str) -> Vec<FeedFact> {
    let mut facts = Vec::new();
    let mut add = |text, value| facts.push(FeedFact { text, value });
    for (name, text) in [
        ("bellwether_quotes_total", "feed-accepted"),
        ("bellwether_future_state_stocks", "feed-future"),
    ] {
        if let Some(count) = measured(metrics, name) {
            add(text, FeedValue::Count(count));
        }
    }
    if let Some(behind) = measured(metrics, "bellwether_evaluation_behind") {
        let text = if behind == 0 { "feed-in-time" } else { "feed-behind" };
        add("feed-evaluation", FeedValue::Words(texts::text(text)));
    }
    let live = &overview.live;
    if overview.providers.is_empty() {
        return facts;
    }
    if let Some(at) = live.polled_at {
        add("feed-polled", FeedValue::At(at));
    }
    if let Some(stream) = &live.stream {
        let text = match stream.state {
            StreamState::Live => "feed-stream-live",
            _ => "feed-stream-lost",
        };
        add("feed-stream", FeedValue::Words(texts::text(text)));
        if let Some(at) = stream.last_message_at {
            add("feed-stream-message", FeedValue::At(at));
        }
        add("feed-stream-losses", FeedValue::Count(stream.disconnections));
    }
    add("feed-passed", FeedValue::Count(live.quotes.passed));
    for reason in FilterReason::ALL {
        let count = live.quotes.of(reason);
        if count > 0 {
            add(reason_text(reason), FeedValue::Count(count));
        }
    }
    add("feed-unanswered", FeedValue::Count(live.failed_requests));
    add("feed-gaps-open", FeedValue::Count(live.gaps_open as u64));
    add("feed-gaps-filled", FeedValue::Count(live.gaps_filled));
    add("feed-gaps-given-up", FeedValue::Count(live.gaps_given_up));
    facts
}

const fn reason_text(reason: FilterReason) -> &'static str {
    match reason {
        FilterReason::Ahead => "feed-quotes-ahead",
        FilterReason::Stale => "feed-quotes-stale",
        FilterReason::OutOfOrder => "feed-quotes-out-of-order",
        FilterReason::Duplicate => "feed-quotes-duplicate",
        FilterReason::Crossed => "feed-quotes-crossed",
        FilterReason::NoPrice => "feed-quotes-no-price",
        FilterReason::Jump => "feed-quotes-jump",
        FilterReason::Late => "feed-quotes-late",
    }
}

/// Returns a value without labels from the Prometheus text format.
fn measured(metrics: &str, name: &str) -> Option<u64> {
    let mut lines = metrics.lines();
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    value.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        for (milliseconds, text) in [
            (-5, "0 ms"),
            (999, "999 ms"),
            (119_000, "119 s"),
            (120_000, "2 min"),
            (7_200_000, "2 h"),
        ] {
            assert_eq!(duration_text(SignedDuration::from_millis(milliseconds)), text);
        }
    }

    #[test]
    fn values_are_read_by_their_whole_name() {
        let text =
            "# TYPE bellwether_quotes_total counter\nbellwether_quotes_total 7\nbellwether_quotes_total_more 8\n";
        assert_eq!(measured(text, "bellwether_quotes_total"), Some(7));
        assert_eq!(measured(text, "bellwether_quotes"), None);
    }
}
