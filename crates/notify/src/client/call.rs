//! Posts a request to a URL that a user has provided and returns the response, with the same rules as deliveries.

use bytes::Bytes;
use http::Response;
use http::header::{CONTENT_ENCODING, HeaderMap};
use http_body_util::{BodyExt, Limited};

use super::pool::Peer;
use super::{WebhookClient, WebhookOutcome, request};
use crate::address::LookupOwner;

impl WebhookClient {
    /// Posts a body once, like [`post`](Self::post), and returns the response with any status. Its body is empty if it is longer
    /// than `max_bytes`, encoded, incomplete or late.
    ///
    /// # Errors
    /// The outcome, if there is no response head within the timeout.
    pub(crate) async fn call(
        &self,
        url: &str,
        headers: HeaderMap,
        body: Bytes,
        owner: LookupOwner,
        max_bytes: usize,
    ) -> Result<Response<Bytes>, WebhookOutcome> {
        let deadline = self.connector.time.sleep(self.timeout);
        tokio::pin!(deadline);
        let target = self.connector.rules.target(url);
        let target = target.map_err(|_| WebhookOutcome::AddressRefused)?;
        let peer = Peer::of(&target);
        let request = request(&target, headers, body)?;
        let (connection, response) = tokio::select! {
            biased;
            sent = self.send(&target, &peer, request, owner) => sent?,
            () = &mut deadline => return Err(WebhookOutcome::TimedOut),
        };
        let (head, body) = response.into_parts();
        // The status decides, also if the body does not arrive in time.
        let body = tokio::select! {
            biased;
            body = connection.budget.bound(Limited::new(body, max_bytes).collect()) => body,
            () = deadline => None,
        };
        let Some(Ok(body)) = body else {
            return Ok(Response::from_parts(head, Bytes::new()));
        };
        self.pool.keep(peer, connection, self.connector.time.now());
        // No encoding was requested, so the decoded size is unknown.
        let is_encoded = head.headers.contains_key(CONTENT_ENCODING);
        let body = if is_encoded { Bytes::new() } else { body.to_bytes() };
        Ok(Response::from_parts(head, body))
    }
}
