//! OAuth Client ID Metadata Documents: the client id is a URL that returns the client's metadata.
//!
//! The URL comes from an untrusted request, so it is fetched like a webhook: from allowed addresses only, without
//! redirects, within 5 seconds and up to 5 KiB. The number of concurrent fetches is limited (`fetch_permits.rs`) and
//! documents are cached, so that this service can neither be used to attack another one nor be blocked for other
//! clients. Concurrent requests for the same document share one fetch. Failures are not cached.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use hashbrown::HashMap;
use jiff::{SignedDuration, Timestamp};
use notify::client::{FetchError, WebhookClient};
use serde_json::Value;
use tokio::sync::OnceCell;
use url::Url;

use super::fetch_permits::FetchPermits;
use super::{ClientOrigin, OAuthClient, client, redirect_uri};
use crate::identity::client_network;
use crate::oauth::OAuth;
use foundation::Network;

/// Maximum length of a client id URL, in bytes.
const MAX_URL_BYTES: usize = 500;
/// Maximum size of a document, in bytes.
const MAX_DOCUMENT_BYTES: usize = 5 * 1024;
/// Timeout of a fetch, from name lookup to the end of the response.
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
/// Lifetime of a cached document.
const CACHE_TTL: SignedDuration = SignedDuration::from_mins(10);
/// Maximum number of cached documents.
const MAX_CACHED_DOCUMENTS: usize = 1_000;
/// Maximum number of redirect URIs read from a document.
const MAX_REDIRECT_URIS_READ: usize = 50;

/// Reason why a client metadata document is rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum ClientMetadataError {
    #[error(
        "the app's client id is not a valid URL: it must start with https://, have a host and a path, \
         be in the form that browsers use, and have no user name and no fragment"
    )]
    Url,
    #[error("the app's client id is a URL that is not on the public internet")]
    Address,
    #[error("the app's metadata document could not be fetched within five seconds; try again")]
    Unreachable,
    #[error("there is no metadata document at the app's URL: the response is not 200, or a redirect")]
    Status,
    #[error("the app's metadata document is larger than 5 KiB")]
    TooLong,
    #[error("the app's metadata document is not valid client metadata in JSON")]
    NotClientMetadata,
    #[error("the app's metadata document has another client_id: it must equal the URL, character by character")]
    ClientIdMismatch,
    #[error("the app's metadata document describes a client with a secret (token_endpoint_auth_method must be none)")]
    Confidential,
    #[error("the app's metadata document has no valid redirect_uris")]
    NoRedirectUri,
    #[error("too many apps are being checked; try again in a moment")]
    Busy,
}

/// Shared result of a fetch in progress.
type PendingFetch = OnceCell<Result<OAuthClient, ClientMetadataError>>;

/// Fetches and caches client metadata documents.
pub(crate) struct ClientMetadataCache {
    client: Arc<WebhookClient>,
    network: Network,
    permits: FetchPermits,
    /// Fetches in progress, by URL. The waiting requests own them; a fetch without waiting requests is dropped.
    pending: Mutex<HashMap<String, Weak<PendingFetch>>>,
    cached: Mutex<HashMap<String, (OAuthClient, Timestamp)>>,
}

impl std::fmt::Debug for ClientMetadataCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ClientMetadataCache")
    }
}

impl ClientMetadataCache {
    /// Creates an empty cache that fetches with `client`.
    pub(crate) fn new(client: Arc<WebhookClient>, network: Network) -> Self {
        Self {
            client,
            network,
            permits: FetchPermits::default(),
            pending: Mutex::default(),
            cached: Mutex::default(),
        }
    }

    fn get(&self, url: &str, now: Timestamp) -> Option<OAuthClient> {
        let cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        let (client, at) = cached.get(url)?;
        is_fresh(*at, now).then(|| client.clone())
    }

