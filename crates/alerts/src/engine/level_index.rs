//! The ordered index of levels.
//!
//! Purpose: checking whether anything fires costs one comparison, however many alerts wait; firing `k` alerts costs `k`;
//! inserting or removing one among hundreds of thousands does not move all others.
//!
//! Entries `(key, slot)` are in ascending order in chunks of at most [`CHUNK_MAX`] entries. A key fires when it is reached from
//! below; levels that are reached from above are stored negated. Keys and slots of a chunk are separate arrays, so an entry
//! takes twelve bytes without padding.

/// The maximum number of entries in a chunk. A full chunk is split in two.
const CHUNK_MAX: usize = 512;

/// The number of entries below which a chunk is merged with its neighbour.
const CHUNK_MIN: usize = CHUNK_MAX / 8;

/// The index of an armed alert in the registry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Slot(pub(crate) u32);

/// An ordered multiset of `(key, slot)`.
#[derive(Clone, Debug, Default)]
pub(crate) struct LevelIndex {
    chunks: Vec<Chunk>,
}

#[derive(Clone, Debug)]
struct Chunk {
    /// The first entry, stored outside the arrays so that the search for a chunk touches no other memory.
    first: (i64, Slot),
    keys: Vec<i64>,
    slots: Vec<Slot>,
}

impl LevelIndex {
    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Returns the lowest key.
    pub(crate) fn first(&self) -> Option<i64> {
        self.chunks.first().map(|chunk| chunk.first.0)
    }

    pub(crate) fn insert(&mut self, key: i64, slot: Slot) {
        if self.chunks.is_empty() {
            // Most groups never need a second chunk, and a vector that grows by itself begins with room for four.
            self.chunks.reserve_exact(1);
            self.chunks.push(Chunk {
                first: (key, slot),
                keys: vec![key],
                slots: vec![slot],
            });
            return;
        }
        let at = self.chunk_of((key, slot));
        let chunk = &mut self.chunks[at];
        chunk.insert(key, slot);
        if chunk.keys.len() >= CHUNK_MAX {
            let upper = chunk.split_off(CHUNK_MAX / 2);
            self.chunks.insert(at + 1, upper);
        }
    }

    /// Removes an entry. Returns whether it existed.
    pub(crate) fn remove(&mut self, key: i64, slot: Slot) -> bool {
        if self.chunks.is_empty() {
            return false;
        }
        let at = self.chunk_of((key, slot));
        if !self.chunks[at].remove(key, slot) {
            return false;
        }
        self.join_small(at);
        true
    }

    /// Removes every entry whose key is at most `reached`, lowest first. Passes the keys and slots of each chunk on as a whole.
    pub(crate) fn drain_through(&mut self, reached: i64, mut take: impl FnMut(&[i64], &[Slot])) {
        // Usually nothing is reached, and this reads no chunk.
        if self.first().is_none_or(|first| first > reached) {
            return;
        }
        let whole = self
            .chunks
            .partition_point(|chunk| chunk.keys.last().is_some_and(|&key| key <= reached));
        for chunk in self.chunks.drain(..whole) {
            take(&chunk.keys, &chunk.slots);
        }
        let Some(chunk) = self.chunks.first_mut() else {
            return;
        };
        let part = chunk.keys.partition_point(|&key| key <= reached);
        if part > 0 {
            take(&chunk.keys[..part], &chunk.slots[..part]);
            chunk.keys.drain(..part);
            chunk.slots.drain(..part);
            chunk.first = (chunk.keys[0], chunk.slots[0]);
        }
    }

    /// Returns every entry, lowest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (i64, Slot)> {
        self.chunks
            .iter()
            .flat_map(|chunk| chunk.keys.iter().copied().zip(chunk.slots.iter().copied()))
    }

    /// Returns the allocated memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let entries: usize = self
            .chunks
            .iter()
            .map(|chunk| chunk.keys.capacity() * 8 + chunk.slots.capacity() * 4)
            .sum();
        size_of::<Self>() + self.chunks.capacity() * size_of::<Chunk>() + entries
    }

    /// Returns the index of the chunk to which `entry` belongs.
    fn chunk_of(&self, entry: (i64, Slot)) -> usize {
        self.chunks
            .partition_point(|chunk| chunk.first <= entry)
            .saturating_sub(1)
    }

    fn join_small(&mut self, at: usize) {
        let len = self.chunks[at].keys.len();
        if len == 0 {
            self.chunks.remove(at);
        } else if len < CHUNK_MIN && self.chunks.len() > 1 {
            let left = if at + 1 < self.chunks.len() { at } else { at - 1 };
            if self.chunks[left].keys.len() + self.chunks[left + 1].keys.len() <= CHUNK_MAX / 2 {
                let right = self.chunks.remove(left + 1);
                self.chunks[left].keys.extend(right.keys);
                self.chunks[left].slots.extend(right.slots);
            }
        }
    }
}

