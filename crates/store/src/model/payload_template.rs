//! The templates of the bodies of deliveries.

use alerts::AlertId;

use super::NotificationChannelId;

/// The payload template of a delivery.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PayloadTemplate {
    /// The owner of the template.
    pub owner: TemplateOwner,
    /// The template.
    pub source: String,
}

/// The channel or alert that has a template.
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
