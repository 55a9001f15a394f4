//! One attempt to send a message to Telegram.

use super::bot::TelegramBot;
use super::{TelegramConfig, render};
use crate::channels::message::ChannelMessage;
use crate::channels::outcome::{AcceptedMessage, SendFailure, SendResult};

pub(in crate::channels) async fn send(
    bot: &TelegramBot,
    config: &TelegramConfig,
    message: &ChannelMessage,
) -> SendResult {
    let chat_id = config.chat_id;
    let chat_id = chat_id.ok_or_else(|| SendFailure::unsendable("link a chat first: send the code to the bot"))?;
    let token = bot.token(config.bot_token.as_ref())?;
    let error = match bot.send_message(token, &render::body(chat_id, message)).await {
        Ok(accepted) => return Ok(accepted),
        Err(error) => error,
    };
    // The group became a supergroup. The message was not sent, and its chat has a new id.
    let new_chat_id = error.migrate_to_chat_id.ok_or(error.failure)?;
    let sent = bot.send_message(token, &render::body(new_chat_id, message)).await;
    let accepted = sent.map_err(|error| error.failure)?;
    Ok(AcceptedMessage {
        migrated_chat_id: Some(new_chat_id),
        ..accepted
    })
}
