//! Gates: how many attempts go on at one host, or for one account, who waits for their turn, and how much of what was claimed
//! waits here.
//!
//! Lanes of each standing wait in a queue of their own: what keeps new or poor endpoints from their turn must not keep good
//! ones of the same host from theirs. They wait by ticket. Who was let through, and found that somebody else was quicker,
//! comes back with the same ticket and is the first again.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use super::lane::Standing;

/// Lanes by their tickets.
type Queue = BTreeMap<u64, i64>;

#[derive(Debug, Default)]
struct Gate {
    /// Attempts that go on.
    inside: usize,
    /// Lanes that have something to send, and wait until there is room.
    lanes: [Queue; 3],
    /// Claimed deliveries that wait.
    rows: usize,
    /// Lanes that may claim something when there are fewer.
    wanting: [Queue; 3],
}

impl Gate {
    fn is_forgotten(&self) -> bool {
        self.inside == 0 && self.rows == 0 && self.lanes.iter().chain(&self.wanting).all(BTreeMap::is_empty)
    }
}

/// Gates by host or by account. One at which nothing goes on is forgotten.
#[derive(Debug)]
pub(super) struct Gates<K> {
    gates: HashMap<K, Gate>,
    /// So many attempts at once; twice as many deliveries may wait.
    most: usize,
}

impl<K: Hash + Eq + Clone> Gates<K> {
    pub(super) fn new(most: usize) -> Self {
        Self {
            gates: HashMap::new(),
            most,
        }
    }

    fn gate(&mut self, key: &K) -> &mut Gate {
        self.gates.entry(key.clone()).or_default()
    }

    /// Changes what goes on at a gate.
    fn change<T>(&mut self, key: &K, change: impl FnOnce(&mut Gate) -> Option<T>) -> Option<T> {
        let gate = self.gates.get_mut(key)?;
        let changed = change(gate);
        if gate.is_forgotten() {
            self.gates.remove(key);
        }
        changed
    }

    /// How many more attempts may go on.
    pub(super) fn room(&self, key: &K) -> usize {
        let inside = self.gates.get(key).map_or(0, |gate| gate.inside);
        self.most.saturating_sub(inside)
    }

    pub(super) fn enter(&mut self, key: &K) {
        self.gate(key).inside += 1;
    }

    pub(super) fn leave(&mut self, key: &K) {
        self.change(key, |gate| {
            gate.inside = gate.inside.saturating_sub(1);
            None::<()>
        });
    }

    /// Lets a lane wait until there is room.
    pub(super) fn park(&mut self, key: &K, standing: Standing, ticket: u64, lane: i64) {
        self.gate(key).lanes[standing as usize].insert(ticket, lane);
    }

    /// The lane that is the next to try again.
    pub(super) fn next(&mut self, key: &K, standing: Standing) -> Option<i64> {
        self.change(key, |gate| gate.lanes[standing as usize].pop_first())
            .map(|(_, lane)| lane)
    }

    /// How many more deliveries may be claimed and wait here.
    pub(super) fn room_for_rows(&self, key: &K) -> usize {
        let rows = self.gates.get(key).map_or(0, |gate| gate.rows);
        (2 * self.most).saturating_sub(rows)
    }

    /// How many more may before half as many wait as may wait at most. So many lanes are let through to claim.
    pub(super) fn room_to_claim(&self, key: &K) -> usize {
        self.room_for_rows(key).saturating_sub(self.most)
    }

    pub(super) fn add_row(&mut self, key: &K) {
        self.gate(key).rows += 1;
    }

    /// A delivery waits no more.
    pub(super) fn remove_row(&mut self, key: &K) {
        self.change(key, |gate| {
            gate.rows = gate.rows.saturating_sub(1);
            None::<()>
        });
    }

    /// Lets a lane wait until it may claim something.
    pub(super) fn park_wanting(&mut self, key: &K, standing: Standing, ticket: u64, lane: i64) {
        self.gate(key).wanting[standing as usize].insert(ticket, lane);
    }

    /// Whether lanes wait until they may claim something.
    pub(super) fn has_wanting(&self, key: &K, standing: Standing) -> bool {
        let gate = self.gates.get(key);
        gate.is_some_and(|gate| !gate.wanting[standing as usize].is_empty())
    }

    /// The lane that is the next to claim something.
    pub(super) fn next_wanting(&mut self, key: &K, standing: Standing) -> Option<i64> {
        self.change(key, |gate| gate.wanting[standing as usize].pop_first())
            .map(|(_, lane)| lane)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Standing = Standing::Good;

    #[test]
    fn a_gate_has_room_for_so_many_and_whoever_drew_the_first_ticket_is_next() {
        let mut gates = Gates::new(2);
        gates.enter(&"a");
        assert_eq!(gates.room(&"a"), 1);
        gates.enter(&"a");
        assert_eq!((gates.room(&"a"), gates.room(&"b")), (0, 2));
        gates.park(&"a", GOOD, 8, 1);
        gates.park(&"a", GOOD, 7, 2);
        gates.park(&"a", Standing::Poor, 1, 3);
        gates.leave(&"a");
        gates.leave(&"a");
        assert_eq!(gates.room(&"a"), 2);
        let next = [0; 3].map(|_| gates.next(&"a", GOOD));
        assert_eq!(next, [Some(2), Some(1), None]);
        assert_eq!(gates.next(&"a", Standing::Poor), Some(3));
        assert!(gates.gates.is_empty());
    }

    #[test]
    fn twice_as_many_deliveries_may_wait_and_half_of_them_must_go_before_more_come() {
        let mut gates = Gates::new(2);
        for rows in 0..4 {
            assert_eq!(gates.room_for_rows(&"a"), 4 - rows);
            assert_eq!(gates.room_to_claim(&"a"), 2_usize.saturating_sub(rows));
            gates.add_row(&"a");
        }
        assert_eq!((gates.room_for_rows(&"a"), gates.room_to_claim(&"a")), (0, 0));
        gates.park_wanting(&"a", GOOD, 1, 5);
        assert!(gates.has_wanting(&"a", GOOD) && !gates.has_wanting(&"a", Standing::New));
        for _ in 0..4 {
            gates.remove_row(&"a");
        }
        assert_eq!(gates.next_wanting(&"a", GOOD), Some(5));
        assert!(!gates.has_wanting(&"a", GOOD) && gates.gates.is_empty());
    }
}
