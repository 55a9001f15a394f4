//! `GET|POST /settings/channels/new`: the form for a notification channel of one type.

use delivery::notification_channels::NotificationChannelType;
use foundation::ServiceError;
use serde_json::{Map, Value, json};
use web::form_state::FormState;
use web::layout::Section;
use web::screens::settings::{
    NewChannelPage, NewChannelType, TelegramCode, client_text, config_members, remove_secrets,
};
use web::texts;

use super::{PATH, PageAnswer, after_form, is_failure, page, refused_form};
use crate::routes::pages::link::form_field;
use crate::routes::pages::page::error_page;
use crate::routes::prelude::*;
use crate::routes::web::form_value::optional_text;
use crate::routes::web::response::{after_change, rendered};
use crate::routes::web::visitor::Visitor;

/// Maximum length of a type's name, in characters.
const MAX_TYPE_CHARS: usize = 20;

/// The endpoint of the subscription that a browser has replaced. The service worker sends it.
const FORMER_ENDPOINT: &str = "former_endpoint";

/// Shows the form of the type in the address, or the types to choose from.
pub(in crate::routes::web) async fn show_form(State(app): State<App>, visitor: Visitor, mut query: Query) -> Response {
    let name = query.text("type", MAX_TYPE_CHARS);
    let channel_type = name.and_then(|name| NotificationChannelType::from_name(&name));
    form_page(&app, &visitor, channel_type, FormState::default()).await
}

/// Creates a channel. The code of a Telegram channel is shown on the page of all channels.
pub(in crate::routes::web) async fn create_channel(
    State(app): State<App>,
    visitor: Visitor,
    form: FormFields,
) -> Response {
    let Some(channel_type) = NotificationChannelType::from_name(form_field(&form, "type")) else {
        let state = FormState {
            error: Some(texts::text("channel-unknown-type")),
            ..FormState::default()
        };
        return form_page(&app, &visitor, None, state).await;
    };
    let channels = &app.service().notification_channels;
    let mut body = body(channel_type, &form);
    if channel_type == NotificationChannelType::WebPush && body.get("name").is_none() {
        body["name"] = json!(client_text(visitor.client));
    }
    let created = match form_field(&form, FORMER_ENDPOINT) {
        "" => channels.create(&visitor.actor, &body).await,
        former => channels.replace_subscription(&visitor.actor, former, &body).await,
    };
    match created {
        Ok(created) => {
            let name = created.detail.channel.name;
            if let Some(link) = created.link {
                let answer = PageAnswer {
                    telegram_code: Some(TelegramCode::of(&name, link)),
                    ..PageAnswer::default()
                };
                return page(&app, &visitor, answer).await;
            }
            let text = match channel_type {
                NotificationChannelType::Email => "channel-created-email",
                _ if !created.is_new => "channel-changed",
                _ => "channel-created",
            };
            after_change(&visitor.head, PATH, Ok(texts::text_with(text, [("name", name.into())])))
        }
        Err(error) if is_failure(&error) => error_page(error),
        Err(error) => {
            let mut state = refused_form(&form, error);
            remove_secrets(&mut state, channel_type);
            form_page(&app, &visitor, Some(channel_type), state).await
        }
    }
}

/// Returns the body that creates the channel. An empty input is a member that is omitted.
fn body(channel_type: NotificationChannelType, form: &FormFields) -> Value {
    let members = config_members(channel_type).filter_map(|field| {
        let value = optional_text(form, field);
        let (_, member) = field.split_once('.')?;
        (!value.is_null()).then(|| (member.to_owned(), value))
    });
    let mut body = json!({"type": channel_type.name(), "config": members.collect::<Map<String, Value>>()});
    let name = optional_text(form, "name");
    if !name.is_null() {
        body["name"] = name;
    }
    body
}

async fn form_page(
    app: &App,
    visitor: &Visitor,
    channel_type: Option<NotificationChannelType>,
    form: FormState,
) -> Response {
    match new_channel_page(app, visitor, channel_type, form).await {
        Ok(page) => after_form(visitor, &page.form, rendered(&page)),
        Err(error) => error_page(error),
    }
}

async fn new_channel_page(
    app: &App,
    visitor: &Visitor,
    channel_type: Option<NotificationChannelType>,
    form: FormState,
) -> Result<NewChannelPage, ServiceError> {
    let webhooks = app.service().webhooks.webhooks(&visitor.actor).await?;
    Ok(NewChannelPage {
        shell: visitor.shell_with(app, Some(Section::Settings), &form),
        form,
        channel_type: channel_type.map(NewChannelType),
        webhooks: NewChannelPage::webhook_choices(&webhooks),
    })
}
