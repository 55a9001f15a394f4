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
    /// than `max_bytes`, encoded or incomplete.
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
        tokio::select! {
            biased;
            response = self.called(url, headers, body, owner, max_bytes) => response,
            () = self.connector.time.sleep(self.timeout) => Err(WebhookOutcome::TimedOut),
        }
    }

    async fn called(
        &self,
        url: &str,
        headers: HeaderMap,
        body: Bytes,
        owner: LookupOwner,
        max_bytes: usize,
    ) -> Result<Response<Bytes>, WebhookOutcome> {
        let target = self
            .connector
            .rules
            .target(url)
            .map_err(|_| WebhookOutcome::AddressRefused)?;
        let peer = Peer::of(&target);
        let request = request(&target, headers, body)?;
        let (connection, response) = self.send(&target, &peer, request, owner).await?;
        let (head, body) = response.into_parts();
        let body = connection.budget.bound(Limited::new(body, max_bytes).collect()).await;
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
