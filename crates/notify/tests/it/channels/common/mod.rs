//! Shared helpers.

use std::time::Duration;

use clock::{Clock, Sleep};
use jiff::SignedDuration;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use notify::email::Email;
use notify::templates::render::{EmailContext, RenderedEmail};
use tokio::sync::watch;
use uuid::Uuid;

pub(crate) mod http;
pub(crate) mod mail_server;
pub(crate) mod scripted;

/// A clock that only moves when the test advances it, so that tests control timeouts.
#[derive(Debug)]
pub(crate) struct ManualTime(watch::Sender<Timestamp>);

impl ManualTime {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(at("2026-03-06T14:30:00Z")))
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.0
            .send_modify(|now| *now = now.saturating_add(jiff::SignedDuration::try_from(by).unwrap()).unwrap());
    }
}

impl Clock for ManualTime {
    fn now(&self) -> Timestamp {
        *self.0.borrow()
    }

    fn uptime(&self) -> SignedDuration {
        self.now().duration_since(Timestamp::UNIX_EPOCH)
    }

    fn sleep_until(&self, at: Timestamp) -> Sleep<'_> {
        let mut time = self.0.subscribe();
        Box::pin(async move {
            let _ = time.wait_for(|now| *now >= at).await;
        })
    }
}

pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// Timeout of an attempt in these tests.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);

/// Returns a minimal email.
pub(crate) fn email(to: &str) -> Email {
    Email {
        to: to.to_owned(),
        to_name: None,
        message_id: Uuid::from_u128(0x0123_4567_89ab_4def_8123_4567_89ab_cdef),
        date: at("2026-03-06T14:29:30Z"),
        content: RenderedEmail {
            subject: "Hello".to_owned(),
            text: "A text.\n".to_owned(),
            html: "<p>A text.</p>\n".to_owned(),
            list_unsubscribe: None,
        },
    }
}

/// Returns the context of an alert email.
pub(crate) fn email_context() -> EmailContext {
    EmailContext {
        recipient_name: Some("Ann Lee".to_owned()),
        time_zone: TimeZone::get("America/New_York").unwrap(),
        unsubscribe_link: Some("https://alerts.example.com/unsubscribe?token=abc-_123".to_owned()),
        ..EmailContext::new("Bellwether", "https://alerts.example.com/")
    }
}
