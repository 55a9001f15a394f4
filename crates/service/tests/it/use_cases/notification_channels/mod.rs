//! Notification channels.

mod email;
mod managing;
mod telegram;
mod telegram_buttons;
mod telegram_processes;
mod telegram_server;
mod testing;
mod web_push;

use delivery::notification_channels::{ChannelWithLink, NotificationChannelId};
use foundation::{Actor, ServiceError};
use serde_json::Value;
use service::ServiceConfig;
use testkit::stub_server::{StubResponse, StubServer};

use crate::support::{TestApp, settings};

/// Settings under which channels may have URLs of this machine.
fn local_settings() -> ServiceConfig {
    let mut settings = settings();
    settings.delivery.webhooks.allow_private = vec!["127.0.0.0/8".parse().unwrap()];
    settings
}

/// A server that accepts each message.
async fn accepting_server() -> StubServer {
    StubServer::start(StubResponse::complete("200 OK", "", "ok")).await
}

impl TestApp {
    async fn create_channel(&self, actor: &Actor, body: Value) -> ChannelWithLink {
        let created = self.service.notification_channels.create(actor, &body).await;
        created.unwrap_or_else(|error| panic!("{body}: {error}"))
    }

    async fn update_channel(
        &self,
        actor: &Actor,
        id: NotificationChannelId,
        body: Value,
    ) -> Result<ChannelWithLink, ServiceError> {
        self.service.notification_channels.update(actor, id, &body).await
    }
}

/// Returns the errors of a refusal by field.
fn field_errors(refused: Result<ChannelWithLink, ServiceError>) -> Vec<(String, String)> {
    match refused.unwrap_err() {
        ServiceError::Invalid { fields, .. } => {
            let first = fields.into_iter().map(|(name, errors)| (name, errors.join("; ")));
            first.collect()
        }
        other => panic!("{other}"),
    }
}
