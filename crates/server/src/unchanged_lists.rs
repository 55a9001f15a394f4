//! The lists that clients read again and again with `If-None-Match`, with the states in which they were read. As long as a state has not
//! changed, the response is 304 without reading the list.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use service::AccountId;
use service::alerts::ListState;

use crate::entity_tag::EntityTag;

/// The maximum number of lists.
const MAX_LISTS: usize = 1_024;
/// The maximum length of a query. Longer ones are read each time.
const MAX_QUERY_BYTES: usize = 256;

/// A list: an account, and the query of the request.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ListKey {
    account: AccountId,
    query: String,
}

impl ListKey {
    /// Returns the key of a list; `None` for a long query.
    pub(crate) fn new(account: AccountId, query: Option<&str>) -> Option<Self> {
        let query = query.unwrap_or_default();
        (query.len() <= MAX_QUERY_BYTES).then(|| Self {
            account,
            query: query.to_owned(),
        })
    }
}

/// A list as it was read.
#[derive(Clone, Debug)]
pub(crate) struct ReadList {
    pub(crate) tag: EntityTag,
    pub(crate) state: ListState,
}

/// The lists that were read last.
#[derive(Debug, Default)]
pub(crate) struct UnchangedLists(Mutex<HashMap<ListKey, Arc<ReadList>>>);

impl UnchangedLists {
    /// Returns a list as it was last read.
    pub(crate) fn get(&self, key: &ListKey) -> Option<Arc<ReadList>> {
        self.lists().get(key).cloned()
    }

    /// Keeps a list. If there are too many, any other one makes room.
    pub(crate) fn insert(&self, key: ListKey, list: ReadList) {
        let mut lists = self.lists();
        if lists.len() >= MAX_LISTS
            && !lists.contains_key(&key)
            && let Some(other) = lists.keys().next().cloned()
        {
            lists.remove(&other);
        }
        lists.insert(key, Arc::new(list));
    }

    fn lists(&self) -> MutexGuard<'_, HashMap<ListKey, Arc<ReadList>>> {
        // A panic elsewhere leaves the map consistent: each change is one insertion.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use service::AlertRevision;
    use uuid::Uuid;

    use super::*;

    fn key(number: usize) -> ListKey {
        ListKey::new(AccountId(Uuid::nil()), Some(&format!("page={number}"))).unwrap()
    }

    fn list() -> ReadList {
        ReadList {
            tag: EntityTag::of(&[b"[]"]),
            state: ListState::of(AlertRevision(1), &[]),
        }
    }

    #[test]
    fn number_of_lists_is_limited() {
        let lists = UnchangedLists::default();
        for number in 0..=MAX_LISTS {
            lists.insert(key(number), list());
        }
        assert_eq!(lists.lists().len(), MAX_LISTS);
        assert!(lists.get(&key(MAX_LISTS)).is_some());
    }

    #[test]
    fn long_queries_have_no_key() {
        let query = |bytes| ListKey::new(AccountId(Uuid::nil()), Some(&"x".repeat(bytes)));
        assert!(query(MAX_QUERY_BYTES).is_some() && query(MAX_QUERY_BYTES + 1).is_none());
    }
}
