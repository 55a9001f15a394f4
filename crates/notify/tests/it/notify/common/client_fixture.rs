//! A webhook client with a manual clock, a fake resolver and a certificate authority.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use clock::Clock;
use http::HeaderMap;
use notify::address::{LookupOwner, NameLookups, Resolver, TcpDialer, UrlPolicy};
use notify::client::{WebhookAttempt, WebhookClient, WebhookClientConfig, WebhookOutcome};

use super::receiver::{Authority, Behaviour, Receiver};
use super::{FakeResolver, ManualTime, policy_allowing};

/// The dependencies of a client under test.
pub(crate) struct ClientFixture {
    pub(crate) time: Arc<ManualTime>,
    pub(crate) names: Arc<FakeResolver>,
    pub(crate) authority: Authority,
}

impl ClientFixture {
    pub(crate) fn new() -> Self {
        Self {
            time: Arc::new(ManualTime::new()),
            names: Arc::new(FakeResolver::of(&[("hooks.example", &["127.0.0.1"])])),
            authority: Authority::new("own"),
        }
    }

    pub(crate) fn client_with(&self, rules: UrlPolicy) -> Arc<WebhookClient> {
        let client = WebhookClient::new(WebhookClientConfig {
            rules,
            lookups: NameLookups::new(Arc::clone(&self.names) as Arc<dyn Resolver>),
            dialer: Arc::new(TcpDialer),
            time: Arc::clone(&self.time) as Arc<dyn Clock>,
            timeout: Duration::from_secs(5),
            extra_roots: vec![self.authority.root()],
        });
        Arc::new(client.unwrap())
    }

    /// Returns a client that may connect to this machine.
    pub(crate) fn client(&self) -> Arc<WebhookClient> {
        self.client_with(policy_allowing(&["127.0.0.0/8"]))
    }

    pub(crate) async fn post(&self, url: &str) -> WebhookAttempt {
        post(&self.client(), url).await
    }

    pub(crate) async fn outcome(&self, behaviour: Behaviour) -> WebhookOutcome {
        let receiver = Receiver::start(&self.time, &[behaviour]).await;
        self.post(&receiver.url("http", "hooks.example")).await.outcome
    }
}

pub(crate) async fn post(client: &WebhookClient, url: &str) -> WebhookAttempt {
    let body = Bytes::from_static(b"{}");
    client.post(url, HeaderMap::new(), body, LookupOwner::Anonymous).await
}
