//! The lists that clients read again and again with `If-None-Match`, and the states in which they were read. While the state of a list
//! has not changed, the response is 304 without reading the list.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use service::AccountId;
use service::alerts::ListState;

use crate::entity_tag::EntityTag;

/// The maximum number of lists.
const MAX_LISTS: usize = 1_024;
/// The maximum number of lists of one account.
const MAX_LISTS_PER_ACCOUNT: usize = 32;
/// The maximum length of a query. Lists with a longer one are read each time.
const MAX_QUERY_BYTES: usize = 256;
/// How long a list is kept. It bounds how long a client sees an old list after the database was replaced by an older copy.
const LIST_LIFETIME: SignedDuration = SignedDuration::from_secs(60);

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
pub(crate) struct CachedList {
    pub(crate) tag: EntityTag,
    pub(crate) state: ListState,
    pub(crate) read_at: Timestamp,
}

/// The lists that were read last.
#[derive(Debug, Default)]
pub(crate) struct ListCache(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    lists: HashMap<ListKey, Arc<CachedList>>,
    /// The keys in the order of their insertion.
    keys: VecDeque<ListKey>,
}

impl ListCache {
    /// Returns a list as it was read within the last minute.
    pub(crate) fn get(&self, key: &ListKey, now: Timestamp) -> Option<Arc<CachedList>> {
        let list = self.entries().lists.get(key).cloned()?;
        let is_recent = (SignedDuration::ZERO..LIST_LIFETIME).contains(&now.duration_since(list.read_at));
        is_recent.then_some(list)
    }

    /// Inserts a list, and evicts the oldest one of the account, or of all, if there are too many.
    pub(crate) fn insert(&self, key: ListKey, list: CachedList) {
        let mut entries = self.entries();
        if entries.lists.insert(key.clone(), Arc::new(list)).is_some() {
            return;
        }
        let account = key.account;
        entries.keys.push_back(key);
        let of_account = entries.keys.iter().filter(|key| key.account == account).count();
        let evicted = if of_account > MAX_LISTS_PER_ACCOUNT {
            entries.keys.iter().position(|key| key.account == account)
        } else {
            (entries.keys.len() > MAX_LISTS).then_some(0)
        };
        if let Some(key) = evicted.and_then(|at| entries.keys.remove(at)) {
            entries.lists.remove(&key);
        }
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        // A panic elsewhere cannot leave the entries inconsistent: nothing in `insert` panics.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use service::AlertRevision;
    use uuid::Uuid;

    use super::*;

    fn key(account: usize, number: usize) -> ListKey {
        let account = AccountId(Uuid::from_u128(account as u128));
        ListKey::new(account, Some(&format!("page={number}"))).unwrap()
    }

    fn list() -> CachedList {
        CachedList {
            tag: EntityTag::of(&[b"[]"]),
            state: ListState::of(AlertRevision(1), &[], true),
            read_at: Timestamp::UNIX_EPOCH,
        }
    }

    fn is_kept(cache: &ListCache, key: &ListKey) -> bool {
        cache.get(key, Timestamp::UNIX_EPOCH).is_some()
    }

    #[test]
    fn newest_lists_of_all_accounts_are_kept() {
        let cache = ListCache::default();
        for account in 0..10 * MAX_LISTS {
            cache.insert(key(account, 1), list());
        }
        let kept = (0..10 * MAX_LISTS).filter(|account| is_kept(&cache, &key(*account, 1)));
        assert!(kept.eq(9 * MAX_LISTS..10 * MAX_LISTS));
    }

    #[test]
    fn account_evicts_only_its_own_lists() {
        let cache = ListCache::default();
        cache.insert(key(1, 1), list());
        for number in 0..10 * MAX_LISTS {
            cache.insert(key(2, number), list());
        }
        assert!(is_kept(&cache, &key(1, 1)));
        let kept = (0..10 * MAX_LISTS).filter(|number| is_kept(&cache, &key(2, *number)));
        assert_eq!(kept.count(), MAX_LISTS_PER_ACCOUNT);
    }

    #[test]
    fn list_is_kept_for_a_minute() {
        let cache = ListCache::default();
        cache.insert(key(1, 1), list());
        let is_kept_at = |second| cache.get(&key(1, 1), Timestamp::from_second(second).unwrap()).is_some();
        assert!(is_kept_at(0) && is_kept_at(59));
        assert!(!is_kept_at(60) && !is_kept_at(-1));
    }

    #[test]
    fn long_queries_have_no_key() {
        let query = |bytes| ListKey::new(AccountId(Uuid::nil()), Some(&"x".repeat(bytes)));
        assert!(query(MAX_QUERY_BYTES).is_some() && query(MAX_QUERY_BYTES + 1).is_none());
    }
}
