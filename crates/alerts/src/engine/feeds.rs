//! The state of the feeds: those that have delivered data, and those that are lost.

use std::collections::BTreeSet;

use super::event::Feed;

/// The feeds that have delivered data, and those that are lost.
#[derive(Clone, Debug, Default)]
pub(super) struct FeedStates {
    delivered: BTreeSet<Feed>,
    lost: BTreeSet<Feed>,
}

impl FeedStates {
    /// Records data of a feed. A feed that delivers is not lost.
    pub(super) fn deliver(&mut self, feed: Feed) {
        self.delivered.insert(feed);
        self.restore(feed);
    }

    /// Marks a feed as lost.
    pub(super) fn lose(&mut self, feed: Feed) {
        self.lost.insert(feed);
    }

    /// Marks a feed as available again.
    pub(super) fn restore(&mut self, feed: Feed) {
        self.lost.remove(&feed);
    }

    pub(super) fn is_lost(&self, feed: Feed) -> bool {
        self.lost.contains(&feed)
    }

    /// Returns whether the feed has delivered anything, for any stock.
    pub(super) fn has_delivered(&self, feed: Feed) -> bool {
        self.delivered.contains(&feed)
    }
}
