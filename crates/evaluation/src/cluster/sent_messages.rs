//! The messages that this node has sent: the last ones, in case another node has missed them, and who has acknowledged which.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::message::{MissedMessages, RejectedQuote};
use super::shard_set::ShardSet;

/// The maximum size of the kept messages in bytes. At 50 kB for 500 quotes, this is about a thousand messages.
const MAX_KEPT_BYTES: usize = 64 << 20;

/// The maximum size of the messages that are sent again at once in bytes.
const MAX_SENT_AGAIN_BYTES: usize = 4 << 20;

#[derive(Debug, Default)]
struct State {
    /// The number of the last message.
    last: u64,
    /// The last messages, in order.
    kept: VecDeque<(u64, Arc<[u8]>)>,
    kept_bytes: usize,
    /// The messages that are waited for.
    awaited: BTreeMap<u64, AwaitedShards>,
}

/// The shards of a message that is waited for.
#[derive(Debug)]
struct AwaitedShards {
    /// Those that have not acknowledged it.
    missing: ShardSet,
    rejected: OwnersRejections,
}

/// The quotes of a message that the owners of their shards have rejected.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct OwnersRejections {
    /// The shards whose owners have reported which quotes they have rejected.
    pub(crate) reported_by: ShardSet,
    pub(crate) quotes: Vec<RejectedQuote>,
}

impl State {
    /// Returns the number of the last message before the first one that is waited for.
    fn settled(&self) -> u64 {
        let first = self.awaited.iter().find(|(_, shards)| !shards.missing.is_empty());
        first.map_or(self.last, |(sequence, _)| sequence - 1)
    }
}

/// The messages that this node has sent.
#[derive(Debug, Default)]
pub(crate) struct SentMessages {
    state: Mutex<State>,
    acknowledged: Notify,
}

/// A message that is waited for. Dropping it ends the wait.
#[derive(Debug)]
pub(crate) struct AwaitedMessage<'a> {
    messages: &'a SentMessages,
    pub(crate) sequence: u64,
    pub(crate) payload: Arc<[u8]>,
}

impl SentMessages {
    /// Adds a message that `encode` makes with its number and that of the last settled one, and waits for its acknowledgement by some shards.
    ///
    /// # Errors
    /// That of `encode`.
    pub(crate) fn add<E>(
        &self,
        shards: ShardSet,
        encode: impl FnOnce(u64, u64) -> Result<Vec<u8>, E>,
    ) -> Result<AwaitedMessage<'_>, E> {
        let mut state = self.state();
        let sequence = state.last + 1;
        let payload: Arc<[u8]> = encode(sequence, state.settled())?.into();
        state.last = sequence;
        state.kept_bytes += payload.len();
        state.kept.push_back((sequence, Arc::clone(&payload)));
        while state.kept_bytes > MAX_KEPT_BYTES
            && let Some((_, oldest)) = state.kept.pop_front()
        {
            state.kept_bytes -= oldest.len();
        }
        let awaited = AwaitedShards {
            missing: shards,
            rejected: OwnersRejections::default(),
        };
        state.awaited.insert(sequence, awaited);
        drop(state);
        Ok(AwaitedMessage {
            messages: self,
            sequence,
            payload,
        })
    }

    /// Returns the numbers of the last message and of the last settled one.
    pub(crate) fn last(&self) -> (u64, u64) {
        let state = self.state();
        (state.last, state.settled())
    }

    /// Records that shards have judged a message, and which of its quotes their owner has rejected, if it has reported them.
    pub(crate) fn acknowledge(&self, sequence: u64, shards: &ShardSet, rejected: Option<Vec<RejectedQuote>>) {
        let mut state = self.state();
        if let Some(awaited) = state.awaited.get_mut(&sequence) {
            awaited.missing = awaited.missing.without(shards);
            if let Some(rejected) = rejected {
                let of_owners = &mut awaited.rejected;
                of_owners.reported_by.extend(shards.iter());
                of_owners.quotes.extend(rejected);
                // A repeated acknowledgement has them again.
                of_owners.quotes.sort_by_key(|quote| quote.index);
                of_owners.quotes.dedup_by_key(|quote| quote.index);
            }
            if awaited.missing.is_empty() {
                self.acknowledged.notify_waiters();
            }
        }
    }

    /// Returns the first messages that another node has missed, as far as they are kept. It asks for the others afterwards.
    pub(crate) fn again(&self, missed: MissedMessages) -> Vec<Arc<[u8]>> {
        let mut bytes = 0;
        let state = self.state();
        let wanted = state
            .kept
            .iter()
            .filter(|(sequence, _)| (missed.from..=missed.until).contains(sequence));
        let wanted = wanted.map(|(_, payload)| Arc::clone(payload));
        let fits = |payload: &Arc<[u8]>| {
            bytes += payload.len();
            bytes <= MAX_SENT_AGAIN_BYTES || bytes == payload.len()
        };
        wanted.take_while(fits).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AwaitedMessage<'_> {
    /// Waits until all shards have acknowledged the message.
    pub(crate) async fn acknowledged(&self) {
        loop {
            let changed = self.messages.acknowledged.notified();
            if self.missing().is_empty() {
                return;
            }
            changed.await;
        }
    }

    /// Returns the shards that have not acknowledged the message.
    pub(crate) fn missing(&self) -> ShardSet {
        let state = self.messages.state();
        let awaited = state.awaited.get(&self.sequence);
        awaited.map(|shards| shards.missing).unwrap_or_default()
    }

    /// Returns the quotes that the owners of their shards have rejected so far.
    pub(crate) fn rejected_by_owners(&self) -> OwnersRejections {
        let state = self.messages.state();
        let awaited = state.awaited.get(&self.sequence);
        awaited.map(|shards| shards.rejected.clone()).unwrap_or_default()
    }
}

