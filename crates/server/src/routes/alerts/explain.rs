//! `GET /alerts/{id}/explain`

use alerts::engine::ExplainedTerm;
use service::alerts::{BlockingReason, ExplainedAlert};

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
    /// The next instant at which the alert is judged without a new observation.
    #[schema(required, format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub next_check: Option<String>,
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
}

/// A reason why an alert does not fire, besides its condition.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AlertGate)]
pub struct GateView {
    /// `market_closed`, `stale_quote`, `no_data`, `snoozed`, `cooldown`, `waiting_to_rearm`, `holding`, `second_judgement`, `paused`,
    /// `triggered` or `inactive`.
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
    fn of(found: ExplainedAlert) -> Self {
        let explanation = found.explanation;
        Self {
            sentence: found.sentence,
            holds: explanation.as_ref().and_then(|explanation| explanation.truth.known()),
            terms: explanation.map_or_else(Vec::new, |explanation| {
                explanation.terms.into_iter().map(TermView::of).collect()
            }),
            gates: found.gates.into_iter().map(GateView::of).collect(),
            next_check: found.next_check.map(timestamp),
        }
    }
}

impl TermView {
    fn of(term: ExplainedTerm) -> Self {
        Self {
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

/// Explain an alert
///
/// Says why the alert fires or does not at the present moment: each comparison of its condition with its present values and its
/// distance, and what else holds the alert back (the market is closed, a cooldown, a snooze, missing data …).
#[utoipa::path(
    get,
    path = "/alerts/{id}/explain",
    tag = "Alerts",
    params(("id" = uuid::Uuid, Path, description = "Alert id")),
    responses(
        (status = 200, description = "Why the alert fires or does not", body = Envelope<AlertExplanation>),
        (status = 404, description = "Alert not found"),
    ),
    security(("ApiKeyHeader" = ["alerts:read"]))
)]
pub(super) async fn explain_alert(
    State(app): State<App>,
    caller: Authorized<AlertsRead>,
    AlertPath(id): AlertPath,
) -> Result<ApiResponse<AlertExplanation>, ApiError> {
    let found = app.service().alerts.explain_alert(&caller.actor, id).await?;
    Ok(ApiResponse::ok(AlertExplanation::of(found)))
}
