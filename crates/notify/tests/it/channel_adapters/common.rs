//! A channel client with a manual clock and a fake resolver, and messages.

use std::time::Duration;

use jiff::SignedDuration;
use notify::address::{LookupOwner, UrlPolicy};
use notify::channels::pushover::PushoverSettings;
use notify::channels::telegram::TelegramSettings;
use notify::channels::web_push::VapidKey;
use notify::channels::{
    AlertButton, ChannelAction, ChannelActionKind, ChannelAttempt, ChannelClient, ChannelClientConfig, ChannelMessage,
    ChannelSecret, ChannelTarget, WebPushSettings,
};
use notify::schedule::{AttemptReport, AttemptResult};
use serde_json::Value;
use url::Url;
use uuid::Uuid;

use crate::notify::common::client_fixture::ClientFixture;
use crate::notify::common::policy_allowing;
use crate::notify::common::receiver::{Behaviour, Received, Receiver, answer};

pub(crate) const OWNER: LookupOwner = LookupOwner::Anonymous;
pub(crate) const RETRIED: AttemptResult = AttemptResult::Failed { not_before: None };

pub(crate) const OPERATOR_BOT_TOKEN: &str = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";
pub(crate) const OPERATOR_PUSHOVER_TOKEN: &str = "azGDORePK8gMaC0QOYAMyEEuzJnyUi";

pub(crate) const VAPID_PRIVATE_KEY: &str = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw";

/// Timeout of an attempt in these tests.
pub(crate) const TIMEOUT: SignedDuration = SignedDuration::from_secs(5);

/// Creates a channel from the URL of the server.
pub(crate) type NewTarget = fn(&str) -> ChannelTarget;

/// A message with a title, a text of two lines, a page and three actions.
pub(crate) fn message() -> ChannelMessage {
    let url = |path: &str| Url::parse(&format!("https://alerts.example.com/{path}")).unwrap();
    let action = |kind, name: &str| ChannelAction {
        kind,
        url: url(&format!("acknowledge?t={name}-token-0123456789")),
        callback_data: Some(format!("{name}-data-0123")),
    };
    ChannelMessage {
        id: Uuid::from_u128(0x0123_4567_89ab_4def_8123_4567_89ab_cdef),
        title: "AAPL 180.00 <at> your level & more".to_owned(),
        text: "AAPL 180.00 — at or below your 180.00 (−2.41 % today).\nNote: *sell* half_of_it".to_owned(),
        link: Some(url("alerts/7")),
        actions: vec![
            action(ChannelActionKind::Acknowledge, "ack"),
            action(ChannelActionKind::Change(AlertButton::SnoozeOneHour), "hour"),
            action(ChannelActionKind::Change(AlertButton::Pause), "pause"),
        ],
        urgent: false,
    }
}

/// A message with this text, without links.
pub(crate) fn text_message(text: &str) -> ChannelMessage {
    ChannelMessage {
        title: "Title".to_owned(),
        text: text.to_owned(),
        link: None,
        actions: Vec::new(),
        ..message()
    }
}

/// The dependencies of a client under test.
pub(crate) struct ChannelFixture {
    pub(crate) clients: ClientFixture,
}

impl ChannelFixture {
    pub(crate) fn new() -> Self {
        let clients = ClientFixture::new();
        Self { clients }
    }

    pub(crate) async fn server(&self, behaviours: &[Behaviour]) -> Receiver {
        Receiver::start(&self.clients.time, behaviours).await
    }

    /// Returns a client that may connect to this machine.
    pub(crate) fn client(&self, server: &Receiver) -> ChannelClient {
        self.client_with(server, policy_allowing(&["127.0.0.0/8"]))
    }

    pub(crate) fn client_with(&self, server: &Receiver, rules: UrlPolicy) -> ChannelClient {
        let base_url = format!("http://{}", server.address);
        let config = ChannelClientConfig {
            webhooks: self.clients.client_with(rules),
            telegram: TelegramSettings {
                base_url: base_url.clone(),
                bot_token: Some(ChannelSecret::new(OPERATOR_BOT_TOKEN)),
            },
            pushover: PushoverSettings {
                base_url,
                token: Some(ChannelSecret::new(OPERATOR_PUSHOVER_TOKEN)),
            },
            web_push: WebPushSettings {
                key: Some(VapidKey::from_base64url(VAPID_PRIVATE_KEY).unwrap()),
                subject: "https://alerts.example.com".to_owned(),
                random: Box::new(|| [7; 32]),
            },
            extra_roots: Vec::new(),
            timeout: Duration::try_from(TIMEOUT).unwrap(),
        };
        ChannelClient::new(config).unwrap()
    }
}