    fn insert(&self, client: &OAuthClient, now: Timestamp) {
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        if cached.len() >= MAX_CACHED_DOCUMENTS {
            cached.retain(|_, (_, at)| is_fresh(*at, now));
        }
        if cached.len() < MAX_CACHED_DOCUMENTS {
            cached.insert(client.id.clone(), (client.clone(), now));
        }
    }

    /// Returns the shared fetch of a URL.
    fn pending_fetch(&self, url: &str) -> Arc<PendingFetch> {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = pending.get(url).and_then(Weak::upgrade)
            // A completed fetch is in the cache, or failed; a new request retries it.
            && !found.initialized()
        {
            return found;
        }
        // Entries without waiting requests are removed, so the map is bounded by the number of waiting requests.
        pending.retain(|_, one| one.strong_count() > 0);
        let made = Arc::default();
        pending.insert(url.to_owned(), Arc::downgrade(&made));
        made
    }

    async fn fetch(&self, url: &str, address: IpAddr) -> Result<Vec<u8>, ClientMetadataError> {
        let parsed = Url::parse(url).map_err(|_| ClientMetadataError::Url)?;
        let host = parsed.host_str().ok_or(ClientMetadataError::Url)?;
        let Some(_permit) = self.permits.acquire(host, client_network(address)) else {
            return Err(ClientMetadataError::Busy);
        };
        let (client, url) = (Arc::clone(&self.client), url.to_owned());
        let fetch = async move { client.fetch(&url, FETCH_TIMEOUT, MAX_DOCUMENT_BYTES).await };
        let fetched = self.network.run(fetch).await;
        fetched.map_err(|error| match error {
            FetchError::AddressRefused => ClientMetadataError::Address,
            FetchError::TooLong => ClientMetadataError::TooLong,
            FetchError::Status(_) => ClientMetadataError::Status,
            FetchError::Unreachable(_) => ClientMetadataError::Unreachable,
        })
    }
}

/// Returns whether a cached document is still valid. A clock that was set back does not extend its lifetime.
fn is_fresh(at: Timestamp, now: Timestamp) -> bool {
    at <= now && now.duration_since(at) < CACHE_TTL
}

impl OAuth {
    /// Returns the client with this client id URL, for a request from the client address `address`.
    pub(super) async fn metadata_client(&self, url: &str, address: IpAddr) -> Result<OAuthClient, ClientMetadataError> {
        let host = client_host(url).ok_or(ClientMetadataError::Url)?;
        let (client_metadata, now) = (&self.client_metadata, self.ports.clock.now());
        if let Some(client) = client_metadata.get(url, now) {
            return Ok(client);
        }
        let pending = client_metadata.pending_fetch(url);
        let fetched = pending.get_or_init(async || {
            let client = parse(url, host, &client_metadata.fetch(url, address).await?)?;
            client_metadata.insert(&client, now);
            Ok(client)
        });
        fetched.await.clone()
    }
}

/// Returns the host of a valid client id URL.
fn client_host(text: &str) -> Option<String> {
    if text.len() > MAX_URL_BYTES || !text.starts_with("https://") || text.contains('#') {
        return None;
    }
    let url = Url::parse(text).ok()?;
    let has_user = !url.username().is_empty() || url.password().is_some() || text.contains('@');
    // URLs that a browser would write differently (dots in the path, capitals in the host) could stand for two clients.
    if has_user || url.path() == "/" || url.as_str() != text {
        return None;
    }
    let host = url.host_str()?;
    Some(
        url.port()
            .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")),
    )
}