impl Drop for AwaitedMessage<'_> {
    fn drop(&mut self) {
        self.messages.state().awaited.remove(&self.sequence);
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::FutureExt;

    use super::*;

    fn shards(numbers: &[u8]) -> ShardSet {
        numbers.to_vec().into()
    }

    fn add<'a>(messages: &'a SentMessages, awaited: &[u8], bytes: usize) -> AwaitedMessage<'a> {
        let added = messages.add(shards(awaited), |_, _| Ok::<_, Infallible>(vec![0; bytes]));
        added.unwrap()
    }

    #[test]
    fn message_is_acknowledged_when_each_of_its_shards_has_judged_it() {
        let messages = SentMessages::default();
        let awaited = add(&messages, &[1, 2], 1);
        messages.acknowledge(awaited.sequence, &shards(&[1, 9]), None);
        messages.acknowledge(awaited.sequence + 1, &shards(&[2]), None);
        assert_eq!(awaited.missing(), shards(&[2]));
        assert!(awaited.acknowledged().now_or_never().is_none());
        messages.acknowledge(awaited.sequence, &shards(&[2]), None);
        assert!(awaited.acknowledged().now_or_never().is_some());
    }

    #[test]
    fn rejections_of_the_owners_are_collected_once() {
        let messages = SentMessages::default();
        let awaited = add(&messages, &[1, 2, 3], 1);
        let rejected = |index| RejectedQuote {
            index,
            reason: "older".to_owned(),
        };
        messages.acknowledge(awaited.sequence, &shards(&[1]), Some(vec![rejected(4)]));
        messages.acknowledge(awaited.sequence, &shards(&[1, 2]), Some(vec![rejected(0), rejected(4)]));
        messages.acknowledge(awaited.sequence, &shards(&[3]), None);
        let expected = OwnersRejections {
            reported_by: shards(&[1, 2]),
            quotes: vec![rejected(0), rejected(4)],
        };
        assert_eq!(awaited.rejected_by_owners(), expected);
    }

    #[test]
    fn messages_are_numbered_from_1_and_a_failed_one_has_no_number() {
        let messages = SentMessages::default();
        assert_eq!(messages.last(), (0, 0));
        assert_eq!(add(&messages, &[], 1).sequence, 1);
        assert!(
            messages
                .add(shards(&[]), |_, _| Err::<Vec<u8>, _>("too large"))
                .is_err()
        );
        assert_eq!(add(&messages, &[], 1).sequence, 2);
        assert_eq!(messages.last(), (2, 2));
    }

    #[test]
    fn messages_are_settled_up_to_the_first_one_that_is_waited_for() {
        let messages = SentMessages::default();
        let _first = add(&messages, &[], 1);
        let second = add(&messages, &[1], 1);
        let third = add(&messages, &[1], 1);
        assert_eq!(messages.last(), (3, 1));
        messages.acknowledge(third.sequence, &shards(&[1]), None);
        assert_eq!(messages.last(), (3, 1));
        drop(second);
        assert_eq!(messages.last(), (3, 3));
    }

    #[test]
    fn missed_messages_are_returned_as_far_as_they_are_kept() {
        let messages = SentMessages::default();
        for _ in 0..4 {
            add(&messages, &[], MAX_KEPT_BYTES / 3);
        }
        let sent = messages.again(MissedMessages { from: 1, until: 1 });
        assert!(sent.is_empty(), "the first is not kept any more");
        let sent = messages.again(MissedMessages { from: 1, until: 3 });
        assert_eq!(sent.len(), 1, "large ones are sent one by one");
    }

    #[test]
    fn small_missed_messages_are_sent_together() {
        let messages = SentMessages::default();
        for _ in 0..4 {
            add(&messages, &[], 10);
        }
        assert_eq!(messages.again(MissedMessages { from: 2, until: 3 }).len(), 2);
    }
}
