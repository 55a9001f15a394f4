//! How the live source is doing, for others to look at.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;

use crate::freshness::Counts;
use crate::provider::stream::Report;

/// How the live source is doing.
#[derive(Debug, Clone, Default)]
pub struct Health(Arc<Mutex<State>>);

/// What [`Health::state`] shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    /// What came of the quotes at the gate.
    pub quotes: Counts,
    /// How the stream is, if there is one.
    pub stream: Option<Report>,
    /// When a round of polling was answered last.
    pub polled_at: Option<Timestamp>,
    /// How often nobody answered a question.
    pub unanswered: u64,
    /// How many stretches were made up for.
    pub gaps_filled: u64,
    /// How many stretches were given up, because they are too long ago.
    pub gaps_given_up: u64,
    /// How many stretches are still to be made up for.
    pub gaps_open: usize,
}

impl Health {
    /// How it is doing now.
    #[must_use]
    pub fn state(&self) -> State {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