/// Parses a client metadata document.
fn parse(url: &str, host: String, document: &[u8]) -> Result<OAuthClient, ClientMetadataError> {
    let document: Value = serde_json::from_slice(document).map_err(|_| ClientMetadataError::NotClientMetadata)?;
    if !document.is_object() {
        return Err(ClientMetadataError::NotClientMetadata);
    }
    if document.get("client_id").and_then(Value::as_str) != Some(url) {
        return Err(ClientMetadataError::ClientIdMismatch);
    }
    let is_public = document
        .get("token_endpoint_auth_method")
        .is_none_or(|method| method == "none");
    if !is_public || document.get("client_secret").is_some() {
        return Err(ClientMetadataError::Confidential);
    }
    let name = document.get("client_name").and_then(Value::as_str);
    let name = client::display_name(name).ok_or(ClientMetadataError::NotClientMetadata)?;
    // Invalid redirect URIs are ignored as long as one is valid.
    let uris = document.get("redirect_uris").and_then(Value::as_array);
    let uris = uris.into_iter().flatten().take(MAX_REDIRECT_URIS_READ);
    let redirect_uris: Vec<String> = uris
        .filter_map(Value::as_str)
        .filter(|uri| redirect_uri::violation(uri).is_none())
        .map(str::to_owned)
        .collect();
    if redirect_uris.is_empty() {
        return Err(ClientMetadataError::NoRedirectUri);
    }
    Ok(OAuthClient {
        id: url.to_owned(),
        name,
        origin: ClientOrigin::Host(host),
        redirect_uris,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const URL: &str = "https://app.example.com/client.json";

    fn parse_with(change: &Value) -> Result<OAuthClient, ClientMetadataError> {
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
        parse(URL, "app.example.com".to_owned(), document.to_string().as_bytes())
    }

    #[test]
    fn valid_document_describes_client_and_invalid_ones_are_rejected() {
        let client = parse_with(&json!({})).unwrap();
        assert_eq!((client.id.as_str(), client.name.as_str()), (URL, "Agent"));
        assert_eq!(client.origin, ClientOrigin::Host("app.example.com".to_owned()));
        assert!(client.allows_redirect("https://app.example.com/callback"));
        for (change, expected) in [
            (
                json!({"client_id": "https://app.example.com/client.json/"}),
                ClientMetadataError::ClientIdMismatch,
            ),
            (
                json!({"client_id": "https://APP.example.com/client.json"}),
                ClientMetadataError::ClientIdMismatch,
            ),
            (json!({"client_id": null}), ClientMetadataError::ClientIdMismatch),
            (json!({"client_id": [URL]}), ClientMetadataError::ClientIdMismatch),
            (
                json!({"token_endpoint_auth_method": "client_secret_basic"}),
                ClientMetadataError::Confidential,
            ),
            (
                json!({"token_endpoint_auth_method": "private_key_jwt"}),
                ClientMetadataError::Confidential,
            ),
            (json!({"client_secret": "s"}), ClientMetadataError::Confidential),
            (json!({"redirect_uris": []}), ClientMetadataError::NoRedirectUri),
            (json!({"redirect_uris": null}), ClientMetadataError::NoRedirectUri),
            (
                json!({"redirect_uris": ["javascript:alert(1)", 7]}),
                ClientMetadataError::NoRedirectUri,
            ),
            (
                json!({"client_name": "x".repeat(101)}),
                ClientMetadataError::NotClientMetadata,
            ),
        ] {
            assert_eq!(parse_with(&change), Err(expected), "{change}");
        }
        for text in ["", "[]", "null", "{", "<html>"] {
            assert_eq!(
                parse(URL, String::new(), text.as_bytes()),
                Err(ClientMetadataError::NotClientMetadata),
                "{text}"
            );
        }
    }

    #[test]
    fn invalid_redirect_uris_are_ignored() {
        let uris = json!({"redirect_uris": ["myapp:/x", "http://127.0.0.1/cb", "https://app.example.com/#x"]});
        let client = parse_with(&uris).unwrap();
        assert_eq!(client.redirect_uris, ["http://127.0.0.1/cb"]);
    }

    #[test]
    fn client_id_url_is_https_with_path_in_canonical_form() {
        assert_eq!(client_host(URL).as_deref(), Some("app.example.com"));
        assert_eq!(
            client_host("https://app.example.com:8443/c?v=1").as_deref(),
            Some("app.example.com:8443")
        );
        let long = format!("https://app.example.com/{}", "a".repeat(MAX_URL_BYTES));
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
            assert_eq!(client_host(text), None, "{text}");
        }
    }
}
