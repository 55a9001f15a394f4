//! Emails and text messages: a mail server and an SMS provider in the test process, which outlive every service process, and the
//! expected messages.
//!
//! The mail server accepts everything. The SMS provider is unreliable: in each round it randomly accepts, fails, closes the
//! connection or hangs. Each firing has exactly one message, which arrives at least once. An email has one id and one text.

use std::collections::{BTreeMap, BTreeSet};

use acceptance::clock::wait_for;
use acceptance::{
    Behaviour, DatabaseKind, MailServer, ReceivedMail, RecordedRequest, RunningService, ScriptedServer, ServiceSetup,
};
use rand_chacha::ChaCha8Rng;
use reqwest::Method;
use serde_json::json;
use sqlx::{Connection, PgConnection, SqliteConnection};
use sqlx_macros::FromRow;
use url::form_urlencoded;
use uuid::Uuid;

use crate::survival::worker::random_item;

/// The owner of all alerts.
pub(crate) const OWNER: &str = "operator@example.com";
const PASSWORD: &str = "correct horse";
const PHONE_NUMBER: &str = "+14155550123";
const ACCOUNT_SID: &str = "AC0123456789abcdef0123456789abcdef";

/// A message in the database.
#[derive(FromRow)]
struct MessageRow {
    id: Uuid,
    channel: String,
    kind: String,
    status: String,
    outcome: Option<String>,
}

async fn read_messages(setup: &ServiceSetup) -> Vec<MessageRow> {
    const QUERY: &str = "SELECT id, channel, kind, status, outcome FROM messages";
    match setup.database() {
        DatabaseKind::Sqlite => {
            let mut connection = SqliteConnection::connect(setup.database_url()).await.unwrap();
            sqlx::query_as(QUERY).fetch_all(&mut connection).await.unwrap()
        }
        DatabaseKind::Postgres => {
            let mut connection = PgConnection::connect(setup.database_url()).await.unwrap();
            sqlx::query_as(QUERY).fetch_all(&mut connection).await.unwrap()
        }
    }
}

/// The provider's response for an accepted message.
fn accepted() -> Behaviour {
    let body = json!({"sid": "SM0123456789abcdef0123456789abcdef", "status": "queued", "error_code": null});
    Behaviour::Respond(201, Vec::new(), body.to_string())
}

/// Returns the id of the message that an email carries.
fn message_id(mail: &ReceivedMail) -> String {
    let id = mail.header("message-id").trim_matches(['<', '>']);
    id.split('@').next().unwrap_or_default().to_owned()
}

fn field(request: &RecordedRequest, name: &str) -> String {
    let mut fields = form_urlencoded::parse(request.body.as_bytes());
    fields.find(|(found, _)| found == name).unwrap().1.into_owned()
}

/// The mail server and the SMS provider.
pub(crate) struct MessageReceivers {
    mail: MailServer,
    sms: ScriptedServer,
}

impl MessageReceivers {
    /// Starts both, and returns the settings of a service that sends to them, with many retries at short intervals.
    pub(crate) async fn start(setup: ServiceSetup) -> (Self, ServiceSetup) {
        let receivers = Self {
            mail: MailServer::start().await,
            sms: ScriptedServer::with_script(vec![accepted()]).await,
        };
        let delays = ["1s"; 60].join(",");
        let setup = setup
            .set("server.public_url", "https://alerts.example.com")
            .set("email.transport", "smtp")
            .set("email.smtp_url", &receivers.mail.url(""))
            .set("email.from", "Bellwether <alerts@example.com>")
            .set("email.timeout", "2s")
            .set("email.retry_delays", &delays)
            .set("email.max_alerts_per_address", "50000")
            .set("sms.provider", "twilio")
            .set("sms.account_sid", ACCOUNT_SID)
            .set("sms.auth_token", "fedcba9876543210fedcba9876543210")
            .set("sms.from", "+15005550006")
            .set("sms.base_url", &format!("http://{}", receivers.sms.address()))
            .set("sms.timeout", "500ms")
            .set("sms.retry_delays", &delays);
        (receivers, setup)
    }

