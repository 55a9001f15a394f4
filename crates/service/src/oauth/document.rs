//! Who a program says it is, in a document under a URL that it goes by (OAuth Client ID Metadata Documents).
//!
//! The URL comes from whoever sends a browser here, so it is fetched as webhooks are called: from judged addresses only, with
//! no redirects, and besides within five seconds and five kibibytes. Few are fetched at once (`turns.rs`), and what was fetched
//! is kept for a while, so that nobody can use this service to keep another one busy, nor keep others' programs out. Whoever
//! wants a document that is being fetched waits for it. What could not be fetched or read is not kept.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use hashbrown::HashMap;
use jiff::{SignedDuration, Timestamp};
use notify::client::{FetchError, WebhookClient};
use serde_json::Value;
use tokio::sync::OnceCell;
use url::Url;

use super::turns::Turns;
use super::{Client, Origin, client, redirect_uri};
use crate::identity::network;
use crate::oauth::OAuth;
use crate::webhooks::Network;

/// The longest URL of a document.
const MAX_URL_CHARS: usize = 500;
/// The largest document.
const MAX_BYTES: usize = 5 * 1024;
/// How long fetching one may take, from looking the name up to the end of the answer.
const TIME: Duration = Duration::from_secs(5);
/// How long one is kept.
const KEPT_FOR: SignedDuration = SignedDuration::from_mins(10);
/// So many are kept.
const MAX_KEPT: usize = 1_000;
/// So many redirect URIs of one are looked at.
const MAX_REDIRECT_URIS: usize = 50;

/// Why a document does not say who a program is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum DocumentError {
    #[error(
        "the app goes by a URL that cannot be one of a client: it must begin with https://, have a host and a path, be written \
         as browsers write it, and have no user name and no fragment"
    )]
    Url,
    #[error("the app goes by a URL that is not on the public internet, so nothing can be known of it")]
    Address,
    #[error("the document under the app's URL could not be fetched within five seconds; try again")]
    Unreachable,
    #[error("there is no document under the app's URL: it did not answer with 200, or leads elsewhere")]
    Status,
    #[error("the document under the app's URL is larger than 5 KiB")]
    TooLong,
    #[error("the document under the app's URL is not JSON that describes a client")]
    NotOne,
    #[error(
        "the document under the app's URL is about another one: its client_id has to be the URL, character by character"
    )]
    OfAnother,
    #[error("the document under the app's URL is of a client with a secret (token_endpoint_auth_method must be none)")]
    Confidential,
    #[error("the document under the app's URL has no redirect_uris that can be used")]
    NoRedirectUri,
    #[error("too many apps are being looked at; try again in a moment")]
    Busy,
}

/// What becomes of a document that is being fetched.
type Awaited = OnceCell<Result<Client, DocumentError>>;

/// What was fetched, and is being fetched.
pub(crate) struct Documents {
    client: Arc<WebhookClient>,
    network: Network,
    turns: Turns,
    /// By URL. Those who wait for one hold it; what nobody waits for is not fetched on.
    awaited: Mutex<HashMap<String, Weak<Awaited>>>,
    kept: Mutex<HashMap<String, (Client, Timestamp)>>,
}

impl std::fmt::Debug for Documents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Documents")
    }
}

impl Documents {
    /// None yet; to be fetched by that client.
    pub(crate) fn new(client: Arc<WebhookClient>, network: Network) -> Self {
        Self {
            client,
            network,
            turns: Turns::default(),
            awaited: Mutex::default(),
            kept: Mutex::default(),
        }
    }

