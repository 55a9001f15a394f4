//! `GET /outbox`

use axum::extract::State;
use serde::Serialize;
use service::messages::{MessageChannel, OutboxFilter, OutboxMessage};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::answer::{Envelope, Pagination, Reply};
use crate::app::App;
use crate::auth::{Allowed, OutboxRead};
use crate::document::names::ChannelName;
use crate::error::ApiError;
use crate::query::Query;
use crate::values::timestamp;

const DEFAULT_LIMIT: u32 = 50;
const MAX_LIMIT: u32 = 200;
/// No address is longer.
const MAX_ADDRESS_CHARS: usize = 254;

const CHANNELS: &[(&str, MessageChannel)] = &[
    (MessageChannel::Email.name(), MessageChannel::Email),
    (MessageChannel::Sms.name(), MessageChannel::Sms),
];

/// A message that was kept instead of sent.
#[derive(Debug, Serialize, ToSchema)]
pub struct KeptMessage {
    /// Its id.
    pub id: Uuid,
    /// How it would have gone.
    #[schema(value_type = ChannelName)]
    pub channel: &'static str,
    /// The address or number it would have gone to.
    #[schema(example = "ann@example.com")]
    pub to: String,
    /// What it is about; null for text messages.
    #[schema(required, example = "AAPL: price 201.50 is at or above 200.00")]
    pub subject: Option<String>,
    /// What it says. Empty if it was kept before the service got another `auth.secret_key`.
    #[schema(example = "Your alert on AAPL has fired")]
    pub text: String,
    /// The same as HTML; null for text messages.
    #[schema(required)]
    pub html: Option<String>,
    /// When it was kept.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub created_at: String,
}

impl KeptMessage {
    fn of(message: OutboxMessage) -> Self {
        Self {
            id: message.id.0,
            channel: message.channel.name(),
            to: message.to,
            subject: message.subject,
            text: message.text,
            html: message.html,
            created_at: timestamp(message.created_at),
        }
    }
}

/// Which messages.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct OutboxParams {
    /// The page, from 1.
    #[param(value_type = Option<u64>, minimum = 1, maximum = 4_294_967_294_u64, default = 1)]
    page: Option<u32>,
    /// How many a page has; more than 200 are cut to 200.
    #[param(value_type = Option<u64>, minimum = 1, default = 50)]
    limit: Option<u32>,
    /// Only mails, or only text messages.
    #[param(inline, value_type = Option<ChannelName>)]
    channel: Option<String>,
    /// Only those to this address or number.
    to: Option<String>,
}

/// Read the outbox
///
/// What was kept instead of sent, newest first: mails while `email.transport` is `outbox`, text messages while `sms.provider`
/// is. For operators: there are links in them that open accounts.
#[utoipa::path(
    get,
    path = "/outbox",
    tag = "Messages",
    params(OutboxParams),
    responses((status = 200, description = "A page of the outbox", body = Envelope<Vec<KeptMessage>>)),
    security(("ApiKeyHeader" = ["outbox:read"]))
)]
pub(super) async fn list_outbox(
    State(app): State<App>,
    who: Allowed<OutboxRead>,
    mut query: Query,
) -> Result<Reply<Vec<KeptMessage>>, ApiError> {
    let request = query.page(DEFAULT_LIMIT, MAX_LIMIT);
    let filter = OutboxFilter {
        channel: query.word("channel", CHANNELS),
        to: query.text("to", MAX_ADDRESS_CHARS),
    };
    query.finish()?;
    let page = app.service().outbox.outbox(&who.actor, filter, request).await?;
    let pagination = Pagination::of(request, page.total);
    let items = page.items.into_iter().map(KeptMessage::of);
    Ok(Reply::page(items.collect(), pagination))
}