    /// Verifies the owner's phone number, so that alerts can be sent to it.
    pub(crate) async fn verify_phone(&self, service: &RunningService) {
        let client = service.anonymous_client();
        let login = json!({"email": OWNER, "password": PASSWORD});
        let response = client.post("/auth/login", &login).await.expect_ok(200);
        let token = format!("Bearer {}", response.text_of("access_token"));
        let send = async |path, body| {
            let request = client.request(Method::POST, path).header("authorization", &token);
            let _ = request.json(&body).send().await.expect_ok(200);
        };
        let consent = json!({"phone": PHONE_NUMBER, "sms_consent": true});
        send("/user/account/phone", consent).await;
        let text = field(&self.sms.wait_for_requests(1).await[0], "Body");
        let code = text.split_whitespace().next().unwrap();
        send(
            "/user/account/phone/verify",
            json!({"phone": PHONE_NUMBER, "token": code}),
        )
        .await;
    }

    /// Selects a random behaviour for the SMS provider.
    pub(crate) fn change_behaviour(&self, rng: &mut ChaCha8Rng) {
        let behaviours = [
            accepted(),
            Behaviour::status(503),
            Behaviour::CloseConnection,
            Behaviour::Hang,
        ];
        self.sms.set_behaviour(random_item(rng, &behaviours).clone());
    }

    /// Waits until no message is pending, and compares the received messages with the number of firings. Returns the violations,
    /// and a summary.
    pub(crate) async fn check(&self, setup: &ServiceSetup, firings: usize) -> (Vec<String>, String) {
        self.sms.set_behaviour(accepted());
        let rows = wait_for("the last message", || async {
            let rows = read_messages(setup).await;
            rows.iter().all(|row| row.status != "pending").then_some(rows)
        })
        .await;
        let mut violations = Vec::new();
        let fired = rows.iter().filter(|row| row.kind == "fired").count();
        if fired != firings {
            violations.push(format!("{firings} firings, but {fired} messages"));
        }
        for row in rows.iter().filter(|row| row.status != "sent") {
            let (id, status, outcome) = (row.id, &row.status, &row.outcome);
            violations.push(format!("the message {id} is {status}, not sent: {outcome:?}"));
        }
        let ids = |channel: &str| -> BTreeSet<String> {
            let rows = rows.iter().filter(|row| row.channel == channel);
            rows.map(|row| row.id.to_string()).collect()
        };
        let sent = ids("email");
        // The mail server reports an email a moment after it has accepted it.
        let mails = wait_for("the last email", || async {
            let mails = self.mail.mails_to(OWNER);
            let received: BTreeSet<_> = mails.iter().map(message_id).collect();
            sent.is_subset(&received).then_some(mails)
        })
        .await;
        let mut texts: BTreeMap<String, &str> = BTreeMap::new();
        for mail in &mails {
            let id = message_id(mail);
            if *texts.entry(id.clone()).or_insert(mail.text()) != mail.text() {
                violations.push(format!("the email {id} has two texts"));
            }
        }
        let received: BTreeSet<String> = texts.into_keys().collect();
        let unknown: Vec<_> = received.difference(&sent).collect();
        if !unknown.is_empty() {
            violations.push(format!("emails without a message: {unknown:?}"));
        }
        let requests = self.sms.received();
        let texts = requests.iter().filter(|request| request.response_status == Some(201));
        let (texts, expected) = (texts.count(), ids("sms").len());
        if texts < expected {
            violations.push(format!("{expected} text messages were sent, but {texts} arrived"));
        }
        let summary = format!(
            "{} emails in {} arrivals, {expected} text messages in {texts} arrivals",
            received.len(),
            mails.len()
        );
        (violations, summary)
    }
}