    fn recall(&self, url: &str, now: Timestamp) -> Option<Client> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (client, at) = kept.get(url)?;
        is_fresh(*at, now).then(|| client.clone())
    }

    fn keep(&self, client: &Client, now: Timestamp) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_KEPT {
            kept.retain(|_, (_, at)| is_fresh(*at, now));
        }
        if kept.len() < MAX_KEPT {
            kept.insert(client.id.clone(), (client.clone(), now));
        }
    }

    /// What all share who want the document under that URL now.
    fn awaited(&self, url: &str) -> Arc<Awaited> {
        let mut awaited = self.awaited.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = awaited.get(url).and_then(Weak::upgrade)
            // What has come already is kept, or was a failure, which the next one need not share.
            && !found.initialized()
        {
            return found;
        }
        // There are no more than there are who wait.
        awaited.retain(|_, one| one.strong_count() > 0);
        let made = Arc::default();
        awaited.insert(url.to_owned(), Arc::downgrade(&made));
        made
    }

    async fn fetch(&self, url: &str, address: IpAddr) -> Result<Vec<u8>, DocumentError> {
        let parsed = Url::parse(url).map_err(|_| DocumentError::Url)?;
        let host = parsed.host_str().ok_or(DocumentError::Url)?;
        let Some(_turn) = self.turns.take(host, network(address)) else {
            return Err(DocumentError::Busy);
        };
        let (client, url) = (Arc::clone(&self.client), url.to_owned());
        let fetch = async move { client.fetch(&url, TIME, MAX_BYTES).await };
        let fetched = self.network.run(fetch).await;
        fetched.map_err(|error| match error {
            FetchError::AddressRefused => DocumentError::Address,
            FetchError::TooLong => DocumentError::TooLong,
            FetchError::Status(_) => DocumentError::Status,
            FetchError::Unreachable(_) => DocumentError::Unreachable,
        })
    }
}

/// Whether something is not too old; a clock that was set back makes nothing last longer.
fn is_fresh(at: Timestamp, now: Timestamp) -> bool {
    at <= now && now.duration_since(at) < KEPT_FOR
}

impl OAuth {
    /// The program that is described under a URL, for whoever asks from `address`.
    pub(super) async fn described_client(&self, url: &str, address: IpAddr) -> Result<Client, DocumentError> {
        let host = host(url).ok_or(DocumentError::Url)?;
        let (documents, now) = (&self.documents, self.ports.clock.now());
        if let Some(client) = documents.recall(url, now) {
            return Ok(client);
        }
        let awaited = documents.awaited(url);
        let fetched = awaited.get_or_init(async || {
            let client = read(url, host, &documents.fetch(url, address).await?)?;
            documents.keep(&client, now);
            Ok(client)
        });
        fetched.await.clone()
    }
}

/// The host of a URL that a client may go by.
fn host(text: &str) -> Option<String> {
    if text.len() > MAX_URL_CHARS || !text.starts_with("https://") || text.contains('#') {
        return None;
    }
    let url = Url::parse(text).ok()?;
    let has_user = !url.username().is_empty() || url.password().is_some() || text.contains('@');
    // What a browser would write in another way (dots in the path, capitals in the host) could be two clients in one.
    if has_user || url.path() == "/" || url.as_str() != text {
        return None;
    }
    let host = url.host_str()?;
    Some(
        url.port()
            .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")),
    )
}

