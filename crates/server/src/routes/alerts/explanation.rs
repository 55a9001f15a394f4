//! Explanations in responses.

use alerts::engine::{ExplainedTerm, TermSource};
use service::alerts::preview::resolution::Resolution;
use service::alerts::{BlockingReason, ExplainedAlert, ExplainedPast};

use crate::routes::prelude::*;

/// Why an alert fires, or why not.
#[derive(Debug, Serialize, ToSchema)]
pub struct AlertExplanation {
    /// The condition as a sentence.
    #[schema(example = "AAPL falls to 180.00 or below while its 14-day RSI is under 30")]
    pub sentence: String,
    /// Whether the condition holds; null if that is unknown.
    #[schema(required, example = false)]
    pub holds: Option<bool>,
    /// One term for each comparison, in the order of the text.
    pub terms: Vec<TermView>,
    /// The reasons why the alert does not fire, besides its condition.
    pub gates: Vec<GateView>,
    /// The next instant at which the alert is judged without a new observation; null with `at`.
    #[schema(required, format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub next_check: Option<String>,
    /// The resolution of the stored bars that a past moment is explained from: `intraday` if those of its session are intraday bars,
    /// such as minutes, `mixed` if those of some stocks are, else `1d`. Each bar counts as four observations: open, low and high (the one nearer to the open first), close.
    /// Absent without `at`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, pattern = "^(1d|intraday|mixed)$", example = "1d")]
    pub resolution: Option<&'static str>,
    /// The time of a later change of the condition: the explanation is that of the present condition. Absent if it has not changed
    /// since, and without `at`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime, example = "2026-03-03T15:04:00.000Z")]
    pub changed_at: Option<String>,
}

/// One comparison of a condition.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ExplainedTerm)]
pub struct TermView {
    /// The text.
    #[schema(example = "price <= 180")]
    pub text: String,
    /// The present value of the left side; null if it has none.
    #[schema(required, example = 189.2)]
    pub left: Option<f64>,
    /// The present value of the right side; null if it has none.
    #[schema(required, example = 180)]
    pub right: Option<f64>,
    /// Whether the comparison holds; null if that is unknown.
    #[schema(required, example = false)]
    pub holds: Option<bool>,
    /// The distance between the sides in percent of the left one.
    #[schema(required, example = 4.862_579)]
    pub distance_pct: Option<f64>,
    /// The time of the oldest observation of its stocks.
    #[schema(required, format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub as_of: Option<String>,
    /// The kinds of data that the sides are calculated from: `quotes`, `daily bars`, `fundamentals`, `mentions`, `insider trades`,
    /// `earnings dates`, `dividend dates`, separated by commas. A past moment has `intraday bars` or `daily bars` in place of quotes.
    #[schema(example = "quotes, daily bars")]
    pub source: String,
}

/// A reason why an alert does not fire, besides its condition.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AlertGate)]
pub struct GateView {
    /// `market_closed`, `stale_quote`, `no_data`, `snoozed`, `cooldown`, `waiting_to_rearm`, `holding`, `second_judgement`, `paused`,
    /// `triggered`, `inactive`, `plan` or `quiet_hours`.
    #[schema(example = "cooldown")]
    pub gate: &'static str,
    /// A sentence for the owner.
    #[schema(example = "the cooldown ends at 2026-03-02T15:04:00Z")]
    pub message: String,
    /// The instant at which it ends by itself.
    #[schema(required, format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub until: Option<String>,
}

impl AlertExplanation {
    pub(crate) fn of(found: ExplainedAlert) -> Self {
        let explanation = found.explanation;
        let resolution = found.past.map(|past| past.resolution);
        Self {
            sentence: found.sentence,
            holds: explanation.as_ref().and_then(|explanation| explanation.truth.known()),
            terms: explanation.map_or_else(Vec::new, |explanation| {
                let terms = explanation.terms.into_iter();
                terms.map(|term| TermView::of(term, resolution)).collect()
            }),
            gates: found.gates.into_iter().map(GateView::of).collect(),
            next_check: found.next_check.map(timestamp),
            resolution: resolution.map(Resolution::name),
            changed_at: found
                .past
                .and_then(|past: ExplainedPast| past.changed_at)
                .map(timestamp),
        }
    }
}

impl TermView {
    fn of(term: ExplainedTerm, resolution: Option<Resolution>) -> Self {
        Self {
            source: source(&term.sources, resolution),
            text: term.text,
            left: term.left.map(decimal),
            right: term.right.map(decimal),
            holds: term.holds,
            distance_pct: term.distance_pct.map(decimal),
            as_of: term.as_of.map(timestamp),
        }
    }
}

impl GateView {
    fn of(reason: BlockingReason) -> Self {
        Self {
            gate: reason.name,
            message: reason.message,
            until: reason.until.map(timestamp),
        }
    }
}

/// Returns the names of kinds of data. The prices of a past moment are those of stored bars.
fn source(sources: &[TermSource], resolution: Option<Resolution>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for &source in sources {
        let source = match source {
            TermSource::Quotes => match resolution {
                None => TermSource::Quotes,
                Some(Resolution::Daily | Resolution::Mixed) => TermSource::DailyBars,
                Some(Resolution::Intraday) => TermSource::IntradayBars,
            },
            source => source,
        };
        if !names.contains(&source.name()) {
            names.push(source.name());
        }
    }
    names.join(", ")
}