/// The URL of a server, with a secret in its path.
pub(crate) fn secret_url(server: &Receiver) -> String {
    format!(
        "http://hooks.example:{}/services/T0/secret-path-0123",
        server.address.port()
    )
}

/// Sends a message to a server with this behaviour.
pub(crate) async fn attempt(new_target: NewTarget, behaviour: Behaviour, message: &ChannelMessage) -> ChannelAttempt {
    let fixture = ChannelFixture::new();
    let server = fixture.server(&[behaviour]).await;
    let target = new_target(&secret_url(&server));
    fixture.client(&server).send(OWNER, &target, message).await
}

/// Sends a message, and returns the request that the service received.
pub(crate) async fn received(new_target: NewTarget, response: String, message: &ChannelMessage) -> Received {
    let fixture = ChannelFixture::new();
    let server = fixture.server(&[Behaviour::Answers(response)]).await;
    let target = new_target(&secret_url(&server));
    let attempt = fixture.client(&server).send(OWNER, &target, message).await;
    assert_eq!(attempt.result(), AttemptResult::Delivered, "{attempt:?}");
    server.requests().remove(0)
}

/// Sends a message, and returns the JSON that the service received.
pub(crate) async fn received_json(new_target: NewTarget, response: String, message: &ChannelMessage) -> Value {
    let request = received(new_target, response, message).await;
    assert_eq!(request.headers["content-type"], "application/json");
    serde_json::from_str(&request.body).unwrap()
}

/// A response of a service, and the attempt that it results in.
#[derive(Clone, Copy)]
pub(crate) struct ErrorCase {
    status: &'static str,
    headers: &'static str,
    body: &'static str,
    /// The name of the outcome.
    outcome: &'static str,
    result: AttemptResult,
    /// The code of the outcome.
    code: Option<u32>,
    detail: Option<&'static str>,
}

impl ErrorCase {
    /// A failure for good.
    pub(crate) fn refused(status: &'static str, body: &'static str, code: u32, detail: &'static str) -> Self {
        Self {
            status,
            headers: "",
            body,
            outcome: "refused",
            result: AttemptResult::Refused,
            code: Some(code),
            detail: Some(detail).filter(|detail| !detail.is_empty()),
        }
    }

    /// A subscription that no longer exists.
    pub(crate) fn gone(status: &'static str, body: &'static str, code: u32) -> Self {
        Self {
            outcome: "gone",
            ..Self::refused(status, body, code, "")
        }
    }

    /// A failure that is retried.
    pub(crate) fn deferred(status: &'static str, body: &'static str, code: u32, detail: &'static str) -> Self {
        Self {
            outcome: "deferred",
            result: RETRIED,
            ..Self::refused(status, body, code, detail)
        }
    }

    /// Rejected credentials.
    pub(crate) fn credentials(status: &'static str, body: &'static str, detail: &'static str) -> Self {
        Self {
            outcome: "authentication_failed",
            code: None,
            ..Self::deferred(status, body, 0, detail)
        }
    }

    /// The same with these headers.
    pub(crate) fn with_headers(self, headers: &'static str) -> Self {
        Self { headers, ..self }
    }

    /// The same with these headers, and a retry after a delay.
    pub(crate) fn after(self, headers: &'static str, delay_ms: i64) -> Self {
        Self {
            headers,
            result: AttemptResult::Failed {
                not_before: Some(SignedDuration::from_millis(delay_ms)),
            },
            ..self
        }
    }
}

/// Checks the attempts that error responses result in.
pub(crate) async fn check_errors(new_target: NewTarget, cases: &[ErrorCase]) {
    for case in cases {
        let response = Behaviour::Answers(answer(case.status, case.headers, case.body));
        let found = attempt(new_target, response, &message()).await;
        let context = format!("{} {}", case.status, case.body);
        assert_eq!(found.attempt.outcome.name(), case.outcome, "{context}");
        assert_eq!(found.result(), case.result, "{context}");
        assert_eq!(found.attempt.outcome.code(), case.code, "{context}");
        assert_eq!(found.attempt.detail.as_deref(), case.detail, "{context}");
        let status: u16 = case.status.split(' ').next().unwrap().parse().unwrap();
        assert_eq!(found.http_status, Some(status), "{context}");
    }
}
