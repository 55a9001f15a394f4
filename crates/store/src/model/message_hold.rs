//! Why a message is held back.

alerts::named_enum! {
    /// Why a message about a firing is held back for a while.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum MessageHold {
        /// The quiet hours or the absence of its owner.
        QuietHours = "quiet_hours",
        /// The digest of its channel.
        Digest = "digest",
        /// The daily budget of its channel.
        Budget = "budget",
        /// A message with many firings that its channel got within the last minute.
        Burst = "burst",
    }
}

impl MessageHold {
    /// Returns whether the messages that are held back until one instant become one message, however few they are.
    pub(crate) const fn is_collected(self) -> bool {
        match self {
            Self::QuietHours | Self::Digest | Self::Budget => true,
            Self::Burst => false,
        }
    }
}

/// The names of all [`MessageHold`]s, as an SQL list.
macro_rules! message_holds {
    () => {
        "'quiet_hours', 'digest', 'budget', 'burst'"
    };
}
pub(crate) use message_holds;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sql_list_has_all_names() {
        let names = MessageHold::ALL.iter().map(|hold| format!("'{}'", hold.name()));
        assert_eq!(message_holds!(), names.collect::<Vec<_>>().join(", "));
    }
}
