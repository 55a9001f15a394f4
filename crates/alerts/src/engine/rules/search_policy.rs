//! Whether a search for quiet bands is worth its time.
//!
//! A search compares the sides of each comparison at other prices, most of them a few times, those with a root some twenty times. It
//! pays off if the next observations stay within the bands. Where prices move a lot between observations, as they do in a replay of
//! daily bars, they do not; the rule is then judged at every observation for a while, which is always correct.

use super::judge::Cause;
use super::rule::ArmedRule;
use crate::engine::Engine;

/// The number of comparisons that take as long as one judgement, about.
const COMPARISONS_PER_JUDGEMENT: u32 = 8;
/// How often searches that do not pay off in a row double the number of judgements without a search.
const MAX_DOUBLINGS: u32 = 3;

/// Decides whether to search the next quiet bands of a rule, from the benefit of those before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct SearchPolicy {
    /// The time of the last search in seconds and its number of comparisons, until its bands are left.
    searched: Option<(u32, u32)>,
    /// The number of doublings since the last search that paid off.
    doublings: u32,
    /// The number of judgements until the next search.
    skips: u32,
}

impl SearchPolicy {
    /// Returns whether to search now.
    pub(super) const fn should_search(&mut self) -> bool {
        let is_due = self.skips == 0;
        self.skips = self.skips.saturating_sub(1);
        is_due
    }

    pub(super) const fn note_search(&mut self, now_s: u32, comparisons: u32) {
        self.searched = Some((now_s, comparisons));
    }

    /// Notes that an observation left the bands, with the time of the one before in the same session. The number of observations
    /// within the bands is estimated from their distance.
    pub(super) fn note_left(&mut self, previous_at_s: u32, now_s: u32) {
        let Some((searched_at_s, comparisons)) = self.searched.take() else {
            return;
        };
        let within_s = previous_at_s.saturating_sub(searched_at_s);
        let distance_s = now_s.saturating_sub(previous_at_s).max(1);
        let saved = within_s / distance_s;
        let lost = (comparisons / COMPARISONS_PER_JUDGEMENT).saturating_sub(saved);
        if lost == 0 {
            self.doublings = 0;
        } else {
            self.skips = lost << self.doublings;
            self.doublings = (self.doublings + 1).min(MAX_DOUBLINGS);
        }
    }
}

impl Engine {
    /// Notes that the observations which cause a judgement left the bands of a rule.
    pub(super) fn note_left_bands(&self, armed: &mut ArmedRule, cause: Cause<'_>) {
        let times = cause.observed.iter().filter_map(|stock| {
            let place = stock.0 as usize;
            Some((self.stocks[place].previous_at_s?, self.hot.get(place).observed_at_s))
        });
        match times.max() {
            Some((previous_at_s, now_s)) => armed.search_policy.note_left(previous_at_s, now_s),
            // A session that begins says nothing about the bands before it.
            None => armed.search_policy.searched = armed.search_policy.searched.filter(|_| cause.observed.is_empty()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of judgements until the next search.
    fn pause(policy: &mut SearchPolicy) -> u32 {
        let mut judgements = 0;
        while !policy.should_search() {
            judgements += 1;
        }
        judgements
    }

    #[test]
    fn bands_that_are_left_at_once_are_searched_less_and_less() {
        let mut policy = SearchPolicy::default();
        let mut now_s = 1_000;
        let pauses = [5, 10, 20, 40, 40].map(|expected| {
            policy.note_search(now_s, 40);
            policy.note_left(now_s, now_s + 1);
            now_s += 100;
            (pause(&mut policy), expected)
        });
        assert!(pauses.iter().all(|(found, expected)| found == expected), "{pauses:?}");
    }

    #[test]
    fn search_pays_off_if_its_bands_save_as_many_judgements() {
        // 40 comparisons take as long as 5 judgements, with an observation every second.
        for (within_s, expected) in [(0, 5), (4, 1), (5, 0)] {
            let mut policy = SearchPolicy::default();
            policy.note_search(1_000, 40);
            policy.note_left(1_000 + within_s, 1_001 + within_s);
            assert_eq!(pause(&mut policy), expected, "{within_s}");
        }
    }

    #[test]
    fn benefit_ends_the_pauses() {
        let mut policy = SearchPolicy::default();
        for _ in 0..3 {
            policy.note_search(1_000, 40);
            policy.note_left(1_000, 1_001);
            pause(&mut policy);
        }
        policy.note_search(1_000, 40);
        policy.note_left(1_100, 1_101);
        assert_eq!(pause(&mut policy), 0);
        policy.note_search(2_000, 40);
        policy.note_left(2_000, 2_001);
        assert_eq!(pause(&mut policy), 5);
    }

    #[test]
    fn search_that_costs_less_than_a_judgement_is_never_skipped() {
        let mut policy = SearchPolicy::default();
        for _ in 0..10 {
            policy.note_search(1_000, 7);
            policy.note_left(1_000, 1_001);
            assert_eq!(pause(&mut policy), 0);
        }
    }

    #[test]
    fn judgement_without_a_search_before_changes_nothing() {
        let mut policy = SearchPolicy::default();
        policy.note_left(1_000, 1_001);
        assert_eq!(policy, SearchPolicy::default());
    }
}
