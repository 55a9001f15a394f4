//! One attempt to send a message to ntfy.

use http::header::AUTHORIZATION;

use super::{NtfyConfig, error, render};
use crate::address::LookupOwner;
use crate::channels::exchange::{Exchange, json, json_headers};
use crate::channels::message::ChannelMessage;
use crate::channels::outcome::{SendFailure, SendResult};
use crate::provider::BearerToken;

pub(in crate::channels) async fn send(
    exchange: &Exchange,
    owner: LookupOwner,
    config: &NtfyConfig,
    message: &ChannelMessage,
) -> SendResult {
    let mut headers = json_headers();
    if let Some(token) = &config.token {
        let token = BearerToken::new(token.expose());
        let token = token.ok_or_else(|| SendFailure::unsendable("`config.token` has characters that no token has"))?;
        headers.insert(AUTHORIZATION, token.into_header());
    }
    let body = json(&render::body(&config.topic, message));
    let response = exchange.post_to_user_url(owner, &config.url, headers, body);
    error::result(&response.await?, exchange.now())
}
