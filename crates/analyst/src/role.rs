//! What an alert is for.

use std::fmt;

macro_rules! roles {
    ($($(#[$doc:meta])* $role:ident = $name:literal;)*) => {
        /// What an alert is for.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Role { $($(#[$doc])* $role,)* }

        impl Role {
            /// Every role there is.
            pub const ALL: &'static [Self] = &[$(Self::$role,)*];

            /// The name in an alert's parameters.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$role => $name,)* }
            }
        }
    };
}

roles! {
    /// The price that the owner named.
    OwnTarget = "own_target";
    /// A good price to buy at.
    Entry = "entry";
    /// A better price to buy at.
    DeeperEntry = "deeper_entry";
    /// The sign that the price has got going.
    Breakout = "breakout";
    /// A good price to sell at.
    Target = "target";
    /// A better price to sell at.
    FartherTarget = "farther_target";
    /// The price at which the reason to hold is gone.
    Stop = "stop";
    /// The price has run very far in a short time, or comes back from there.
    Momentum = "momentum";
    /// The averages say that the trend is made, met or broken.
    TrendSign = "trend";
    /// A date is near.
    Event = "event";
}

impl Role {
    /// The role of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|role| role.name() == name)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
