//! Buttons of messages in Telegram chats.
//!
//! A button counts if this service has sent it, and if it was pressed in a chat that is linked, by the same bot, to a channel of the
//! account whose alert has fired. Both are checked: the authentication code of its data excludes data that a modified client makes up,
//! such as the pausing of an alert that no message offers; the chat excludes data that was copied to another bot or account.

use foundation::ServiceError;
use store::model::{AccountId, EventId, NotificationChannelType};

use super::NotificationChannels;
use super::telegram_updates::{BotToken, token_of};
use crate::messages::{ActionLink, ChannelActionKind};

const INVALID: &str = "This button is not valid any more. Open the alert to change it.";
const NOT_LINKED: &str = "This chat is not linked to the account of this alert, so its buttons have no effect here.";

/// A button that was pressed.
pub(super) struct PressedButton {
    pub(super) data: String,
    pub(super) chat_id: i64,
    pub(super) sender: Option<String>,
}

/// The action of a button that counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ButtonPress {
    /// The action.
    pub action: ChannelActionKind,
    /// The firings that the message is about, at least one.
    pub firings: Vec<EventId>,
    /// The person who pressed the button: `@name`, or else the first name.
    pub sender: Option<String>,
}

/// Performs the actions of buttons.
pub trait ButtonActions: Clone + Send + Sync + 'static {
    /// Performs an action in the name of the owner of the alert. Returns the text that is shown to the person.
    ///
    /// # Errors
    /// [`ServiceError`] if the action must be tried again.
    fn press(&self, press: ButtonPress) -> impl Future<Output = Result<String, ServiceError>> + Send;
}

impl NotificationChannels {
    /// Performs the action of a button, if it counts. Returns the text of the answer.
    pub(super) async fn press(
        &self,
        token: &BotToken,
        button: PressedButton,
        actions: &impl ButtonActions,
    ) -> Result<String, ServiceError> {
        let ports = &self.ports;
        let Some(link) = ActionLink::from_callback_data(&ports.vault, &button.data, ports.clock.now()) else {
            return Ok(INVALID.to_owned());
        };
        let firings = link.subject.firings(&ports.store).await?;
        let Some(first) = firings.first() else {
            return Ok(INVALID.to_owned());
        };
        let Some(account) = ports.store.account_of_firing(*first).await? else {
            return Ok(INVALID.to_owned());
        };
        if !self.is_linked_chat(account.id, token, button.chat_id).await? {
            return Ok(NOT_LINKED.to_owned());
        }
        let press = ButtonPress {
            action: link.action,
            firings,
            sender: button.sender,
        };
        actions.press(press).await
    }

    /// Returns whether a channel of an account has this chat with this bot.
    async fn is_linked_chat(&self, account: AccountId, token: &BotToken, chat_id: i64) -> Result<bool, ServiceError> {
        let channels = self.ports.store.notification_channels(account).await?;
        let mut configs = channels
            .iter()
            .filter(|channel| channel.channel_type == NotificationChannelType::Telegram)
            .filter_map(|channel| self.telegram_config(channel));
        Ok(configs.any(|config| config.chat_id == Some(chat_id) && token_of(&config) == *token))
    }
}
