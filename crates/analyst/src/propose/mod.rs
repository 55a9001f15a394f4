//! From figures to proposals, for a buyer or a seller.
//!
//! Each intention has its drafts, most useful first ([`buy`], [`sell`], and [`event`] for both). They are checked one
//! by one until there are five proposals. A draft is skipped if the plan does not include it, if it already holds, or
//! if it duplicates an earlier one. If fewer than two are left, prices at the smallest distances fill up, and their
//! rationale says so.

mod builder;
mod buy;
mod event;
mod sell;

use alerts::condition::Side;

use crate::proposal::{AlertDraft, Proposal};
use crate::{Analysis, AnalysisSubject, Intention, Role, tick};
use builder::{PriceTarget, ProposalBuilder};

/// The minimum number of proposals, if the plan allows as many.
pub const MIN_PROPOSALS: usize = 2;
/// The maximum number of proposals.
pub const MAX_PROPOSALS: usize = 5;

/// The distance below which two prices count as duplicates, in average true ranges.
pub(crate) const DUPLICATE_DISTANCE_RANGES: f64 = 0.5;

/// The author of the rules' drafts, in an alert's parameters.
pub const RULES_AUTHOR: &str = "rules";

/// Returns the proposals that follow from an analysis, most useful first.
///
/// Two to five, or fewer if the plan allows no more.
#[must_use]
pub fn proposals(subject: &AnalysisSubject<'_>, analysis: &Analysis) -> Vec<Proposal> {
    let builder = ProposalBuilder { subject, analysis };
    let drafts = match subject.intention {
        Intention::Buy => buy::drafts(&builder),
        Intention::Sell => sell::drafts(&builder),
    };
    let limit = max_proposals(subject);
    let apart = DUPLICATE_DISTANCE_RANGES * builder.range();
    let mut chosen = Vec::new();
    for draft in drafts {
        if chosen.len() < limit {
            add_unless_duplicate(&mut chosen, draft, &builder, apart);
        }
    }
    let mut plain = plain_distances(&builder).into_iter();
    while chosen.len() < MIN_PROPOSALS.min(limit) {
        let Some(draft) = plain.next() else { break };
        add_unless_duplicate(&mut chosen, draft, &builder, 0.0);
    }
    chosen
}

/// Returns the maximum number of proposals that the plan still allows.
pub(crate) fn max_proposals(subject: &AnalysisSubject<'_>) -> usize {
    let remaining = subject.remaining_alerts().map(usize::try_from);
    remaining
        .and_then(Result::ok)
        .map_or(MAX_PROPOSALS, |remaining| remaining.min(MAX_PROPOSALS))
}

fn add_unless_duplicate(chosen: &mut Vec<Proposal>, draft: AlertDraft, builder: &ProposalBuilder<'_>, apart: f64) {
    let Ok(proposal) = draft.into_proposal(builder.subject, RULES_AUTHOR) else {
        return;
    };
    let is_new = !chosen
        .iter()
        .any(|other| proposal.repeats(other, apart) || proposal.alert.condition == other.alert.condition);
    if is_new {
        chosen.push(proposal);
    }
}

/// Drafts alerts one and two ticks from the price on either side, for prices at which no better level is possible.
fn plain_distances(builder: &ProposalBuilder<'_>) -> Vec<AlertDraft> {
    let steps = [1, 2]
        .into_iter()
        .flat_map(|steps| [(Side::Below, steps), (Side::Above, steps)]);
    let drafts = steps.filter_map(|(side, steps)| {
        let price_target = PriceTarget {
            price: tick::next(builder.subject.price, side, steps)?,
            reason: format!(
                "At this price no better level is possible; this one is {steps} of the smallest price steps away."
            ),
            is_turning_point: false,
        };
        let role = match (builder.subject.intention, side) {
            (Intention::Buy, Side::Below) => Role::Entry,
            (Intention::Buy, Side::Above) => Role::Breakout,
            (Intention::Sell, Side::Above) => Role::Target,
            (Intention::Sell, Side::Below) => Role::Stop,
        };
        Some(builder.on_price(
            role,
            side,
            &price_target,
            "The alert only tells you that the price has moved.",
        ))
    });
    drafts.collect()
}
