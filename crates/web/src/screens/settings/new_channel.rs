//! `/settings/channels/new`: the form for a notification channel of one type.

use askama::Template;
use delivery::notification_channels::NotificationChannelType;
use delivery::webhooks::Webhook;

use super::SettingsTab;
use super::notification_channels::type_text;
use crate::filters;
use crate::form_state::FormState;
use crate::layout::Shell;

/// The input with the id of a webhook.
const WEBHOOK_FIELD: &str = "config.webhook_id";

/// An input for a member of the configuration. Its name is that of the member in errors, such as `config.url`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ConfigField {
    /// The name, which is also the id of the element.
    pub name: &'static str,
    /// The id of the label's text.
    pub label: &'static str,
    /// The id of the hint's text.
    pub hint: Option<&'static str>,
    /// The type of the input.
    pub kind: &'static str,
    /// Whether it must be filled in.
    pub is_required: bool,
    /// Whether its value is not shown again.
    pub is_secret: bool,
}

const fn required(name: &'static str, label: &'static str, kind: &'static str) -> ConfigField {
    ConfigField {
        name,
        label,
        hint: None,
        kind,
        is_required: true,
        is_secret: false,
    }
}

const fn secret(field: ConfigField) -> ConfigField {
    ConfigField {
        is_secret: true,
        ..field
    }
}

const fn optional(field: ConfigField, hint: &'static str) -> ConfigField {
    ConfigField {
        hint: Some(hint),
        is_required: false,
        ..field
    }
}

const ADDRESS: ConfigField = required("config.address", "email", "email");
const SECRET_URL: ConfigField = secret(required("config.url", "url", "url"));
const NTFY_TOPIC: ConfigField = required("config.topic", "ntfy-topic", "text");
const NTFY_URL: ConfigField = optional(required("config.url", "ntfy-server", "url"), "ntfy-server-hint");
const NTFY_TOKEN: ConfigField = optional(
    secret(required("config.token", "access-token", "text")),
    "ntfy-token-hint",
);
const PUSHOVER_USER: ConfigField = secret(required("config.user", "pushover-user", "text"));
const PUSHOVER_TOKEN: ConfigField = optional(
    secret(required("config.token", "pushover-token", "text")),
    "pushover-token-hint",
);
const BOT_TOKEN: ConfigField = optional(
    secret(required("config.bot_token", "bot-token", "text")),
    "bot-token-hint",
);

const PUSH_ENDPOINT: ConfigField = secret(required("config.endpoint", "push-endpoint", "url"));
const PUSH_PUBLIC_KEY: ConfigField = secret(required("config.p256dh", "push-public-key", "text"));
const PUSH_AUTH: ConfigField = secret(required("config.auth", "push-auth", "text"));

/// Returns the inputs of a type, besides the choice of a webhook.
const fn config_fields(channel_type: NotificationChannelType) -> &'static [ConfigField] {
    match channel_type {
        NotificationChannelType::Sms | NotificationChannelType::Webhook => &[],
        NotificationChannelType::Slack
        | NotificationChannelType::Discord
        | NotificationChannelType::Teams
        | NotificationChannelType::Apprise => &[SECRET_URL],
        NotificationChannelType::Ntfy => &[NTFY_TOPIC, NTFY_URL, NTFY_TOKEN],
        NotificationChannelType::Pushover => &[PUSHOVER_USER, PUSHOVER_TOKEN],
        NotificationChannelType::Telegram => &[BOT_TOKEN],
        NotificationChannelType::WebPush => &[PUSH_ENDPOINT, PUSH_PUBLIC_KEY, PUSH_AUTH],
        NotificationChannelType::Email => &[ADDRESS],
    }
}

/// Returns the names of the inputs that a form of a type has.
pub fn config_members(channel_type: NotificationChannelType) -> impl Iterator<Item = &'static str> {
    let webhook = (channel_type == NotificationChannelType::Webhook).then_some(WEBHOOK_FIELD);
    let fields = config_fields(channel_type).iter().map(|field| field.name);
    fields.chain(webhook)
}

/// Removes the secrets of a refused form, which are not shown again.
pub fn remove_secrets(form: &mut FormState, channel_type: NotificationChannelType) {
    for field in config_fields(channel_type).iter().filter(|field| field.is_secret) {
        form.values.remove(field.name);
    }
}

