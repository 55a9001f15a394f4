//! One attempt to send a message to Discord.

use url::Url;

use super::{DiscordConfig, error, render};
use crate::address::LookupOwner;
use crate::channels::exchange::{Exchange, json, json_headers};
use crate::channels::message::ChannelMessage;
use crate::channels::outcome::{SendFailure, SendResult};

pub(in crate::channels) async fn send(
    exchange: &Exchange,
    owner: LookupOwner,
    config: &DiscordConfig,
    message: &ChannelMessage,
) -> SendResult {
    let url = confirming(config.url.expose()).ok_or_else(|| SendFailure::unsendable("`config.url` is not a URL"))?;
    let body = json(&render::body(message));
    let response = exchange.post_to_user_url(owner, url.as_str(), json_headers(), body);
    error::result(&response.await?, exchange.now())
}

/// Returns a URL with `wait=true`. Otherwise "a message that is not saved does not return an error", and the response has no id.
fn confirming(url: &str) -> Option<Url> {
    let mut url = Url::parse(url).ok()?;
    let others: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(name, _)| name != "wait")
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    url.query_pairs_mut()
        .clear()
        .extend_pairs(others)
        .append_pair("wait", "true");
    Some(url)
}
