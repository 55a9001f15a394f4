//! Decides which messages for a channel are sent separately, folded into one, or held back.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::model::throttle::SURPLUS_DIGEST;
use crate::model::{Digest, MessageHold};

/// The time within which the messages to a channel are counted.
pub(super) const BURST_WINDOW: SignedDuration = SignedDuration::from_mins(1);

/// A message about a firing that can be folded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Foldable {
    pub(super) seq: i64,
    pub(super) created_at: Timestamp,
    /// Why it was held back until now.
    pub(super) hold: Option<MessageHold>,
    /// Whether the claim got it. Others are due, too.
    pub(super) is_claimed: bool,
    /// Whether others have been folded into it, by a claim that was lost.
    pub(super) has_folded: bool,
}

/// The facts that the plan for a channel depends on, beside its messages.
#[derive(Clone, Debug)]
pub(super) struct FoldState {
    pub(super) now: Timestamp,
    /// The time zone of the account.
    pub(super) zone: TimeZone,
    pub(super) burst_limit: i64,
    pub(super) digest: Option<Digest>,
    /// The number of messages that the budget of the day leaves.
    pub(super) budget_left: Option<i64>,
    /// The number of messages within the last [`BURST_WINDOW`].
    pub(super) recent: i64,
    /// When a message got the firings of a burst within that time.
    pub(super) burst_at: Option<Timestamp>,
}

/// The decision about the messages of a channel. Those that are not named are sent separately.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Plan {
    /// The messages that are folded into the first of them. A single one is sent with its own text.
    pub(super) folded: Vec<i64>,
    /// Whether they are folded because they are too many.
    pub(super) is_burst: bool,
    /// The messages that are held back, until when and why.
    pub(super) held: Vec<(i64, Timestamp, MessageHold)>,
}

impl Plan {
    /// Returns the messages that are not sent separately.
    pub(super) fn changed(&self) -> impl Iterator<Item = i64> {
        self.folded.iter().copied().chain(self.held.iter().map(|held| held.0))
    }
}

impl FoldState {
    /// Returns whether all claimed messages can be sent separately. `due` is the number of further ones that are due.
    pub(super) fn is_within_limits(&self, claimed: &[Foldable], due: i64) -> bool {
        let number = i64::try_from(claimed.len()).unwrap_or(i64::MAX);
        let total = self.recent.saturating_add(number).saturating_add(due);
        self.digest.is_none()
            && self.burst_at.is_none()
            && total <= self.burst_limit
            && self.budget_left.is_none_or(|left| number <= left)
            && !claimed.iter().any(Foldable::is_collected)
    }

    /// Returns until when a message waits for its digest.
    fn digest_after(&self, message: &Foldable) -> Option<Timestamp> {
        let digest = self.digest?.next_after(message.created_at, &self.zone);
        (digest > self.now).then_some(digest)
    }

    /// Returns until when a message waits because firings were folded just before.
    fn end_of_burst(&self) -> Option<Timestamp> {
        let end = self.burst_at?.saturating_add(BURST_WINDOW).ok()?;
        (end > self.now).then_some(end)
    }
}

impl Foldable {
    fn is_collected(&self) -> bool {
        self.hold.is_some_and(MessageHold::is_collected)
    }
}