/// What a document says.
fn read(url: &str, host: String, document: &[u8]) -> Result<Client, DocumentError> {
    let document: Value = serde_json::from_slice(document).map_err(|_| DocumentError::NotOne)?;
    if !document.is_object() {
        return Err(DocumentError::NotOne);
    }
    if document.get("client_id").and_then(Value::as_str) != Some(url) {
        return Err(DocumentError::OfAnother);
    }
    let is_public = document
        .get("token_endpoint_auth_method")
        .is_none_or(|method| method == "none");
    if !is_public || document.get("client_secret").is_some() {
        return Err(DocumentError::Confidential);
    }
    let name = document.get("client_name").and_then(Value::as_str);
    let name = client::name(name).ok_or(DocumentError::NotOne)?;
    // A program may come with ways back that are not taken here, as long as it has one that is.
    let uris = document.get("redirect_uris").and_then(Value::as_array);
    let uris = uris.into_iter().flatten().take(MAX_REDIRECT_URIS);
    let redirect_uris: Vec<String> = uris
        .filter_map(Value::as_str)
        .filter(|uri| redirect_uri::fault(uri).is_none())
        .map(str::to_owned)
        .collect();
    if redirect_uris.is_empty() {
        return Err(DocumentError::NoRedirectUri);
    }
    Ok(Client {
        id: url.to_owned(),
        name,
        origin: Origin::Host(host),
        redirect_uris,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const URL: &str = "https://app.example.com/client.json";

    fn read_with(change: &Value) -> Result<Client, DocumentError> {
        let mut document = json!({
            "client_id": URL,
            "client_name": "Agent",
            "redirect_uris": ["https://app.example.com/callback"],
            "token_endpoint_auth_method": "none",
        });
        document
            .as_object_mut()
            .unwrap()
            .extend(change.as_object().unwrap().clone());
        read(URL, "app.example.com".to_owned(), document.to_string().as_bytes())
    }

    #[test]
    fn a_document_says_who_a_client_is_if_it_is_about_its_own_url() {
        let client = read_with(&json!({})).unwrap();
        assert_eq!((client.id.as_str(), client.name.as_str()), (URL, "Agent"));
        assert_eq!(client.origin, Origin::Host("app.example.com".to_owned()));
        assert!(client.has("https://app.example.com/callback"));
        for (change, expected) in [
            (
                json!({"client_id": "https://app.example.com/client.json/"}),
                DocumentError::OfAnother,
            ),
            (
                json!({"client_id": "https://APP.example.com/client.json"}),
                DocumentError::OfAnother,
            ),
            (json!({"client_id": null}), DocumentError::OfAnother),
            (json!({"client_id": [URL]}), DocumentError::OfAnother),
            (
                json!({"token_endpoint_auth_method": "client_secret_basic"}),
                DocumentError::Confidential,
            ),
            (
                json!({"token_endpoint_auth_method": "private_key_jwt"}),
                DocumentError::Confidential,
            ),
            (json!({"client_secret": "s"}), DocumentError::Confidential),
            (json!({"redirect_uris": []}), DocumentError::NoRedirectUri),
            (json!({"redirect_uris": null}), DocumentError::NoRedirectUri),
            (
                json!({"redirect_uris": ["javascript:alert(1)", 7]}),
                DocumentError::NoRedirectUri,
            ),
            (json!({"client_name": "x".repeat(101)}), DocumentError::NotOne),
        ] {
            assert_eq!(read_with(&change), Err(expected), "{change}");
        }
        for text in ["", "[]", "null", "{", "<html>"] {
            assert_eq!(
                read(URL, String::new(), text.as_bytes()),
                Err(DocumentError::NotOne),
                "{text}"
            );
        }
    }

    #[test]
    fn of_the_ways_back_those_are_left_out_that_are_not_taken_here() {
        let uris = json!({"redirect_uris": ["myapp:/x", "http://127.0.0.1/cb", "https://app.example.com/#x"]});
        let client = read_with(&uris).unwrap();
        assert_eq!(client.redirect_uris, ["http://127.0.0.1/cb"]);
    }

    #[test]
    fn a_client_goes_by_an_https_url_with_a_path_written_as_browsers_write_it() {
        assert_eq!(host(URL).as_deref(), Some("app.example.com"));
        assert_eq!(
            host("https://app.example.com:8443/c?v=1").as_deref(),
            Some("app.example.com:8443")
        );
        let long = format!("https://app.example.com/{}", "a".repeat(MAX_URL_CHARS));
        for text in [
            "https://app.example.com",
            "https://app.example.com/",
            "http://app.example.com/client.json",
            "https://app.example.com/client.json#x",
            "https://ann@app.example.com/client.json",
            "https://@app.example.com/client.json",
            "https://APP.example.com/client.json",
            "https://app.example.com/a/../client.json",
            "https://app.example.com/a/%2e%2E/client.json",
            "https://app.example.com:443/client.json",
            "https://app.example.com\\client.json",
            "https:///client.json",
            "https://",
            long.as_str(),
        ] {
            assert_eq!(host(text), None, "{text}");
        }
    }
}