impl Chunk {
    /// Returns the position of the entry (`Ok`), or the position at which to insert it (`Err`).
    fn find(&self, key: i64, slot: Slot) -> Result<usize, usize> {
        let from = self.keys.partition_point(|&other| other < key);
        let equal = self.keys[from..].partition_point(|&other| other == key);
        self.slots[from..from + equal]
            .binary_search(&slot)
            .map(|at| from + at)
            .map_err(|at| from + at)
    }

    fn insert(&mut self, key: i64, slot: Slot) {
        let at = self.find(key, slot).unwrap_or_else(|at| at);
        if self.keys.len() == self.keys.capacity() {
            // Grows by a quarter instead of doubling: most chunks of rarely watched stocks stay small.
            let more = (self.keys.len() / 4).max(4);
            self.keys.reserve_exact(more);
            self.slots.reserve_exact(more);
        }
        self.keys.insert(at, key);
        self.slots.insert(at, slot);
        self.first = (self.keys[0], self.slots[0]);
    }

    fn remove(&mut self, key: i64, slot: Slot) -> bool {
        let Ok(at) = self.find(key, slot) else {
            return false;
        };
        self.keys.remove(at);
        self.slots.remove(at);
        if let (Some(&key), Some(&slot)) = (self.keys.first(), self.slots.first()) {
            self.first = (key, slot);
        }
        true
    }

    fn split_off(&mut self, at: usize) -> Self {
        let (keys, slots) = (self.keys.split_off(at), self.slots.split_off(at));
        self.keys.shrink_to(CHUNK_MAX * 3 / 4);
        self.slots.shrink_to(CHUNK_MAX * 3 / 4);
        Self {
            first: (keys[0], slots[0]),
            keys,
            slots,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[derive(Clone, Debug)]
    enum Step {
        Insert(i64, u32),
        Remove(prop::sample::Index),
        Drain(i64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            60 => (-40_i64..40, 0_u32..100_000).prop_map(|(key, slot)| Step::Insert(key, slot)),
            20 => any::<prop::sample::Index>().prop_map(Step::Remove),
            1 => (-45_i64..45).prop_map(Step::Drain),
        ];
        prop::collection::vec(step, 0..4000)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn index_matches_an_ordered_set(steps in steps()) {
            let (mut index, mut oracle) = (LevelIndex::default(), BTreeSet::new());
            for step in steps {
                match step {
                    Step::Insert(key, slot) => if oracle.insert((key, Slot(slot))) { index.insert(key, Slot(slot)) },
                    Step::Remove(at) if !oracle.is_empty() => {
                        let (key, slot) = *oracle.iter().nth(at.index(oracle.len())).unwrap();
                        oracle.remove(&(key, slot));
                        prop_assert!(index.remove(key, slot));
                        prop_assert!(!index.remove(key, slot));
                    }
                    Step::Remove(_) => prop_assert!(!index.remove(0, Slot(0))),
                    Step::Drain(reached) => {
                        let mut taken = Vec::new();
                        index.drain_through(reached, |keys, slots| {
                            taken.extend(keys.iter().copied().zip(slots.iter().copied()));
                        });
                        let kept = oracle.split_off(&(reached + 1, Slot(0)));
                        prop_assert_eq!(taken, oracle.into_iter().collect::<Vec<_>>());
                        oracle = kept;
                    }
                }
                prop_assert_eq!(index.is_empty(), oracle.is_empty());
                prop_assert_eq!(index.first(), oracle.first().map(|entry| entry.0));
            }
            prop_assert_eq!(index.iter().collect::<Vec<_>>(), oracle.into_iter().collect::<Vec<_>>());
        }
    }
}
