//! The settings of an account, one module for each tab.

mod account;
mod agents;
mod channel_limits;
mod channels;
mod keys;
mod new_channel;
mod notification_channels;
mod profile;
mod sessions;
mod webhooks;

pub use account::AccountPage;
pub use agents::{AgentsPage, GrantLine};
pub use channel_limits::ChannelLimits;
pub use channels::{ChannelsPage, MessageTestReceipt};
pub use keys::{KeyLine, KeysPage, NewKey};
pub use new_channel::{NewChannelPage, NewChannelType, config_members, remove_secrets};
pub(crate) use notification_channels::type_name_text;
pub use notification_channels::{ChannelLine, ChannelState, ChannelTestLine, OwnDestinations, TelegramCode, type_text};
pub use profile::ProfilePage;
pub use sessions::{SessionLine, SessionsPage, client_text};
pub use webhooks::{TestReceipt, WebhookLine, WebhookSecret, WebhooksPage};

/// A tab of the settings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SettingsTab {
    /// `/settings`
    Profile,
    /// `/settings/channels`
    Channels,
    /// `/settings/keys`
    Keys,
    /// `/settings/webhooks`
    Webhooks,
    /// `/settings/agents`
    Agents,
    /// `/settings/sessions`
    Sessions,
    /// `/settings/account`
    Account,
}

impl SettingsTab {
    /// All tabs in their order.
    pub const ALL: [Self; 7] = [
        Self::Profile,
        Self::Channels,
        Self::Keys,
        Self::Webhooks,
        Self::Agents,
        Self::Sessions,
        Self::Account,
    ];

    /// Returns the path.
    #[must_use]
    pub const fn path(self) -> &'static str {
        match self {
            Self::Profile => "/settings",
            Self::Channels => "/settings/channels",
            Self::Keys => "/settings/keys",
            Self::Webhooks => "/settings/webhooks",
            Self::Agents => "/settings/agents",
            Self::Sessions => "/settings/sessions",
            Self::Account => "/settings/account",
        }
    }

    /// Returns the id of its text.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Profile => "settings-profile",
            Self::Channels => "settings-channels",
            Self::Keys => "settings-keys",
            Self::Webhooks => "settings-webhooks",
            Self::Agents => "settings-agents",
            Self::Sessions => "settings-sessions",
            Self::Account => "settings-account",
        }
    }

    fn is(self, other: Self) -> bool {
        self == other
    }
}
