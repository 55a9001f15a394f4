//! Messages to channels.

use std::fmt;

use url::Url;
use uuid::Uuid;

/// The label of the button or link that opens the page of the alert.
pub(super) const OPEN_LABEL: &str = "Open";

/// A message to a channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelMessage {
    /// The id of the message, the same in each attempt. ntfy replaces a notification with the same id.
    pub id: Uuid,
    /// The title, one line.
    pub title: String,
    /// The text without markup; lines are separated by line feeds.
    pub text: String,
    /// The page of the alert.
    pub link: Option<Url>,
    /// The actions, the most important first. A service with a maximum number of buttons gets the first ones.
    pub actions: Vec<ChannelAction>,
    /// Whether the message should interrupt its recipient, where the service has priorities.
    pub urgent: bool,
}

/// An action on the alert of a message, as a button or a link.
#[derive(Clone, PartialEq, Eq)]
pub struct ChannelAction {
    /// The kind.
    pub kind: ChannelActionKind,
    /// The signed link. GET shows a page and changes nothing; POST performs the action.
    pub url: Url,
    /// The data that Telegram returns when the button is pressed. Without it, or if it exceeds 64 bytes, the button opens `url`.
    pub callback_data: Option<String>,
}

/// The kind of an action.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ChannelActionKind {
    /// Acknowledges the firing, which ends its escalation.
    Acknowledge,
    /// Changes the alert.
    Change(AlertButton),
    /// Acknowledges all firings that a message lists.
    AcknowledgeAll,
}

/// A button or link of a message that changes the alert.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AlertButton {
    /// Snoozes it for an hour.
    SnoozeOneHour,
    /// Snoozes it until the next session opens.
    SnoozeUntilOpen,
    /// Pauses it.
    Pause,
    /// Arms it again.
    Rearm,
}

impl ChannelActionKind {
    /// The kinds of actions on one firing and its alert, the most important first.
    pub const OF_FIRING: &'static [Self] = &[
        Self::Acknowledge,
        Self::Change(AlertButton::SnoozeOneHour),
        Self::Change(AlertButton::SnoozeUntilOpen),
        Self::Change(AlertButton::Pause),
        Self::Change(AlertButton::Rearm),
    ];

    /// All kinds. Tokens of links contain the position of theirs, so new ones are added at the end.
    pub const ALL: &'static [Self] = &[
        Self::Acknowledge,
        Self::Change(AlertButton::SnoozeOneHour),
        Self::Change(AlertButton::SnoozeUntilOpen),
        Self::Change(AlertButton::Pause),
        Self::Change(AlertButton::Rearm),
        Self::AcknowledgeAll,
    ];

    /// Returns the label of the button or link.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Acknowledge => "Acknowledge",
            Self::Change(AlertButton::SnoozeOneHour) => "Snooze 1 h",
            Self::Change(AlertButton::SnoozeUntilOpen) => "Snooze until open",
            Self::Change(AlertButton::Pause) => "Pause",
            Self::Change(AlertButton::Rearm) => "Re-arm",
            Self::AcknowledgeAll => "Acknowledge all",
        }
    }

    /// Returns the path of the page of the signed link.
    #[must_use]
    pub const fn page(self) -> &'static str {
        match self {
            Self::Acknowledge | Self::AcknowledgeAll => "acknowledge",
            Self::Change(_) => "change-alert",
        }
    }
}

impl fmt::Debug for ChannelAction {
    // The link and the data are credentials: they permit the action.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChannelAction")
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

impl ChannelMessage {
    /// Returns the text, or the title if the text is blank: services reject a message without a text.
    pub(super) fn text_or_title(&self) -> &str {
        if self.text.trim().is_empty() {
            &self.title
        } else {
            &self.text
        }
    }

    /// Returns the labels and URLs of the page of the alert and of all actions.
    pub(super) fn links(&self) -> impl Iterator<Item = (&'static str, &Url)> {
        let page = self.link.iter().map(|url| (OPEN_LABEL, url));
        page.chain(self.actions.iter().map(|action| (action.kind.label(), &action.url)))
    }

    /// Returns the links as lines of a text, for services without buttons.
    pub(super) fn link_lines(&self) -> String {
        let lines: Vec<String> = self.links().map(|(label, url)| format!("{label}: {url}")).collect();
        lines.join("\n")
    }
}
