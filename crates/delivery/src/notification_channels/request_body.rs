//! Request bodies about notification channels.

use super::throttle::{BurstLimit, DailyBudget, DigestField};
use foundation::request;
use foundation::request::{Field, Line, ObjectBuilder, OrTrue, Patch, RefOr, Schema, formatted, string};
use notify::templates::user_template::MAX_SOURCE_BYTES;
use serde_json::{Map, Value, json};
use store::model::NotificationChannelType;
use utoipa::openapi::schema::{AdditionalProperties, SchemaType, Type};

/// Maximum length of a name, in characters.
const MAX_NAME_LENGTH: usize = 100;
/// Maximum length of a URL in the schema, in characters.
const MAX_URL_LENGTH: usize = 2048;
/// Maximum length of a token in the schema, in characters.
const MAX_TOKEN_LENGTH: usize = 256;

/// The members of a configuration. Which ones a channel has depends on its type.
#[derive(Clone)]
pub struct ConfigMembers(pub(super) Map<String, Value>);

impl Field for ConfigMembers {
    fn read(value: &Value) -> Result<Self, String> {
        let members = value.as_object().cloned().map(Self);
        members.ok_or_else(|| {
            "must be an object with the members of this type, such as {\"url\": \"https://…\"}".to_owned()
        })
    }

    fn schema() -> RefOr<Schema> {
        let nullable = |builder: ObjectBuilder| builder.schema_type(SchemaType::Array(vec![Type::String, Type::Null]));
        let token = || {
            nullable(string())
                .min_length(Some(1))
                .max_length(Some(MAX_TOKEN_LENGTH))
        };
        let members = [
            (
                "address",
                nullable(formatted("email")).max_length(Some(254)),
                "`email`: the address; it gets a link that verifies it",
            ),
            (
                "webhook_id",
                nullable(formatted("uuid")),
                "`webhook`: the id of one of the account's webhooks",
            ),
            (
                "url",
                nullable(string()).min_length(Some(1)).max_length(Some(MAX_URL_LENGTH)),
                "`slack`, `discord`, `teams`, `apprise`: the URL that messages are posted to, a secret. `ntfy`: the URL of the server, \
                 https://ntfy.sh by default",
            ),
            (
                "topic",
                nullable(string()).pattern(Some("^[-_A-Za-z0-9]{1,64}$")),
                "`ntfy`: the topic",
            ),
            ("user", token(), "`pushover`: the user key or group key, a secret"),
            (
                "token",
                token(),
                "`ntfy`: an access token, if the topic needs one; `pushover`: the token of your application. A secret",
            ),
            (
                "bot_token",
                token(),
                "`telegram`: the token of your own bot; without it, that of the operator is used. A secret",
            ),
            (
                "endpoint",
                nullable(string()).min_length(Some(1)).max_length(Some(MAX_URL_LENGTH)),
                "`web_push`: the address of the browser's subscription at its push service, a secret",
            ),
            (
                "p256dh",
                nullable(string()).pattern(Some(r"^([-_A-Za-z0-9]{87}|\*{3})$")),
                "`web_push`: the public key of the subscription, an uncompressed point of P-256 in base64url without padding. A secret",
            ),
            (
                "auth",
                nullable(string()).pattern(Some(r"^([-_A-Za-z0-9]{22}|\*{3})$")),
                "`web_push`: the authentication secret of the subscription, 16 bytes in base64url without padding",
            ),
        ];
        let object = ObjectBuilder::new().additional_properties(Some(AdditionalProperties::FreeForm(false)));
        let object = members.into_iter().fold(object, |object, (name, schema, description)| {
            object.property(name, schema.description(Some(description)))
        });
        object.into()
    }
}

/// The templates of a request: `title`, `text` and `payload`.
#[derive(Clone)]
pub struct TemplateMembers(pub(super) Map<String, Value>);

impl Field for TemplateMembers {
    fn read(value: &Value) -> Result<Self, String> {
        let members = value.as_object().cloned().map(Self);
        members.ok_or_else(|| "must be an object with the templates title, text and payload, or null".to_owned())
    }

    fn schema() -> RefOr<Schema> {
        let members = [
            ("title", "The title: one line"),
            ("text", "The text"),
            (
                "payload",
                "The JSON body of deliveries to the webhook of a channel of type `webhook`",
            ),
        ];
        let object = ObjectBuilder::new().additional_properties(Some(AdditionalProperties::FreeForm(false)));
        let object = members.into_iter().fold(object, |object, (name, description)| {
            let template = string().schema_type(SchemaType::Array(vec![Type::String, Type::Null]));
            let template = template.max_length(Some(MAX_SOURCE_BYTES)).pattern(Some(r"^[^\x00]*$"));
            object.property(name, template.description(Some(description)))
        });
        object.into()
    }
}

request! {
    /// The notification channel to create.
    CreateNotificationChannelRequest as "CreateNotificationChannel" {
        /// Type; it cannot be changed.
        r#type: NotificationChannelType = "slack",
        /// Name, such as `Trading room`; the type by default.
        name: Option<Line<MAX_NAME_LENGTH>> = "Trading room",
        /// Configuration. Its members depend on the type.
        config: Option<ConfigMembers> = json!({"url": "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX"}),
        /// Templates of its messages, in a part of Jinja: `{{ symbol }} is at {{ price|money }}`. Without one, a message has its
        /// default text.
        templates: Option<TemplateMembers> = json!({"title": "{{ symbol }} {{ price|money }}"}),
        /// Maximum number of messages within a minute. If more alerts fire, they become one message that lists them. By default it is
        /// that of the service.
        burst_limit: Option<BurstLimit> = 10,
        /// When the alerts that have fired since the last digest are sent in one message, in the account's time zone: `hourly`, or
        /// `daily at HH:MM`. By default each is sent at once.
        digest: Option<DigestField> = "daily at 17:30",
        /// Maximum number of messages on a day in the account's time zone. More alerts are sent in one message: with the next digest,
        /// or else at 08:00.
        daily_budget: Option<DailyBudget> = 20,
        /// Whether firings are sent to the channel; defaults to `true`.
        enabled: OrTrue,
    }
}

request! {
    /// The fields to change. Omitted fields keep their values.
    UpdateNotificationChannelRequest as "UpdateNotificationChannel" {
        /// Name.
        name: Option<Line<MAX_NAME_LENGTH>> = "Trading room",
        /// The members of the configuration to change. Omitted members keep their values, as `***` does for a secret; null removes an
        /// optional one. A channel with another destination must be verified again.
        config: Option<ConfigMembers>,
        /// The templates to change. Omitted ones keep their values; null removes one, or all of them.
        templates: Patch<TemplateMembers>,
        /// Maximum number of messages within a minute; null for that of the service.
        burst_limit: Patch<BurstLimit>,
        /// `hourly` or `daily at HH:MM`, in the account's time zone; null to send each message at once.
        digest: Patch<DigestField>,
        /// Maximum number of messages on a day; null for any number.
        daily_budget: Patch<DailyBudget>,
        /// Whether firings are sent to the channel.
        enabled: Option<bool>,
    }
}
