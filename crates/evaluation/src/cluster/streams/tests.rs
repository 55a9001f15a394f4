use uuid::Uuid;

use super::*;
use crate::cluster::message::Content;

const ONE: Uuid = Uuid::from_u128(1);
const OTHER: Uuid = Uuid::from_u128(2);

fn at(millis: i64) -> SignedDuration {
    SignedDuration::from_millis(millis)
}

fn message(origin: Uuid, sequence: u64) -> MarketMessage {
    MarketMessage {
        origin,
        sequence,
        settled: sequence.saturating_sub(1),
        content: Content::Beat(0),
    }
}

struct Receiver {
    streams: Streams,
}

impl Receiver {
    /// A receiver that has heard the first message of one origin.
    fn after_first() -> Self {
        let mut receiver = Self {
            streams: Streams::default(),
        };
        assert_eq!(receiver.take(1, 0), Some(vec![1]));
        receiver
    }

    /// Takes a message and returns the numbers of the next ones; `None` if it is a repetition.
    fn take(&mut self, sequence: u64, millis: i64) -> Option<Vec<u64>> {
        match self.streams.take(message(ONE, sequence), false, at(millis)) {
            Arrival::Next(next) => Some(next.into_iter().map(|message| message.sequence).collect()),
            Arrival::Repeated => None,
        }
    }

    fn beat(&mut self, last: u64, millis: i64) {
        let beat = self.streams.take(message(ONE, last), true, at(millis));
        assert_eq!(beat, Arrival::Next(Vec::new()));
    }

    fn requests(&mut self, millis: i64) -> Vec<(u64, u64)> {
        let due = self.streams.due_requests(at(millis));
        due.into_iter().map(|(_, missed)| (missed.from, missed.until)).collect()
    }
}

#[test]
fn messages_of_an_origin_are_passed_on_once_and_in_order() {
    let mut receiver = Receiver::after_first();
    assert_eq!(receiver.take(2, 0), Some(vec![2]));
    assert_eq!(receiver.take(2, 0), None);
    assert_eq!(receiver.take(1, 0), None);
    assert_eq!(receiver.take(5, 0), Some(vec![]));
    assert_eq!(receiver.take(4, 0), Some(vec![]));
    assert_eq!(receiver.take(3, 0), Some(vec![3, 4, 5]));
    assert_eq!(receiver.take(4, 0), None);
}

#[test]
fn stream_begins_behind_the_settled_messages() {
    let mut streams = Streams::default();
    let heard = MarketMessage {
        settled: 4,
        ..message(ONE, 7)
    };
    assert_eq!(streams.take(heard.clone(), false, at(0)), Arrival::Next(Vec::new()));
    assert_eq!(streams.take(message(ONE, 4), false, at(0)), Arrival::Repeated);
    streams.take(message(ONE, 5), false, at(0));
    let next = streams.take(message(ONE, 6), false, at(0));
    assert_eq!(next, Arrival::Next(vec![message(ONE, 6), heard]));
    // A beat names the last message, which may not be settled.
    let beat = MarketMessage {
        settled: 6,
        ..message(OTHER, 7)
    };
    streams.take(beat, true, at(0));
    assert_eq!(streams.take(message(OTHER, 6), false, at(0)), Arrival::Repeated);
    assert_eq!(
        streams.take(message(OTHER, 7), false, at(0)),
        Arrival::Next(vec![message(OTHER, 7)])
    );
}

#[test]
fn missing_messages_are_requested_until_they_arrive() {
    let mut receiver = Receiver::after_first();
    receiver.take(4, 0);
    assert_eq!(receiver.requests(199), []);
    assert_eq!(receiver.requests(200), [(2, 3)]);
    assert_eq!(receiver.requests(399), []);
    assert_eq!(receiver.requests(400), [(2, 3)]);
    receiver.take(2, 400);
    receiver.take(3, 400);
    assert_eq!(receiver.requests(600), []);
}

#[test]
fn beat_shows_that_the_last_messages_are_missing() {
    let mut receiver = Receiver::after_first();
    receiver.beat(1, 0);
    assert_eq!(receiver.requests(1_000), []);
    receiver.beat(3, 1_000);
    assert_eq!(receiver.requests(1_200), [(2, 3)]);
}

#[test]
fn gap_is_given_up_when_it_is_not_filled_in_time() {
    let mut receiver = Receiver::after_first();
    receiver.take(3, 0);
    receiver.take(6, 0);
    let (next, gaps) = receiver.streams.give_up_old_gaps(at(4_999));
    assert_eq!((next.len(), gaps), (0, 0));
    let (next, gaps) = receiver.streams.give_up_old_gaps(at(5_000));
    let numbers: Vec<u64> = next.into_iter().map(|message| message.sequence).collect();
    assert_eq!((numbers, gaps), (vec![3], 1), "the gap behind it has its own time");
    assert_eq!(receiver.take(2, 5_000), None);
    assert_eq!(receiver.requests(5_200), [(4, 5)]);
}

#[test]
fn messages_that_are_missing_at_the_end_are_given_up_too() {
    let mut receiver = Receiver::after_first();
    receiver.beat(3, 0);
    let (next, gaps) = receiver.streams.give_up_old_gaps(at(5_000));
    assert_eq!((next.len(), gaps), (0, 1));
    assert_eq!(receiver.take(4, 5_000), Some(vec![4]));
}

#[test]
fn too_many_messages_behind_a_gap_end_it() {
    let mut receiver = Receiver::after_first();
    let last = u64::try_from(MAX_WAITING).unwrap() + 2;
    for sequence in 3..=last {
        assert_eq!(receiver.take(sequence, 0), Some(vec![]));
    }
    let next = receiver.take(last + 1, 0).unwrap();
    assert_eq!((next.first(), next.last()), (Some(&3), Some(&(last + 1))));
}
