//! The number of open streams of each account.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use service::AccountId;

/// The largest number of streams that an account has open on one process.
const MAX_STREAMS_PER_ACCOUNT: usize = 20;

/// The open streams of this process.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenStreams(Arc<Mutex<HashMap<AccountId, usize>>>);

/// One open stream. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct OpenStream {
    streams: OpenStreams,
    account: AccountId,
}

impl OpenStreams {
    /// Opens a stream, unless the account has too many.
    pub(crate) fn open(&self, account: AccountId) -> Option<OpenStream> {
        let mut streams = self.lock();
        let count = streams.entry(account).or_default();
        if *count >= MAX_STREAMS_PER_ACCOUNT {
            return None;
        }
        *count += 1;
        Some(OpenStream {
            streams: self.clone(),
            account,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<AccountId, usize>> {
        // A panic elsewhere leaves the map consistent, because each change is one insertion or removal.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut streams = self.streams.lock();
        if let Some(count) = streams.get_mut(&self.account) {
            *count -= 1;
            if *count == 0 {
                streams.remove(&self.account);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn account_may_open_a_stream_when_one_has_ended() {
        let account = AccountId(uuid::Uuid::from_u128(1));
        let streams = OpenStreams::default();
        let mut open: Vec<_> = (0..MAX_STREAMS_PER_ACCOUNT).map(|_| streams.open(account)).collect();
        assert!(open.iter().all(Option::is_some));
        assert!(streams.open(account).is_none());
        assert!(streams.open(AccountId(uuid::Uuid::from_u128(2))).is_some());
        open.pop();
        assert!(streams.open(account).is_some());
        drop(open);
        assert!(streams.lock().is_empty());
    }
}
