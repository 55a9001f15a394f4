//! The members of a configuration in requests, and how they change a stored configuration.

use foundation::ErrorsByField;
use foundation::request::{Email, Field};
use notify::channels::ntfy::NtfyConfig;
use serde_json::{Map, Value};
use store::model::NotificationChannelType;
use uuid::Uuid;

use super::config::{MASK, NotificationChannelConfig};

/// A member of a configuration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ConfigMember {
    name: &'static str,
    is_required: bool,
    is_secret: bool,
}

const fn required(name: &'static str) -> ConfigMember {
    ConfigMember {
        name,
        is_required: true,
        is_secret: false,
    }
}

const fn secret(member: ConfigMember) -> ConfigMember {
    ConfigMember {
        is_secret: true,
        ..member
    }
}

const fn optional(member: ConfigMember) -> ConfigMember {
    ConfigMember {
        is_required: false,
        ..member
    }
}

const ADDRESS: ConfigMember = required("address");
const WEBHOOK_ID: ConfigMember = required("webhook_id");
const URL: ConfigMember = secret(required("url"));
const NTFY_URL: ConfigMember = optional(required("url"));
const TOPIC: ConfigMember = required("topic");
const USER: ConfigMember = secret(required("user"));
const TOKEN: ConfigMember = optional(secret(required("token")));
const BOT_TOKEN: ConfigMember = optional(secret(required("bot_token")));
const ENDPOINT: ConfigMember = secret(required("endpoint"));
const P256DH: ConfigMember = secret(required("p256dh"));
const AUTH: ConfigMember = secret(required("auth"));

/// Returns the members of the configuration of a type.
const fn members_of(channel_type: NotificationChannelType) -> &'static [ConfigMember] {
    match channel_type {
        NotificationChannelType::Email => &[ADDRESS],
        NotificationChannelType::Sms => &[],
        NotificationChannelType::Webhook => &[WEBHOOK_ID],
        NotificationChannelType::Slack
        | NotificationChannelType::Discord
        | NotificationChannelType::Teams
        | NotificationChannelType::Apprise => &[URL],
        NotificationChannelType::Telegram => &[BOT_TOKEN],
        NotificationChannelType::Ntfy => &[NTFY_URL, TOPIC, TOKEN],
        NotificationChannelType::Pushover => &[USER, TOKEN],
        NotificationChannelType::WebPush => &[ENDPOINT, P256DH, AUTH],
    }
}

