//! The quotes of the last messages that a node has processed, until their origins have all acknowledgements.
//!
//! A node that takes shards over judges those again whose results are not on disk. It also acknowledges a message again whose
//! acknowledgement was lost.

use std::collections::VecDeque;
use std::sync::Arc;

use ::market::records::QuoteRow;
use jiff::{SignedDuration, Timestamp};
use store::model::{Epoch, Shard};
use uuid::Uuid;

use super::message::{ReceivedBatch, RejectedQuote};
use super::shard_set::ShardSet;

/// The maximum number of messages. Without an earlier one, its sender sends the data again.
const MAX_KEPT: usize = 4_096;
/// How long a message is kept: longer than its origin waits for acknowledgements. Afterwards its sender sends the data again.
const KEPT_FOR: SignedDuration = SignedDuration::from_secs(10);

/// A message with market data: its origin and number.
pub(super) type MessageId = (Uuid, u64);

/// The quotes of a message.
#[derive(Debug)]
pub(super) struct ReceivedQuotes {
    pub(super) id: MessageId,
    /// See [`ReceivedBatch::position`].
    pub(super) position: i64,
    /// The shards of all stocks of the message.
    pub(super) shards: ShardSet,
    pub(super) quotes: Vec<QuoteRow>,
    /// When it was judged first.
    pub(super) arrived_at: Timestamp,
}

impl ReceivedQuotes {
    pub(super) fn of(id: MessageId, received: &ReceivedBatch, arrived_at: Timestamp) -> Self {
        Self {
            id,
            position: received.position,
            shards: received.batch.symbols().map(Shard::of).collect(),
            quotes: received.batch.quotes.clone(),
            arrived_at,
        }
    }
}

#[derive(Debug)]
struct RecentMessage {
    received: Arc<ReceivedQuotes>,
    /// The shards that this node has judged as their owner, with the epochs.
    judged: Vec<(Shard, Epoch)>,
    /// The rejected quotes, each with its shard.
    rejected: Vec<(Shard, RejectedQuote)>,
    processed_at: SignedDuration,
}

/// The last messages, in the order in which they were processed. Times are uptimes of this machine.
#[derive(Debug, Default)]
pub(super) struct RecentMessages(VecDeque<RecentMessage>);

impl RecentMessages {
    /// Adds a message with the shards that this node has judged as their owner, and the rejected quotes.
    pub(super) fn push(
        &mut self,
        received: ReceivedQuotes,
        judged: Vec<(Shard, Epoch)>,
        rejected: Vec<(Shard, RejectedQuote)>,
        now: SignedDuration,
    ) {
        self.forget_old(now);
        self.0.push_back(RecentMessage {
            received: Arc::new(received),
            judged,
            rejected,
            processed_at: now,
        });
        if self.0.len() > MAX_KEPT {
            self.0.pop_front();
        }
    }

    /// Forgets the messages of an origin up to a number.
    pub(super) fn settle(&mut self, origin: Uuid, settled: u64) {
        self.0.retain(|message| {
            let (of, sequence) = message.received.id;
            of != origin || sequence > settled
        });
    }

    /// Returns the shards that have judged a message.
    pub(super) fn judged(&self, id: MessageId) -> &[(Shard, Epoch)] {
        let message = self.0.iter().find(|message| message.received.id == id);
        message.map_or(&[], |message| &message.judged)
    }

    /// Returns the rejected quotes of a message, each with its shard.
    pub(super) fn rejected(&self, id: MessageId) -> &[(Shard, RejectedQuote)] {
        let message = self.0.iter().find(|message| message.received.id == id);
        message.map_or(&[], |message| &message.rejected)
    }

    /// Returns the messages about some shards.
    pub(super) fn about(&mut self, shards: &ShardSet, now: SignedDuration) -> Vec<Arc<ReceivedQuotes>> {
        self.forget_old(now);
        let about = self
            .0
            .iter()
            .filter(|message| !message.received.shards.within(shards).is_empty());
        about.map(|message| Arc::clone(&message.received)).collect()
    }

    /// Records that shards have judged a message after it was added, and which of their quotes were rejected.
    pub(super) fn add_judged(
        &mut self,
        id: MessageId,
        judged: &[(Shard, Epoch)],
        rejected: Vec<(Shard, RejectedQuote)>,
    ) {
        if let Some(message) = self.0.iter_mut().find(|message| message.received.id == id) {
            message.judged.extend_from_slice(judged);
            // Not those of the former judgement, which was a standby's.
            let is_other = |shard: Shard| judged.iter().all(|(judged, _)| *judged != shard);
            message.rejected.retain(|(shard, _)| is_other(*shard));
            message.rejected.extend(rejected);
        }
    }