/// Returns the id of the text that says how a channel of a type is set up.
const fn setup_text(channel_type: NotificationChannelType) -> &'static str {
    match channel_type {
        NotificationChannelType::Email => "channel-setup-email",
        NotificationChannelType::Sms => "channel-setup-sms",
        NotificationChannelType::Webhook => "channel-setup-webhook",
        NotificationChannelType::Slack => "channel-setup-slack",
        NotificationChannelType::Discord => "channel-setup-discord",
        NotificationChannelType::Telegram => "channel-setup-telegram",
        NotificationChannelType::Ntfy => "channel-setup-ntfy",
        NotificationChannelType::Pushover => "channel-setup-pushover",
        NotificationChannelType::Teams => "channel-setup-teams",
        NotificationChannelType::Apprise => "channel-setup-apprise",
        NotificationChannelType::WebPush => "channel-setup-web-push",
    }
}

/// A type to choose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TypeChoice {
    /// The name.
    pub name: &'static str,
    /// The id of the text.
    pub text: &'static str,
    /// Whether it is chosen.
    pub is_selected: bool,
}

impl TypeChoice {
    /// Returns all types, those of services first. Browsers are missing: only a script can subscribe one.
    #[must_use]
    pub(super) fn all(selected: Option<NotificationChannelType>) -> Vec<Self> {
        let is_own = |channel_type: &NotificationChannelType| {
            matches!(
                channel_type,
                NotificationChannelType::Email | NotificationChannelType::Sms | NotificationChannelType::Webhook
            )
        };
        let (own, services): (Vec<_>, Vec<_>) = NotificationChannelType::ALL.iter().copied().partition(is_own);
        let is_chosen = |channel_type: &NotificationChannelType| *channel_type != NotificationChannelType::WebPush;
        let all = services.into_iter().chain(own).filter(is_chosen);
        let choices = all.map(|channel_type| Self {
            name: channel_type.name(),
            text: type_text(channel_type),
            is_selected: selected == Some(channel_type),
        });
        choices.collect()
    }
}

/// The type of a new channel, with its inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NewChannelType(pub NotificationChannelType);

impl NewChannelType {
    const fn name(self) -> &'static str {
        self.0.name()
    }

    const fn text(self) -> &'static str {
        type_text(self.0)
    }

    const fn setup(self) -> &'static str {
        setup_text(self.0)
    }

    const fn fields(self) -> &'static [ConfigField] {
        config_fields(self.0)
    }

    fn has_webhook_field(self) -> bool {
        self.0 == NotificationChannelType::Webhook
    }
}

/// The form for a new channel.
#[derive(Template, Debug)]
#[template(path = "settings/new_channel.html")]
pub struct NewChannelPage {
    /// The frame.
    pub shell: Shell,
    /// The state of a refused form.
    pub form: FormState,
    /// The type; `None` until it is chosen.
    pub channel_type: Option<NewChannelType>,
    /// The webhooks to choose from: id and URL.
    pub webhooks: Vec<(String, String)>,
}

impl NewChannelPage {
    const TAB: SettingsTab = SettingsTab::Channels;

    /// Formats the webhooks of an account.
    #[must_use]
    pub fn webhook_choices(webhooks: &[Webhook]) -> Vec<(String, String)> {
        let choices = webhooks.iter();
        choices
            .map(|webhook| (webhook.id.0.to_string(), webhook.url.clone()))
            .collect()
    }

    fn type_choices(&self) -> Vec<TypeChoice> {
        TypeChoice::all(self.channel_type.map(|new| new.0))
    }

    /// Returns the attributes that connect an input with its hint and its error.
    fn description(&self, field: &ConfigField) -> String {
        let hint = field.hint.map(|_| format!("{}-hint", field.name));
        let error = self.form.error_of(field.name).map(|_| format!("{}-error", field.name));
        let invalid = if error.is_some() { r#" aria-invalid="true""# } else { "" };
        let ids: Vec<String> = hint.into_iter().chain(error).collect();
        match ids.is_empty() {
            true => String::new(),
            false => format!(r#" aria-describedby="{}"{invalid}"#, ids.join(" ")),
        }
    }
}
