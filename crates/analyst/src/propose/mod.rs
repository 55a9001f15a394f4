//! From figures to alerts: what is worth being told, for a buyer or a seller.
//!
//! Each side writes drafts, the most useful first ([`buy`], [`sell`], and [`event`] for both). They go through the gate
//! one by one until there are five: what the plan does not have, what holds already and what says the same as one
//! before stays out. Where so little is known that fewer than two are left, plain distances from the price fill up, and
//! their rationale says that they are no more than that.

mod buy;
mod desk;
mod event;
mod sell;

use alerts::condition::Side;

use crate::gate::{Draft, Proposal};
use crate::{Analysis, Intention, Role, Subject, tick};
use desk::{Aim, Desk};

/// How many alerts an analysis proposes at least, where the plan has room.
pub const LEAST: usize = 2;
/// How many alerts an analysis proposes at most.
pub const MOST: usize = 5;

/// Two prices nearer than this, in average true ranges, are the same news.
const APART_RANGES: f64 = 0.5;

/// Who wrote a draft, as an alert's parameters have it.
pub const AUTHOR: &str = "rules";

/// The alerts that follow from an analysis, the most useful first.
///
/// Two to five, or as many as the plan has room for if that is fewer.
#[must_use]
pub fn proposals(subject: &Subject<'_>, analysis: &Analysis) -> Vec<Proposal> {
    let desk = Desk { subject, analysis };
    let drafts = match subject.intention {
        Intention::Buy => buy::drafts(&desk),
        Intention::Sell => sell::drafts(&desk),
    };
    let room = subject
        .room()
        .and_then(|room| usize::try_from(room).ok())
        .unwrap_or(MOST)
        .min(MOST);
    let mut chosen = Vec::new();
    for draft in drafts {
        if chosen.len() < room {
            take(&mut chosen, draft, &desk, APART_RANGES * desk.range());
        }
    }
    let mut plain = plain_distances(&desk).into_iter();
    while chosen.len() < LEAST.min(room) {
        let Some(draft) = plain.next() else { break };
        take(&mut chosen, draft, &desk, 0.0);
    }
    chosen
}

fn take(chosen: &mut Vec<Proposal>, draft: Draft, desk: &Desk<'_>, apart: f64) {
    let Ok(proposal) = draft.admit(desk.subject, AUTHOR) else {
        return;
    };
    let is_news = !chosen
        .iter()
        .any(|other| proposal.repeats(other, apart) || proposal.alert.condition == other.alert.condition);
    if is_news {
        chosen.push(proposal);
    }
}

/// A step, and then another, to either side: for prices next to which there is no room for anything better.
fn plain_distances(desk: &Desk<'_>) -> Vec<Draft> {
    let steps = [1, 2]
        .into_iter()
        .flat_map(|steps| [(Side::Below, steps), (Side::Above, steps)]);
    let drafts = steps.filter_map(|(side, steps)| {
        let aim = Aim {
            price: tick::next(desk.subject.price, side, steps)?,
            because: format!(
                "There is no room at this price for a level that says more; this is {steps} of its smallest steps away."
            ),
            is_turning_point: false,
        };
        let role = match (desk.subject.intention, side) {
            (Intention::Buy, Side::Below) => Role::Entry,
            (Intention::Buy, Side::Above) => Role::Breakout,
            (Intention::Sell, Side::Above) => Role::Target,
            (Intention::Sell, Side::Below) => Role::Stop,
        };
        Some(desk.on_price(role, side, &aim, "Being told is all that it is for."))
    });
    drafts.collect()
}