    fn forget_old(&mut self, now: SignedDuration) {
        while let Some(first) = self.0.front()
            && now.saturating_sub(first.processed_at) > KEPT_FOR
        {
            self.0.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGIN: Uuid = Uuid::from_u128(1);
    const OTHER: Uuid = Uuid::from_u128(2);

    fn at(secs: i64) -> SignedDuration {
        SignedDuration::from_secs(secs)
    }

    fn shards(symbol: &str) -> ShardSet {
        [Shard::of(symbol.parse().unwrap())].into_iter().collect()
    }

    fn quotes(id: MessageId, symbol: &str) -> ReceivedQuotes {
        ReceivedQuotes {
            id,
            position: 1,
            shards: shards(symbol),
            quotes: Vec::new(),
            arrived_at: Timestamp::UNIX_EPOCH,
        }
    }

    fn ids(messages: &mut RecentMessages, symbol: &str, now: SignedDuration) -> Vec<MessageId> {
        let about = messages.about(&shards(symbol), now);
        about.into_iter().map(|message| message.id).collect()
    }

    fn of_two_origins() -> RecentMessages {
        let mut messages = RecentMessages::default();
        for (id, symbol) in [
            ((ORIGIN, 1), "AAPL"),
            ((OTHER, 1), "AAPL"),
            ((ORIGIN, 2), "MSFT"),
            ((ORIGIN, 3), "AAPL"),
        ] {
            messages.push(quotes(id, symbol), Vec::new(), Vec::new(), at(1));
        }
        messages
    }

    #[test]
    fn messages_about_shards_are_returned_in_order() {
        let mut messages = of_two_origins();
        let expected = [(ORIGIN, 1), (OTHER, 1), (ORIGIN, 3)];
        assert_eq!(ids(&mut messages, "AAPL", at(1)), expected);
    }

    #[test]
    fn settled_messages_of_an_origin_are_forgotten() {
        let mut messages = of_two_origins();
        messages.settle(ORIGIN, 2);
        assert_eq!(ids(&mut messages, "AAPL", at(1)), [(OTHER, 1), (ORIGIN, 3)]);
        assert_eq!(ids(&mut messages, "MSFT", at(1)), []);
    }

    #[test]
    fn message_whose_sender_has_stopped_waiting_is_forgotten() {
        let mut messages = of_two_origins();
        assert_eq!(ids(&mut messages, "MSFT", at(11)), [(ORIGIN, 2)]);
        assert_eq!(ids(&mut messages, "MSFT", at(12)), []);
    }

    #[test]
    fn earliest_message_is_forgotten_beyond_the_maximum() {
        let mut messages = of_two_origins();
        for sequence in 4.. {
            if messages.0.len() == MAX_KEPT {
                break;
            }
            messages.push(quotes((ORIGIN, sequence), "AAPL"), Vec::new(), Vec::new(), at(1));
        }
        assert_eq!(ids(&mut messages, "MSFT", at(1)), [(ORIGIN, 2)]);
        for _ in 0..3 {
            messages.push(quotes((OTHER, 2), "AAPL"), Vec::new(), Vec::new(), at(1));
        }
        assert_eq!(ids(&mut messages, "MSFT", at(1)), []);
    }

    #[test]
    fn shards_that_judge_a_message_later_are_added() {
        let mut messages = of_two_origins();
        messages.add_judged((ORIGIN, 1), &[(Shard(3), Epoch(7))], Vec::new());
        assert_eq!(messages.judged((ORIGIN, 1)), [(Shard(3), Epoch(7))]);
        assert_eq!(messages.judged((OTHER, 1)), []);
    }

    #[test]
    fn later_judgement_of_a_shard_replaces_its_rejected_quotes() {
        let rejected = |shard, index| {
            let reason = "older".to_owned();
            (Shard(shard), RejectedQuote { index, reason })
        };
        let mut messages = RecentMessages::default();
        let of_standby = vec![rejected(3, 0), rejected(4, 1)];
        messages.push(quotes((ORIGIN, 1), "AAPL"), Vec::new(), of_standby, at(1));
        messages.add_judged((ORIGIN, 1), &[(Shard(3), Epoch(7))], vec![rejected(3, 2)]);
        assert_eq!(messages.rejected((ORIGIN, 1)), [rejected(4, 1), rejected(3, 2)]);
        assert_eq!(messages.rejected((OTHER, 1)), []);
    }
}
