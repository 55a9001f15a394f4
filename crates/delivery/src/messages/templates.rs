//! The texts of messages from the templates of their notification channels, and notices about templates that fail.
//!
//! A message whose template fails has the default text. The owner gets an email about it. The id of that email is derived from the
//! channel and the text of the template, so it is queued once, by any process and however often the template fails.

use foundation::random::Random;
use foundation::vault::Vault;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use notify::templates::AccountEmail;
use notify::templates::render::CustomTexts;
use notify::templates::user_template::{TemplateError, TemplateKind, TemplateVariables, UserTemplate};
use store::model::{
    AccountId, ClaimedMessage, MessageChannel, MessageContent, MessageDestination, MessageId, NotificationChannelId,
};
use store::{Store, StoreError};

use super::compose::Composer;
use super::write::seal_message;

/// A template that has failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TemplateFailure {
    pub(crate) account: AccountId,
    pub(crate) channel: NotificationChannelId,
    pub(crate) channel_name: String,
    pub(crate) kind: TemplateKind,
    pub(crate) source: String,
    pub(crate) error: TemplateError,
}

impl TemplateFailure {
    fn message_id(&self) -> MessageId {
        MessageId::for_failed_template(self.channel, self.kind.name(), &self.source)
    }

    fn content(&self) -> AccountEmail {
        AccountEmail::TemplateFailed {
            channel: self.channel_name.clone(),
            template: self.kind.name().to_owned(),
            error: self.error.to_string(),
        }
    }
}

/// Renders a template.
///
/// # Errors
/// [`TemplateError`]
pub(crate) fn render(kind: TemplateKind, source: &str, variables: &TemplateVariables) -> Result<String, TemplateError> {
    UserTemplate::parse(kind, source)?.render(variables)
}

/// Renders the templates of the notification channel of a message about a firing. A text message that is sent by email instead has the
/// default texts.
pub(super) fn custom_texts(
    by: MessageChannel,
    composer: &Composer,
    message: &ClaimedMessage,
    time_zone: &TimeZone,
    failures: &mut Vec<TemplateFailure>,
) -> CustomTexts {
    let (MessageDestination::Channel(channel), MessageContent::Firing(data)) = (&message.destination, &message.content)
    else {
        return CustomTexts::default();
    };
    let templates = channel.templates.as_ref();
    let Some(templates) = templates.filter(|_| channel.channel_type.message_channel() == Some(by)) else {
        return CustomTexts::default();
    };
    let link = message.alert.map(|alert| composer.alert_link(alert));
    let variables = TemplateVariables::from_event_data(data, link, time_zone.clone());
    let mut text = |kind, source: &Option<String>| {
        let source = source.as_deref()?;
        let rendered = render(kind, source, &variables);
        let fail = |error| {
            failures.push(TemplateFailure {
                account: channel.account,
                channel: channel.id,
                channel_name: channel.name.clone(),
                kind,
                source: source.to_owned(),
                error,
            });
        };
        rendered.map_err(fail).ok()
    };
    CustomTexts {
        title: text(TemplateKind::Title, &templates.title),
        text: text(TemplateKind::Text, &templates.text),
    }
}

/// Queues an email to the owner of each template that has failed, once for each text of the template. An error is logged and does not
/// delay the messages, which have their default texts.
pub(crate) async fn report(store: &Store, sealing: (&Vault, &Random), now: Timestamp, failures: Vec<TemplateFailure>) {
    if let Err(error) = queue_notices(store, sealing, now, failures).await {
        tracing::error!(%error, "cannot queue a notice about a template");
    }
}

async fn queue_notices(
    store: &Store,
    (vault, random): (&Vault, &Random),
    now: Timestamp,
    mut failures: Vec<TemplateFailure>,
) -> Result<(), StoreError> {
    failures.sort_unstable_by_key(TemplateFailure::message_id);
    failures.dedup_by_key(|failure| failure.message_id());
    let mut notices = Vec::new();
    for failure in failures {
        let channel = failure.channel.0;
        tracing::info!(%channel, template = failure.kind.name(), error = %failure.error, "a template has failed");
        let Some(owner) = store.account(failure.account).await? else {
            continue;
        };
        let to = (MessageChannel::Email, owner.email.as_str());
        let id = (failure.message_id(), now);
        match seal_message(vault, random, id, to, Some(failure.account), &failure.content()) {
            Ok(notice) => notices.push(notice),
            Err(error) => tracing::error!(%error, "cannot create a notice about a template"),
        }
    }
    if notices.is_empty() {
        return Ok(());
    }
    let transaction = store.commit(notices, |notices, unit| {
        Box::pin(async move {
            for notice in notices {
                unit.queue_message_once(notice).await?;
            }
            Ok(())
        })
    });
    transaction.await
}