/// Decides about the messages of a channel that are due, in their order.
pub(super) fn plan(state: &FoldState, messages: &[Foldable]) -> Plan {
    let mut plan = Plan::default();
    let mut ready = Vec::with_capacity(messages.len());
    for message in messages {
        match state.digest_after(message) {
            Some(digest) => plan.held.push((message.seq, digest, MessageHold::Digest)),
            None => ready.push(*message),
        }
    }
    if let Some(end) = state.end_of_burst() {
        let held = ready.iter().map(|message| {
            // Collected messages stay together.
            let hold = message.hold.unwrap_or(MessageHold::Burst);
            (message.seq, end, hold)
        });
        plan.held.extend(held);
        return plan;
    }
    let is_digest = state.digest.is_some() || ready.iter().any(Foldable::is_collected);
    let number = i64::try_from(ready.len()).unwrap_or(i64::MAX);
    let is_burst = state.recent.saturating_add(number) > state.burst_limit;
    let budget = state.budget_left.filter(|_| !is_digest);
    let surplus_digest = SURPLUS_DIGEST.next_after(state.now, &state.zone);
    if is_digest || (is_burst && budget != Some(0)) {
        plan.folded = ready.iter().map(|message| message.seq).collect();
        plan.is_burst = is_burst;
        return plan;
    }
    // The claimed ones go first, because the others are not sent now.
    ready.sort_by_key(|message| !message.is_claimed);
    let left = budget.map_or(usize::MAX, |left| usize::try_from(left).unwrap_or_default());
    let surplus = ready.iter().skip(left);
    plan.held
        .extend(surplus.map(|message| (message.seq, surplus_digest, MessageHold::Budget)));
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-03-02T15:04:00Z";

    fn at(instant: &str) -> Timestamp {
        instant.parse().unwrap()
    }

    fn state() -> FoldState {
        FoldState {
            now: at(NOW),
            zone: TimeZone::get("America/New_York").unwrap(),
            burst_limit: 3,
            digest: None,
            budget_left: None,
            recent: 0,
            burst_at: None,
        }
    }

    fn messages(number: i64) -> Vec<Foldable> {
        let message = |seq| Foldable {
            seq,
            created_at: at(NOW),
            hold: None,
            is_claimed: true,
            has_folded: false,
        };
        (1..=number).map(message).collect()
    }

    fn held(number: i64, hold: MessageHold) -> Vec<Foldable> {
        let mut held = messages(number);
        for message in &mut held {
            message.hold = Some(hold);
        }
        held
    }

    fn all_held(plan: &Plan) -> Vec<(i64, String, MessageHold)> {
        let held = plan.held.iter();
        held.map(|(seq, until, hold)| (*seq, until.to_string(), *hold))
            .collect()
    }

    #[test]
    fn messages_up_to_the_burst_limit_are_separate() {
        assert!(state().is_within_limits(&messages(3), 0));
        assert_eq!(plan(&state(), &messages(3)), Plan::default());
        let two_sent = FoldState { recent: 2, ..state() };
        assert!(two_sent.is_within_limits(&messages(1), 0));
    }

    #[test]
    fn messages_above_the_burst_limit_become_one() {
        assert!(!state().is_within_limits(&messages(3), 1));
        assert_eq!(plan(&state(), &messages(4)).folded, [1, 2, 3, 4]);
        let three_sent = FoldState { recent: 3, ..state() };
        assert_eq!(plan(&three_sent, &messages(1)).folded, [1]);
    }

    #[test]
    fn messages_after_a_folded_one_wait_for_the_end_of_its_minute() {
        let state = FoldState {
            burst_at: Some(at("2026-03-02T15:03:30Z")),
            ..state()
        };
        assert!(!state.is_within_limits(&messages(1), 0));
        let end = "2026-03-02T15:04:30Z".to_owned();
        assert_eq!(
            all_held(&plan(&state, &messages(1))),
            [(1, end.clone(), MessageHold::Burst)]
        );
        let quiet = plan(&state, &held(1, MessageHold::QuietHours));
        assert_eq!(all_held(&quiet), [(1, end, MessageHold::QuietHours)]);
        let over = FoldState {
            burst_at: Some(at("2026-03-02T15:03:00Z")),
            ..state
        };
        assert_eq!(plan(&over, &messages(1)), Plan::default());
    }

    #[test]
    fn messages_that_were_held_back_together_become_one_however_few_they_are() {
        for hold in [MessageHold::QuietHours, MessageHold::Digest, MessageHold::Budget] {
            assert!(!state().is_within_limits(&held(2, hold), 0));
            assert_eq!(plan(&state(), &held(2, hold)).folded, [1, 2]);
        }
        assert_eq!(plan(&state(), &held(2, MessageHold::Burst)), Plan::default());
    }

    #[test]
    fn digest_holds_messages_until_its_time_and_folds_the_others() {
        let state = FoldState {
            digest: Some(Digest::Hourly),
            ..state()
        };
        let mut messages = messages(3);
        messages[0].created_at = at("2026-03-02T14:59:59.999Z");
        messages[1].created_at = at("2026-03-02T14:00:00Z");
        let plan = plan(&state, &messages);
        assert_eq!(plan.folded, [1, 2]);
        let next = "2026-03-02T16:00:00Z".to_owned();
        assert_eq!(all_held(&plan), [(3, next, MessageHold::Digest)]);
    }

    #[test]
    fn surplus_of_the_budget_waits_for_eight_in_the_morning() {
        let state = FoldState {
            budget_left: Some(1),
            ..state()
        };
        assert!(state.is_within_limits(&messages(1), 1));
        assert!(!state.is_within_limits(&messages(2), 0));
        let tomorrow = "2026-03-03T13:00:00Z".to_owned();
        assert_eq!(
            all_held(&plan(&state, &messages(2))),
            [(2, tomorrow, MessageHold::Budget)]
        );
    }

    #[test]
    fn burst_counts_once_in_the_budget() {
        let one = FoldState {
            budget_left: Some(1),
            ..state()
        };
        assert_eq!(plan(&one, &messages(4)).folded, [1, 2, 3, 4]);
        let none = FoldState {
            budget_left: Some(0),
            ..state()
        };
        assert_eq!(plan(&none, &messages(4)).held.len(), 4);
    }

    #[test]
    fn digest_is_not_part_of_the_budget() {
        let state = FoldState {
            digest: Some(Digest::Hourly),
            budget_left: Some(0),
            ..state()
        };
        assert_eq!(plan(&state, &held(2, MessageHold::Digest)).held.len(), 2);
        let mut due = held(2, MessageHold::Digest);
        for message in &mut due {
            message.created_at = at("2026-03-02T14:30:00Z");
        }
        assert_eq!(plan(&state, &due).folded, [1, 2]);
    }
}
