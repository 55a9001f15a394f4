//! Sets of shards.

use std::fmt;

use serde::{Deserialize, Serialize};
use store::model::Shard;

/// A set of shards. Its JSON form is the list of the shards' numbers.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "Vec<u8>", into = "Vec<u8>")]
pub(crate) struct ShardSet([u64; 4]);

impl ShardSet {
    pub(crate) fn insert(&mut self, shard: Shard) {
        let (word, bit) = place(shard);
        self.0[word] |= bit;
    }

    pub(crate) fn contains(&self, shard: Shard) -> bool {
        let (word, bit) = place(shard);
        self.0[word] & bit != 0
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the shards that are also in another set.
    pub(crate) fn within(mut self, other: &Self) -> Self {
        for (word, kept) in self.0.iter_mut().zip(other.0) {
            *word &= kept;
        }
        self
    }

    /// Returns the shards that are not in another set.
    pub(crate) fn without(mut self, other: &Self) -> Self {
        for (word, less) in self.0.iter_mut().zip(other.0) {
            *word &= !less;
        }
        self
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Shard> {
        Shard::all().filter(|shard| self.contains(*shard))
    }
}

fn place(Shard(number): Shard) -> (usize, u64) {
    (usize::from(number / 64), 1 << (number % 64))
}

impl Extend<Shard> for ShardSet {
    fn extend<I: IntoIterator<Item = Shard>>(&mut self, shards: I) {
        for shard in shards {
            self.insert(shard);
        }
    }
}

impl FromIterator<Shard> for ShardSet {
    fn from_iter<I: IntoIterator<Item = Shard>>(shards: I) -> Self {
        let mut set = Self::default();
        set.extend(shards);
        set
    }
}

impl From<Vec<u8>> for ShardSet {
    fn from(numbers: Vec<u8>) -> Self {
        numbers.into_iter().map(Shard).collect()
    }
}

impl From<ShardSet> for Vec<u8> {
    fn from(set: ShardSet) -> Self {
        set.iter().map(|Shard(number)| number).collect()
    }
}

impl fmt::Debug for ShardSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(|Shard(number)| number)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(numbers: &[u8]) -> ShardSet {
        numbers.to_vec().into()
    }

    #[test]
    fn set_has_the_shards_that_were_inserted() {
        let shards = set(&[0, 63, 64, 255]);
        assert!(
            [0, 63, 64, 255]
                .into_iter()
                .all(|number| shards.contains(Shard(number)))
        );
        assert!(
            [1, 62, 65, 254]
                .into_iter()
                .all(|number| !shards.contains(Shard(number)))
        );
    }

    #[test]
    fn intersection_has_the_shards_of_both_and_difference_those_of_the_first_alone() {
        let some = set(&[1, 2, 200]);
        assert_eq!(some.within(&set(&[2, 3, 200])), set(&[2, 200]));
        assert_eq!(some.without(&set(&[2, 3])), set(&[1, 200]));
        assert!(some.without(&some).is_empty());
    }

    #[test]
    fn json_form_is_the_list_of_numbers() {
        let json = serde_json::to_string(&set(&[3, 129])).unwrap();
        assert_eq!(json, "[3,129]");
        assert_eq!(serde_json::from_str::<ShardSet>(&json).unwrap(), set(&[129, 3]));
    }
}
