//! `GET /outbox`

use delivery::messages::{MessageChannel, MessageId, OutboxFilter, OutboxMessage};

use crate::document::names::ChannelName;
use crate::routes::prelude::*;

/// Maximum length of an email address.
const MAX_ADDRESS_CHARS: usize = 254;

const CHANNELS: &[(&str, MessageChannel)] = &[
    (MessageChannel::Email.name(), MessageChannel::Email),
    (MessageChannel::Sms.name(), MessageChannel::Sms),
];

type OutboxPage = ListParams<MessageId, 50, 200>;

/// A message that was stored instead of sent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = KeptMessage)]
pub struct OutboxMessageView {
    /// Message id.
    pub id: Uuid,
    /// Channel.
    #[schema(value_type = ChannelName)]
    pub channel: &'static str,
    /// Recipient's email address or phone number.
    #[schema(example = "ann@example.com")]
    pub to: String,
    /// Subject; null for text messages.
    #[schema(required, example = "AAPL: price 201.50 is at or above 200.00")]
    pub subject: Option<String>,
    /// Text. Empty if the message was stored under an earlier `auth.secret_key`.
    #[schema(example = "Your alert on AAPL has fired")]
    pub text: String,
    /// HTML version of the text; null for text messages.
    #[schema(required)]
    pub html: Option<String>,
    /// Time when the message was stored.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub created_at: String,
}

impl OutboxMessageView {
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

/// Query parameters: the filter.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct OutboxParams {
    /// Only messages of this channel.
    #[param(inline, value_type = Option<ChannelName>)]
    channel: Option<String>,
    /// Only messages to this address or number.
    to: Option<String>,
}

/// List outbox messages
///
/// Returns messages that were stored instead of sent, newest first: emails while `email.transport` is `outbox`, text messages
/// while `sms.provider` is `outbox`. For operators only, because messages contain links that give access to accounts.
#[utoipa::path(
    get,
    path = "/outbox",
    tag = "Messages",
    params(OutboxPage, OutboxParams),
    responses((status = 200, description = "A page of the outbox", body = Envelope<Vec<OutboxMessageView>>)),
    security(("ApiKeyHeader" = ["outbox:read"]))
)]
pub(super) async fn list_outbox(
    State(app): State<App>,
    caller: Authorized<OutboxRead>,
    mut query: Query,
) -> Result<ApiResponse<Vec<OutboxMessageView>>, ApiError> {
    let request = OutboxPage::read(&mut query);
    let filter = OutboxFilter {
        channel: query.choice("channel", CHANNELS),
        to: query.text("to", MAX_ADDRESS_CHARS),
    };
    query.finish()?;
    let page = app.service().outbox.outbox(&caller.actor, filter, request).await?;
    Ok(ApiResponse::page(ListPage::of(page, request, OutboxMessageView::of)))
}
