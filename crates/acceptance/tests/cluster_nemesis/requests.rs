//! Requests to the API nodes, repeated until a node responds with success.

use std::sync::atomic::Ordering;
use std::time::Duration;

use acceptance::CheckedResponse;
use acceptance::clock::now;
use jiff::SignedDuration;
use reqwest::Method;
use serde_json::Value;

use crate::nodes::{Cluster, Node};
use crate::schedule::Part;

/// How long a request may take. The service answers within five seconds.
const MAX_REQUEST_TIME: Duration = Duration::from_secs(6);
/// How long a client sends no requests to a node that has not answered.
const AVOIDED_FOR: SignedDuration = SignedDuration::from_secs(5);
/// How long a request is repeated.
const MAX_REPEATED_FOR: SignedDuration = SignedDuration::from_secs(150);
/// The time between two attempts.
const REPEAT_INTERVAL: Duration = Duration::from_millis(25);

impl Cluster {
    /// Sends a request to a node. `None` if no response arrives in time.
    async fn send(
        &self,
        (node, origin): (&Node, &str),
        method: &Method,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> Option<CheckedResponse> {
        let mut request = self.client.with_origin(origin).request(method.clone(), path);
        if let Some(body) = body {
            request = request.json(body);
        }
        if let Some(key) = key {
            request = request.header("Idempotency-Key", key);
        }
        // A repetition waits for the first request.
        let limit = key.map_or(MAX_REQUEST_TIME, |_| 2 * MAX_REQUEST_TIME);
        let response = tokio::time::timeout(limit, request.try_send()).await;
        let response = response.ok().and_then(Result::ok);
        if response.is_none() {
            *node.avoided_until.lock().unwrap() = now() + AVOIDED_FOR;
        }
        response
    }

    /// Returns the next API node that is not known to be dead.
    fn next_api_node(&self) -> Option<(&Node, String)> {
        let apis: Vec<&Node> = self.nodes.iter().filter(|node| node.part == Part::Api).collect();
        let first = self.next_api.fetch_add(1, Ordering::Relaxed);
        let in_turn = (0..apis.len()).map(|step| apis[(first + step) % apis.len()]);
        let mut reachable = in_turn.filter_map(|node| Some((node, node.origin.lock().unwrap().clone()?)));
        reachable.find(|(node, _)| *node.avoided_until.lock().unwrap() < now())
    }

    /// Reads a resource, again until a node responds with success.
    pub(crate) async fn get(&self, path: &str) -> CheckedResponse {
        let read = self.repeat(&Method::GET, path, None, None).await;
        read.expect("a request without a key is repeated").0
    }

    /// Pushes market data, again until a node accepts it. Also returns the number of attempts.
    pub(crate) async fn push(&self, batch: &Value) -> (CheckedResponse, usize) {
        let pushed = self.repeat(&Method::POST, "/market/ingest", Some(batch), None).await;
        pushed.expect("a request without a key is repeated")
    }

    /// Posts, again with the same key until a node responds with success. `None` if a node has executed the request, at least in part,
    /// and its response is lost.
    pub(crate) async fn post(&self, path: &str, body: Option<&Value>, key: &str) -> Option<CheckedResponse> {
        Some(self.repeat(&Method::POST, path, body, Some(key)).await?.0)
    }

    /// Sends a request, again until a node responds with success. Also returns the number of attempts. `None` if it has a key and
    /// its response is lost.
    ///
    /// # Panics
    /// If that does not happen in time, with the last response, or if the request is refused.
    async fn repeat(
        &self,
        method: &Method,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> Option<(CheckedResponse, usize)> {
        let until = now() + MAX_REPEATED_FOR;
        let mut last = "no node is reachable".to_owned();
        for attempts in 1.. {
            if let Some((node, origin)) = self.next_api_node() {
                match self.send((node, &origin), method, path, body, key).await {
                    Some(response) if response.status < 300 => return Some((response, attempts)),
                    Some(response) if key.is_some() && is_response_lost(&response) => return None,
                    Some(response) => {
                        let may_succeed_later = response.status >= 500 || response.status == 409;
                        assert!(may_succeed_later, "{response}");
                        last = response.to_string();
                    }
                    None => last = format!("{} does not respond", node.name),
                }
            }
            let limit = MAX_REPEATED_FOR;
            assert!(
                now() < until,
                "{method} {path} has no success in {limit:#} and {attempts} attempts: {last}"
            );
            tokio::time::sleep(REPEAT_INTERVAL).await;
        }
        None
    }
}

/// Whether the request was executed before, at least in part, and its response was not stored.
fn is_response_lost(response: &CheckedResponse) -> bool {
    response.status == 409 && response.to_string().contains("its response was lost")
}
