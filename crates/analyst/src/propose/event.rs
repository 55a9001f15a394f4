//! Drafts for both intentions: upcoming dates.
//!
//! A plan without alerts on earnings and dividends still has reminders, so a date becomes a reminder there.

use alerts::{ConditionFamily, ConditionKind};
use market::display::Usd;
use serde_json::{Map, json};

use super::builder::ProposalBuilder;
use crate::proposal::AlertDraft;
use crate::upcoming::UpcomingDate;
use crate::{Intention, Role, rationale};

/// The possible warning times before a date, in calendar days, longest first.
const WARNING_DAYS: [u16; 3] = [5, 3, 1];
/// The maximum distance of a date, in calendar days: the horizon and the longest warning. A later analysis covers
/// later dates.
const MAX_EVENT_DAYS_AHEAD: u16 = 35;
/// The minimum dividend relative to the price: 0.1 %. Smaller dividends are ignored.
const MIN_DIVIDEND_PART: f64 = 0.001;

/// Returns the drafts, the nearer date first.
pub(super) fn drafts(builder: &ProposalBuilder<'_>) -> Vec<AlertDraft> {
    let subject = builder.subject;
    let events = &builder.analysis.events;
    let earnings = events.earnings.and_then(|ahead| {
        let purpose = "Prices often jump on earnings, beyond their usual range; decide before or after the report.";
        let rationale = format!("{} {purpose}", rationale::earnings(subject, &ahead));
        draft(builder, ConditionKind::EarningsAnnouncement, &ahead, rationale)
    });
    let price = subject.price.as_f64();
    let is_material = |ahead: &UpcomingDate| {
        ahead
            .amount
            .is_none_or(|amount| amount.as_f64() >= MIN_DIVIDEND_PART * price)
    };
    let ex_date = events.ex_dividend.filter(is_material).and_then(|ahead| {
        let amount = ahead
            .amount
            .map_or(String::new(), |amount| format!(" of {} dollars a share", Usd(amount)));
        let purpose = match subject.intention {
            Intention::Buy => {
                format!(
                    "Buyers before that day receive the dividend{amount}; the price falls by about as much on that day."
                )
            }
            Intention::Sell => format!("Sellers before that day do not receive the dividend{amount}."),
        };
        let rationale = format!("{} {purpose}", rationale::ex_dividend(subject, &ahead));
        draft(builder, ConditionKind::DividendExDate, &ahead, rationale)
    });
    let mut dated: Vec<(u16, AlertDraft)> = earnings.into_iter().chain(ex_date).collect();
    dated.sort_by_key(|(days, _)| *days);
    dated.into_iter().map(|(_, draft)| draft).collect()
}

fn draft(
    builder: &ProposalBuilder<'_>,
    kind: ConditionKind,
    ahead: &UpcomingDate,
    rationale: String,
) -> Option<(u16, AlertDraft)> {
    let days = WARNING_DAYS
        .into_iter()
        .find(|&days| days < ahead.days && ahead.days <= MAX_EVENT_DAYS_AHEAD)?;
    let subject = builder.subject;
    let draft = if subject.plan.allows(ConditionFamily::Dividend) {
        AlertDraft::new(Role::Event, kind, Some(days.into()), rationale)
    } else {
        let eve = subject.context.calendar.previous_session_before(ahead.date)?.date;
        AlertDraft {
            parameters: Map::from_iter([("date".to_owned(), json!(eve.to_string()))]),
            ..AlertDraft::new(Role::Event, ConditionKind::Reminder, None, rationale)
        }
    };
    Some((ahead.days, draft))
}
