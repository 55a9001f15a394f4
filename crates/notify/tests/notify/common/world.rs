//! A client in a small world: a clock, names, an authority.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use notify::address::{LookupOwner, NameLookups, Resolve, UrlRules};
use notify::client::{Attempt, ClientParts, Outcome, WebhookClient};
use notify::time::Time;

use super::receiver::{Authority, Behaviour, Receiver};
use super::{ManualTime, Names, opening};

/// A client, and what it goes by.
pub(crate) struct World {
    pub(crate) time: Arc<ManualTime>,
    pub(crate) names: Arc<Names>,
    pub(crate) authority: Authority,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            time: Arc::new(ManualTime::new()),
            names: Arc::new(Names::of(&[("hooks.example", &["127.0.0.1"])])),
            authority: Authority::new("own"),
        }
    }

    pub(crate) fn client_with(&self, rules: UrlRules) -> Arc<WebhookClient> {
        let client = WebhookClient::new(ClientParts {
            rules,
            lookups: NameLookups::new(Arc::clone(&self.names) as Arc<dyn Resolve>),
            time: Arc::clone(&self.time) as Arc<dyn Time>,
            timeout: Duration::from_secs(5),
            own_roots: vec![self.authority.root()],
        });
        Arc::new(client.unwrap())
    }

    /// A client that may speak to this machine.
    pub(crate) fn client(&self) -> Arc<WebhookClient> {
        self.client_with(opening(&["127.0.0.0/8"]))
    }

    pub(crate) async fn post(&self, url: &str) -> Attempt {
        post(&self.client(), url).await
    }

    pub(crate) async fn outcome(&self, behaviour: Behaviour) -> Outcome {
        let receiver = Receiver::start(&self.time, &[behaviour]).await;
        self.post(&receiver.url("http", "hooks.example")).await.outcome
    }
}

pub(crate) async fn post(client: &WebhookClient, url: &str) -> Attempt {
    let body = Bytes::from_static(b"{}");
    client.post(url, HeaderMap::new(), body, LookupOwner::Anonymous).await
}
