//! The purposes of alerts.

use std::fmt;

alerts::named_enum! {
    /// The purpose of an alert.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    pub enum Role {
        /// The price that the owner named.
        OwnTarget = "own_target",
        /// A good price to buy at.
        Entry = "entry",
        /// A better price to buy at.
        DeeperEntry = "deeper_entry",
        /// The sign that an upward move has begun.
        Breakout = "breakout",
        /// A good price to sell at.
        Target = "target",
        /// A better price to sell at.
        FartherTarget = "farther_target",
        /// The price at which the reason to hold no longer applies.
        Stop = "stop",
        /// The price has moved very far in a short time, or returns from there.
        Momentum = "momentum",
        /// The averages show that the trend begins, is met or is broken.
        TrendSign = "trend",
        /// A date is near.
        Event = "event",
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
