//! The order of the messages of each origin: without repetitions, and without gaps unless they cannot be filled.
//!
//! The bus may lose a message, and an origin repeats those that were not acknowledged. So each origin numbers its messages. A message
//! after a gap waits until the origin has sent the missing ones again, or for [`MAX_GAP`]: after that no node has them any more.

use std::collections::{BTreeMap, HashMap};

use jiff::SignedDuration;
use uuid::Uuid;

use super::message::{MarketMessage, MissedMessages};

/// How long later messages wait for missing ones.
const MAX_GAP: SignedDuration = SignedDuration::from_secs(5);
/// The interval of requests for missing messages.
const REQUEST_INTERVAL: SignedDuration = SignedDuration::from_millis(200);
/// The maximum number of messages that wait behind a gap. The earliest gap is given up beyond it.
const MAX_WAITING: usize = 4_096;
/// The maximum number of messages that can have been missed. No node keeps more.
const MAX_JUMP: u64 = 1 << 32;
/// An origin that has sent nothing for this long, not even a beat, has ended.
const ORIGIN_LIFETIME: SignedDuration = SignedDuration::from_mins(10);

/// The result of an arrival.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Arrival {
    /// These messages are next, in their order. It may be none.
    Next(Vec<MarketMessage>),
    /// The message was processed before.
    Repeated,
}

/// The messages of one origin.
#[derive(Debug)]
struct Stream {
    /// The number of the next message.
    next: u64,
    /// The messages behind a gap.
    waiting: BTreeMap<u64, MarketMessage>,
    /// The number of the last message that the origin has sent, as far as it is known.
    last_sent: u64,
    /// Since when messages are missing.
    gap_since: Option<SignedDuration>,
    requested_at: Option<SignedDuration>,
    heard_at: SignedDuration,
}

/// The messages of all origins. Times are uptimes of this machine.
#[derive(Debug, Default)]
pub(crate) struct Streams(HashMap<Uuid, Stream>);

impl Streams {
    /// Takes a message, or a beat, which has the number of the last message before it. The stream of an origin begins behind its settled
    /// messages, which are in the database.
    pub(crate) fn take(&mut self, message: MarketMessage, is_beat: bool, now: SignedDuration) -> Arrival {
        let first = message.settled.min(message.sequence).saturating_add(1);
        let stream = self.0.entry(message.origin).or_insert_with(|| Stream {
            next: first,
            waiting: BTreeMap::new(),
            last_sent: 0,
            gap_since: None,
            requested_at: None,
            heard_at: now,
        });
        stream.heard_at = now;
        if message.sequence > stream.next.saturating_add(MAX_JUMP) {
            tracing::warn!(origin = %message.origin, "a message has a number far ahead of the others and is left out");
            return Arrival::Next(Vec::new());
        }
        stream.last_sent = stream.last_sent.max(message.sequence);
        if is_beat {
            stream.note_gap(now);
            return Arrival::Next(Vec::new());
        }
        if message.sequence < stream.next {
            return Arrival::Repeated;
        }
        stream.waiting.insert(message.sequence, message);
        let mut next = stream.take_next();
        if stream.waiting.len() > MAX_WAITING {
            next.extend(stream.give_up());
        }
        stream.note_gap(now);
        Arrival::Next(next)
    }

    /// Returns the requests for missing messages that are due.
    pub(crate) fn due_requests(&mut self, now: SignedDuration) -> Vec<(Uuid, MissedMessages)> {
        let mut due = Vec::new();
        for (&origin, stream) in &mut self.0 {
            let is_due = stream
                .requested_at
                .is_none_or(|at| now.saturating_sub(at) >= REQUEST_INTERVAL);
            if stream.gap_since.is_some() && is_due {
                stream.requested_at = Some(now);
                due.push((origin, stream.missing()));
            }
        }
        due
    }

    /// Gives up gaps that could not be filled in time. Returns the messages behind them, in order, and the number of gaps.
    pub(crate) fn give_up_old_gaps(&mut self, now: SignedDuration) -> (Vec<MarketMessage>, u64) {
        let (mut next, mut gaps) = (Vec::new(), 0);
        self.0
            .retain(|_, stream| now.saturating_sub(stream.heard_at) < ORIGIN_LIFETIME);
        for stream in self.0.values_mut() {
            if stream
                .gap_since
                .is_some_and(|since| now.saturating_sub(since) >= MAX_GAP)
            {
                gaps += 1;
                next.extend(stream.give_up());
                stream.gap_since = None;
                stream.note_gap(now);
            }
        }
        (next, gaps)
    }
}

impl Stream {
    /// Takes the messages that are next.
    fn take_next(&mut self) -> Vec<MarketMessage> {
        let mut taken = Vec::new();
        while let Some(message) = self.waiting.remove(&self.next) {
            self.next += 1;
            taken.push(message);
        }
        taken
    }

    /// Continues behind the first gap.
    fn give_up(&mut self) -> Vec<MarketMessage> {
        self.next = self.waiting.keys().next().copied().unwrap_or(self.last_sent + 1);
        self.take_next()
    }

    /// The missing messages before the first one that waits.
    fn missing(&self) -> MissedMessages {
        let waiting = self.waiting.keys().next().map(|first| first - 1);
        MissedMessages {
            from: self.next,
            until: waiting.unwrap_or(self.last_sent),
        }
    }

    fn note_gap(&mut self, now: SignedDuration) {
        if self.last_sent < self.next {
            (self.gap_since, self.requested_at) = (None, None);
        } else if self.gap_since.is_none() {
            // A message that is on its way is requested only if it has not arrived after the first interval.
            (self.gap_since, self.requested_at) = (Some(now), Some(now));
        }
    }
}

#[cfg(test)]
mod tests;
