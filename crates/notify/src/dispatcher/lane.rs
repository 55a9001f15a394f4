//! One lane, and how it does.

use std::collections::VecDeque;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

use jiff::Timestamp;

use super::Claimed;

/// How an endpoint has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Standing {
    /// The last attempt was a success, and quick.
    Good,
    /// There was none.
    New,
    /// It failed, or took long.
    Poor,
}

pub(super) const STANDINGS: [Standing; 3] = [Standing::Good, Standing::New, Standing::Poor];

/// A delivery that this dispatcher has claimed.
#[derive(Debug)]
pub(super) struct Held<J> {
    pub(super) claimed: Claimed<J>,
    pub(super) lease: i64,
    pub(super) until: Timestamp,
}

/// Where a lane stands: for attempts, and for claims.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Nowhere,
    InLine(Standing),
    /// At the gate of a host or an account.
    AtGate,
}

#[derive(Debug)]
pub(super) struct Lane<J> {
    pub(super) standing: Standing,
    /// Where it leads, once something was claimed of it.
    pub(super) host: Option<Arc<str>>,
    pub(super) waiting: VecDeque<Held<J>>,
    pub(super) under_way: usize,
    pub(super) place: Place,
    /// The ticket that it drew at a gate, until an attempt begins.
    pub(super) ticket: Option<u64>,
    /// There is more to claim, as far as is known.
    pub(super) has_due: bool,
    /// Where it stands among those to claim from.
    pub(super) wanting: Place,
    /// The ticket that it drew to claim something, until it does.
    pub(super) wanting_ticket: Option<u64>,
    /// It is being claimed from.
    pub(super) is_claiming: bool,
    /// It was seen to have more while it was being claimed from.
    pub(super) due_again: bool,
}

impl<J> Lane<J> {
    pub(super) fn new() -> Self {
        Self {
            standing: Standing::New,
            host: None,
            waiting: VecDeque::new(),
            under_way: 0,
            place: Place::Nowhere,
            ticket: None,
            has_due: false,
            wanting: Place::Nowhere,
            wanting_ticket: None,
            is_claiming: false,
            due_again: false,
        }
    }

    /// Whether nothing goes on in it.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.under_way == 0 && !self.has_due && !self.is_claiming
    }
}

/// A number for each standing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PerStanding(pub(super) [usize; 3]);

impl Index<Standing> for PerStanding {
    type Output = usize;

    fn index(&self, standing: Standing) -> &usize {
        &self.0[standing as usize]
    }
}

impl IndexMut<Standing> for PerStanding {
    fn index_mut(&mut self, standing: Standing) -> &mut usize {
        &mut self.0[standing as usize]
    }
}
