//! Facts that a request makes true or false: the acknowledgement of a firing, a stock on a watchlist.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

/// Facts, each with the values that it may have. A fact that no request was about is false.
#[derive(Debug)]
pub(crate) struct Flags<Fact> {
    possible: BTreeMap<Fact, BTreeSet<bool>>,
}

impl<Fact> Default for Flags<Fact> {
    fn default() -> Self {
        Self {
            possible: BTreeMap::new(),
        }
    }
}

impl<Fact: Ord + Debug> Flags<Fact> {
    /// A request to make a fact true or false begins. It may be carried out, also if it is never answered.
    pub(crate) fn change_begins(&mut self, fact: Fact, value: bool) {
        let possible = self.possible.entry(fact).or_insert_with(|| BTreeSet::from([false]));
        possible.insert(value);
    }

    /// Whether a fact may be true or false.
    pub(crate) fn may_be(&self, fact: &Fact, value: bool) -> bool {
        self.possible
            .get(fact)
            .map_or(!value, |possible| possible.contains(&value))
    }

    /// A response says that a fact is true or false now.
    pub(crate) fn is_known(&mut self, fact: Fact, value: bool) {
        self.possible.insert(fact, BTreeSet::from([value]));
    }

    /// Compares the facts that are true in the database with the possible ones.
    pub(crate) fn check(&self, what: &str, actual: &BTreeSet<Fact>) -> Vec<String> {
        let facts = self.possible.keys().chain(actual);
        let wrong: BTreeSet<&Fact> = facts.filter(|fact| !self.may_be(fact, actual.contains(fact))).collect();
        let text = |fact: &Fact| format!("{what} {fact:?} is {} in the database", actual.contains(fact));
        wrong.into_iter().map(text).collect()
    }
}
