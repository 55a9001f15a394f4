//! The texts of messages from the templates of their alerts and notification channels, and notices about templates that fail.
//!
//! A message whose template fails has the default text. The owner gets an email about it. The id of that email is derived from the
//! alert or channel and the text of the template, so it is queued once, by any process and however often the template fails.

use alerts::routing::MessageTemplates;
use foundation::links::link;
use foundation::random::Random;
use foundation::vault::Vault;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use notify::templates::AccountEmail;
use notify::templates::render::CustomTexts;
use notify::templates::user_template::{TemplateError, TemplateKind, TemplateVariables, UserTemplate};
use store::model::{
    AccountId, ClaimedMessage, MessageChannel, MessageContent, MessageDestination, MessageId, TemplateOwner,
};
use store::{Store, StoreError};
use uuid::Uuid;

use super::compose::Composer;
use super::write::seal_message;

/// A template that has failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TemplateFailure {
    pub(crate) account: AccountId,
    pub(crate) owner: TemplateOwner,
    pub(crate) kind: TemplateKind,
    pub(crate) source: String,
    pub(crate) error: TemplateError,
}

impl TemplateFailure {
    fn message_id(&self) -> MessageId {
        MessageId::for_failed_template(self.owner_id(), self.kind.name(), &self.source)
    }

    const fn owner_id(&self) -> Uuid {
        match self.owner {
            TemplateOwner::Channel { id, .. } => id.0,
            TemplateOwner::Alert(id) => id.0,
        }
    }

    fn content(&self, public_url: &str) -> AccountEmail {
        let (template, error) = (self.kind.name().to_owned(), self.error.to_string());
        match &self.owner {
            TemplateOwner::Channel { name, .. } => AccountEmail::TemplateFailed {
                channel: name.clone(),
                template,
                error,
            },
            TemplateOwner::Alert(id) => AccountEmail::AlertTemplateFailed {
                link: link(public_url, &format!("alerts/{id}"), &[]),
                template,
                error,
            },
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

/// Renders the templates of a message about a firing: each is that of the alert, or else that of the notification channel. A text message
/// that is sent by email instead has no template of its channel.
pub(super) fn custom_texts(
    by: MessageChannel,
    composer: &Composer,
    message: &ClaimedMessage,
    time_zone: &TimeZone,
    failures: &mut Vec<TemplateFailure>,
) -> CustomTexts {
    let (MessageContent::Firing(data), Some(account)) = (&message.content, message.account) else {
        return CustomTexts::default();
    };
    let of_alert = message.templates.as_ref().zip(message.alert.map(TemplateOwner::Alert));
    let of_channel = match &message.destination {
        MessageDestination::Channel(channel) if channel.channel_type.message_channel() == Some(by) => {
            let owner = TemplateOwner::Channel {
                id: channel.id,
                name: channel.name.clone(),
            };
            channel.templates.as_ref().zip(Some(owner))
        }
        _ => None,
    };
    if of_alert.is_none() && of_channel.is_none() {
        return CustomTexts::default();
    }
    let link = message.alert.map(|alert| composer.alert_link(alert));
    let variables = TemplateVariables::from_event_data(data, link, time_zone.clone());
    let mut text = |kind, source_of: fn(&MessageTemplates) -> Option<&String>| {
        let mut found = [&of_alert, &of_channel].into_iter().flatten();
        let (source, owner) = found.find_map(|(templates, owner)| Some((source_of(templates)?, owner)))?;
        let rendered = render(kind, source, &variables);
        let fail = |error| {
            failures.push(TemplateFailure {
                account,
                owner: owner.clone(),
                kind,
                source: source.clone(),
                error,
            });
        };
        rendered.map_err(fail).ok()
    };
    CustomTexts {
        title: text(TemplateKind::Title, |templates| templates.title.as_ref()),
        text: text(TemplateKind::Text, |templates| templates.text.as_ref()),
    }
}

/// Queues an email to the owner of each template that has failed, once for each text of the template. An error is logged and does not
/// delay the messages, which have their default texts.
pub(crate) async fn report(
    store: &Store,
    public_url: &str,
    sealing: (&Vault, &Random),
    now: Timestamp,
    failures: Vec<TemplateFailure>,
) {
    if let Err(error) = queue_notices(store, public_url, sealing, now, failures).await {
        tracing::error!(%error, "cannot queue a notice about a template");
    }
}

async fn queue_notices(
    store: &Store,
    public_url: &str,
    (vault, random): (&Vault, &Random),
    now: Timestamp,
    mut failures: Vec<TemplateFailure>,
) -> Result<(), StoreError> {
    failures.sort_unstable_by_key(TemplateFailure::message_id);
    failures.dedup_by_key(|failure| failure.message_id());
    let mut notices = Vec::new();
    for failure in failures {
        tracing::info!(owner = %failure.owner_id(), template = failure.kind.name(), error = %failure.error, "a template has failed");
        let Some(owner) = store.account(failure.account).await? else {
            continue;
        };
        let to = (MessageChannel::Email, owner.email.as_str());
        let id = (failure.message_id(), now);
        match seal_message(
            vault,
            random,
            id,
            to,
            Some(failure.account),
            &failure.content(public_url),
        ) {
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
