//! Gates: how many attempts go on at one host, or for one account, who waits for their turn, and how much of what was claimed
//! waits here.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

#[derive(Debug, Default)]
struct Gate {
    /// Attempts that go on.
    inside: usize,
    /// Lanes that have something to send, and wait until there is room.
    lanes: VecDeque<i64>,
    /// Claimed deliveries that wait.
    rows: usize,
    /// Lanes that may claim something when there are fewer.
    wanting: VecDeque<i64>,
}

impl Gate {
    fn is_forgotten(&self) -> bool {
        self.inside == 0 && self.rows == 0 && self.lanes.is_empty() && self.wanting.is_empty()
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
            most: most.max(1),
        }
    }

    fn gate(&mut self, key: &K) -> &mut Gate {
        self.gates.entry(key.clone()).or_default()
    }

    /// Changes what goes on at a gate.
    fn change<T: Default>(&mut self, key: &K, change: impl FnOnce(&mut Gate, usize) -> T) -> T {
        let Some(gate) = self.gates.get_mut(key) else {
            return T::default();
        };
        let changed = change(gate, self.most);
        if gate.is_forgotten() {
            self.gates.remove(key);
        }
        changed
    }

    /// Whether one more attempt may go on.
    pub(super) fn is_open(&self, key: &K) -> bool {
        self.gates.get(key).is_none_or(|gate| gate.inside < self.most)
    }

    pub(super) fn enter(&mut self, key: &K) {
        self.gate(key).inside += 1;
    }

    pub(super) fn leave(&mut self, key: &K) {
        self.change(key, |gate, _| gate.inside = gate.inside.saturating_sub(1));
    }

    /// Lets a lane wait until there is room.
    pub(super) fn park(&mut self, key: &K, lane: i64) {
        self.gate(key).lanes.push_back(lane);
    }

    /// The lanes that may try again: as many as there is room for. If none of them goes through, this must be called
    /// again, or their places stay empty.
    pub(super) fn admitted(&mut self, key: &K) -> Vec<i64> {
        self.change(key, |gate, most| {
            let room = most.saturating_sub(gate.inside).min(gate.lanes.len());
            gate.lanes.drain(..room).collect()
        })
    }

    /// Whether more deliveries may be claimed and wait here; so many more than there are.
    pub(super) fn has_room_for_rows(&self, key: &K, more: usize) -> bool {
        self.gates.get(key).is_none_or(|gate| gate.rows + more < 2 * self.most)
    }

    pub(super) fn add_row(&mut self, key: &K) {
        self.gate(key).rows += 1;
    }

    /// A delivery waits no more. The lanes that may claim something now.
    pub(super) fn remove_row(&mut self, key: &K) -> Vec<i64> {
        self.change(key, |gate, most| {
            gate.rows = gate.rows.saturating_sub(1);
            let room = most.saturating_sub(gate.rows).min(gate.wanting.len());
            gate.wanting.drain(..room).collect()
        })
    }

    /// Lets a lane wait until it may claim something.
    pub(super) fn park_wanting(&mut self, key: &K, lane: i64) {
        self.gate(key).wanting.push_back(lane);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_lets_in_so_many_and_then_one_for_each_who_leaves() {
        let mut gates = Gates::new(2);
        gates.enter(&"a");
        assert!(gates.is_open(&"a"));
        gates.enter(&"a");
        assert!(!gates.is_open(&"a") && gates.is_open(&"b"));
        gates.park(&"a", 1);
        gates.park(&"a", 2);
        assert!(gates.admitted(&"a").is_empty());
        gates.leave(&"a");
        assert_eq!(gates.admitted(&"a"), [1]);
        gates.leave(&"a");
        assert_eq!(gates.admitted(&"a"), [2]);
        assert!(gates.gates.is_empty());
    }

    #[test]
    fn twice_as_many_deliveries_may_wait_and_half_of_them_must_go_before_more_come() {
        let mut gates = Gates::new(1);
        gates.add_row(&"a");
        assert!(gates.has_room_for_rows(&"a", 0) && !gates.has_room_for_rows(&"a", 1));
        gates.add_row(&"a");
        assert!(!gates.has_room_for_rows(&"a", 0));
        gates.park_wanting(&"a", 1);
        gates.park_wanting(&"a", 2);
        assert!(gates.remove_row(&"a").is_empty());
        assert_eq!(gates.remove_row(&"a"), [1]);
        assert_eq!(gates.remove_row(&"a"), [2]);
        assert!(gates.gates.is_empty());
    }
}
