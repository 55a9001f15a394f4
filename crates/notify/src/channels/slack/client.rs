//! One attempt to send a message to Slack.

use super::{SlackConfig, error, render};
use crate::address::LookupOwner;
use crate::channels::exchange::{Exchange, json, json_headers};
use crate::channels::message::ChannelMessage;
use crate::channels::outcome::SendResult;

pub(in crate::channels) async fn send(
    exchange: &Exchange,
    owner: LookupOwner,
    config: &SlackConfig,
    message: &ChannelMessage,
) -> SendResult {
    let body = json(&render::body(message));
    let response = exchange.post_to_user_url(owner, config.url.expose(), json_headers(), body);
    error::result(&response.await?, exchange.now())
}
