//! For both: the dates ahead.
//!
//! A plan without alerts on earnings and dividends still has reminders, so there a date becomes one.

use alerts::{ConditionKind, Family};
use market::display::Usd;
use serde_json::{Map, json};

use super::desk::Desk;
use crate::events::Ahead;
use crate::gate::Draft;
use crate::{Intention, Role, rationale};

/// How many calendar days ahead of a date one likes to be told, the most first.
const WARNINGS: [u16; 3] = [5, 3, 1];
/// A date farther ahead is left to the next look: the horizon and the longest warning, in calendar days.
const FARTHEST_DAYS: u16 = 35;
/// A dividend that is a smaller part of the price is no news: 0.1 %.
const LEAST_DIVIDEND: f64 = 0.001;

/// The drafts, the nearer date first.
pub(super) fn drafts(desk: &Desk<'_>) -> Vec<Draft> {
    let subject = desk.subject;
    let events = &desk.analysis.events;
    let earnings = events.earnings.and_then(|ahead| {
        let use_of_it = "Prices often leap then, beyond what their usual range says; decide before it, or after.";
        let rationale = format!("{} {use_of_it}", rationale::earnings(subject, &ahead));
        draft(desk, ConditionKind::EarningsAnnouncement, &ahead, rationale)
    });
    let price = subject.price.as_f64();
    let is_news = |ahead: &Ahead| {
        ahead
            .amount
            .is_none_or(|amount| amount.as_f64() >= LEAST_DIVIDEND * price)
    };
    let ex_date = events.ex_dividend.filter(is_news).and_then(|ahead| {
        let amount = ahead
            .amount
            .map_or(String::new(), |amount| format!(" of {} dollars a share", Usd(amount)));
        let use_of_it = match subject.intention {
            Intention::Buy => {
                format!("Who buys before that day gets the dividend{amount}; the price falls by about as much.")
            }
            Intention::Sell => format!("Who sells before that day goes without the dividend{amount}."),
        };
        let rationale = format!("{} {use_of_it}", rationale::ex_dividend(subject, &ahead));
        draft(desk, ConditionKind::DividendExDate, &ahead, rationale)
    });
    let mut dated: Vec<(u16, Draft)> = earnings.into_iter().chain(ex_date).collect();
    dated.sort_by_key(|(days, _)| *days);
    dated.into_iter().map(|(_, draft)| draft).collect()
}

fn draft(desk: &Desk<'_>, kind: ConditionKind, ahead: &Ahead, rationale: String) -> Option<(u16, Draft)> {
    let days = WARNINGS
        .into_iter()
        .find(|&days| days < ahead.days && ahead.days <= FARTHEST_DAYS)?;
    let mut draft = Draft {
        role: Role::Event,
        kind,
        threshold: Some(days.into()),
        parameters: Map::new(),
        rationale,
    };
    if !desk.subject.plan.allows(Family::Dividend) {
        let eve = desk.subject.context.calendar.previous_session_before(ahead.date)?.date;
        draft.kind = ConditionKind::Reminder;
        draft.threshold = None;
        draft.parameters.insert("date".to_owned(), json!(eve.to_string()));
    }
    Some((ahead.days, draft))
}
