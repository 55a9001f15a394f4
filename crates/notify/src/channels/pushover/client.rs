//! One attempt to send a message to Pushover.

use url::Url;

use super::{PushoverConfig, error, render};
use crate::channels::exchange::{Exchange, MAX_RESPONSE_BYTES};
use crate::channels::message::ChannelMessage;
use crate::channels::outcome::{SendFailure, SendResult};
use crate::channels::secret::ChannelSecret;

/// `operator_token` is for channels without a token.
pub(in crate::channels) async fn send(
    exchange: &Exchange,
    url: &Url,
    operator_token: Option<&ChannelSecret>,
    config: &PushoverConfig,
    message: &ChannelMessage,
) -> SendResult {
    let token = config.token.as_ref().or(operator_token);
    let token = token.ok_or_else(|| SendFailure::unsendable("set `config.token`; the operator has configured none"))?;
    let form = render::body(message).form(token.expose(), config.user.expose());
    let content_type = "application/x-www-form-urlencoded";
    let response = exchange.post_to_operator_url(
        url.clone(),
        content_type,
        form.into(),
        exchange.timeout,
        MAX_RESPONSE_BYTES,
    );
    error::result(&response.await?, exchange.now())
}