/// Applies the members of a request to a stored configuration. Omitted members keep their values; null removes an optional one; `***`
/// keeps a secret.
///
/// # Errors
/// Errors by field, such as `config.url`.
pub(super) fn apply(
    channel_type: NotificationChannelType,
    stored: Option<&NotificationChannelConfig>,
    request: &Map<String, Value>,
) -> Result<NotificationChannelConfig, ErrorsByField> {
    let mut errors = ErrorsByField::new();
    let mut members = stored.map(stored_members).unwrap_or_default();
    let known = members_of(channel_type);
    for (name, value) in request {
        let result = match known.iter().find(|member| member.name == name) {
            None => Err(unknown_member(channel_type)),
            Some(member) => set(&mut members, *member, value),
        };
        if let Err(error) = result {
            errors.entry(format!("config.{name}")).or_default().push(error);
        }
    }
    for member in known.iter().filter(|member| member.is_required) {
        let field = format!("config.{}", member.name);
        if !members.contains_key(member.name) && !errors.contains_key(&field) {
            errors.insert(field, vec!["is required".to_owned()]);
        }
    }
    if let Some(error) = token_for_another_server(stored, &members, request) {
        errors.insert("config.token".to_owned(), vec![error]);
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    if has_other_bot(stored, &members) {
        members.remove("chat_id");
    }
    let config = NotificationChannelConfig::from_members(channel_type, &members);
    config.ok_or_else(|| ErrorsByField::from([("config".to_owned(), vec!["is incomplete".to_owned()])]))
}

fn stored_members(config: &NotificationChannelConfig) -> Map<String, Value> {
    let mut members = config.members();
    if let Some(webhook) = config.webhook() {
        members.insert("webhook_id".to_owned(), webhook.0.to_string().into());
    }
    members
}

fn unknown_member(channel_type: NotificationChannelType) -> String {
    let names: Vec<&str> = members_of(channel_type).iter().map(|member| member.name).collect();
    let name = channel_type.name();
    match names.as_slice() {
        [] => format!("must be omitted; the configuration of {name} has no members"),
        names => format!("must be omitted; the configuration of {name} has {}", names.join(", ")),
    }
}

fn set(members: &mut Map<String, Value>, member: ConfigMember, value: &Value) -> Result<(), String> {
    if value.is_null() {
        members.remove(member.name);
        return Ok(());
    }
    if member.is_secret && value == MASK {
        return match members.contains_key(member.name) {
            true => Ok(()),
            false => Err(format!(
                "must be the secret itself; {MASK} keeps a stored one, and there is none"
            )),
        };
    }
    let text = match member.name {
        "address" => Email::read(value)?.0,
        "webhook_id" => webhook_id(value)?,
        _ => foundation::request::plain_text(value)?.trim().to_owned(),
    };
    members.insert(member.name.to_owned(), text.into());
    Ok(())
}

fn webhook_id(value: &Value) -> Result<String, String> {
    let id = value.as_str().and_then(|text| Uuid::try_parse(text).ok());
    id.map(|id| id.to_string())
        .ok_or_else(|| "must be the id of a webhook, a UUID".to_owned())
}

/// Returns an error if a stored token would be sent to another server: who may change the channel must not learn its token.
fn token_for_another_server(
    stored: Option<&NotificationChannelConfig>,
    members: &Map<String, Value>,
    request: &Map<String, Value>,
) -> Option<String> {
    let former = stored?.members();
    let url = |members: &Map<String, Value>| {
        let url = members
            .get("url")
            .and_then(Value::as_str)
            .unwrap_or(NtfyConfig::DEFAULT_URL);
        url.trim_end_matches('/').to_owned()
    };
    let is_kept = former.contains_key("topic")
        && former.contains_key("token")
        && request.get("token").is_none_or(|token| token == MASK);
    (is_kept && url(&former) != url(members))
        .then(|| "must be sent again, or be null, because `config.url` changes".to_owned())
}

/// Returns whether a Telegram channel gets another bot, which cannot write to the linked chat.
fn has_other_bot(stored: Option<&NotificationChannelConfig>, members: &Map<String, Value>) -> bool {
    stored.is_some_and(|stored| stored.members().get("bot_token") != members.get("bot_token"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn fields(
        channel_type: NotificationChannelType,
        stored: Option<&NotificationChannelConfig>,
        request: &Value,
    ) -> Vec<String> {
        match apply(channel_type, stored, &object(request)) {
            Ok(_) => Vec::new(),
            Err(errors) => errors.into_keys().collect(),
        }
    }

    #[test]
    fn each_type_requires_its_members_and_refuses_others() {
        for (channel_type, valid, missing) in [
            (
                NotificationChannelType::Slack,
                json!({"url": "https://a.example"}),
                Some("config.url"),
            ),
            (
                NotificationChannelType::Email,
                json!({"address": "ann@example.com"}),
                Some("config.address"),
            ),
            (
                NotificationChannelType::Ntfy,
                json!({"topic": "alerts"}),
                Some("config.topic"),
            ),
            (
                NotificationChannelType::Pushover,
                json!({"user": "u"}),
                Some("config.user"),
            ),
            (
                NotificationChannelType::WebPush,
                json!({"endpoint": "https://push.example/x", "p256dh": "B", "auth": "A"}),
                Some("config.auth config.endpoint config.p256dh"),
            ),
            (NotificationChannelType::Telegram, json!({}), None),
            (NotificationChannelType::Sms, json!({}), None),
            (
                NotificationChannelType::Webhook,
                json!({"webhook_id": "0d9f5a5e-31e0-4cc7-8f36-5d4a8b7a1f0e"}),
                Some("config.webhook_id"),
            ),
        ] {
            assert_eq!(fields(channel_type, None, &valid), [""; 0], "{channel_type:?}");
            let expected: Vec<&str> = missing.unwrap_or_default().split_whitespace().collect();
            assert_eq!(fields(channel_type, None, &json!({})), expected, "{channel_type:?}");
            let mut other = valid;
            other["chat_id"] = json!(1);
            assert_eq!(
                fields(channel_type, None, &other),
                ["config.chat_id"],
                "{channel_type:?}"
            );
        }
    }

    #[test]
    fn mask_keeps_a_stored_secret_and_is_no_secret() {
        let pushover = NotificationChannelType::Pushover;
        let stored = apply(pushover, None, &object(&json!({"user": "u", "token": "t"}))).unwrap();
        let kept = apply(
            pushover,
            Some(&stored),
            &object(&json!({"user": "***", "token": "***"})),
        );
        assert_eq!(kept.unwrap(), stored);
        let without = apply(pushover, Some(&stored), &object(&json!({"token": null}))).unwrap();
        assert_eq!(without.members(), object(&json!({"user": "u"})));
        assert_eq!(
            fields(pushover, Some(&without), &json!({"token": "***"})),
            ["config.token"]
        );
        assert_eq!(fields(pushover, None, &json!({"user": "***"})), ["config.user"]);
    }

    #[test]
    fn stored_ntfy_token_is_not_sent_to_another_server() {
        let ntfy = NotificationChannelType::Ntfy;
        let stored = apply(ntfy, None, &object(&json!({"topic": "a", "token": "t"}))).unwrap();
        for request in [
            json!({"url": "https://other.example"}),
            json!({"url": "https://other.example", "token": "***"}),
        ] {
            assert_eq!(fields(ntfy, Some(&stored), &request), ["config.token"], "{request}");
        }
        for request in [
            json!({"url": "https://other.example", "token": "u"}),
            json!({"url": "https://other.example", "token": null}),
            json!({"url": "https://ntfy.sh/", "token": "***"}),
            json!({"topic": "b"}),
        ] {
            assert_eq!(fields(ntfy, Some(&stored), &request), [""; 0], "{request}");
        }
    }

    #[test]
    fn chat_of_another_bot_is_unlinked() {
        let telegram = NotificationChannelType::Telegram;
        let members = object(&json!({"bot_token": "1:a", "chat_id": 7}));
        let linked = NotificationChannelConfig::from_members(telegram, &members).unwrap();
        let kept = apply(telegram, Some(&linked), &object(&json!({"bot_token": "***"}))).unwrap();
        assert_eq!(kept, linked);
        for request in [json!({"bot_token": "2:b"}), json!({"bot_token": null})] {
            assert!(apply(telegram, Some(&linked), &object(&request)).unwrap().awaits_chat());
        }
    }
}
