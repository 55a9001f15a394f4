//! The templates of the bodies of deliveries.

use alerts::AlertId;

use super::NotificationChannelId;

/// The payload template of a delivery, with what it belongs to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PayloadTemplate {
    /// What it belongs to.
    pub owner: TemplateOwner,
    /// The template.
    pub source: String,
}

/// What a template belongs to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TemplateOwner {
    /// A notification channel.
    Channel {
        /// The channel.
        id: NotificationChannelId,
        /// Its name.
        name: String,
    },
    /// An alert.
    Alert(AlertId),
}
