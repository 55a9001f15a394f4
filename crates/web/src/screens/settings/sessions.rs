//! `/settings/sessions`: where the account is signed in.

use accounts::identity::{Browser, OperatingSystem, SessionClient, UserSession};
use askama::Template;
use jiff::Timestamp;

use super::SettingsTab;
use crate::filters;
use crate::layout::Shell;
use crate::texts;

/// A session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionLine {
    /// The id.
    pub id: String,
    /// The browser and its operating system, in words.
    pub client: String,
    /// The address from which it was last used.
    pub address: Option<String>,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was last used, to the hour.
    pub last_seen_at: Timestamp,
    /// Whether it is that of the page.
    pub is_own: bool,
}

impl SessionLine {
    /// Formats a session. `own` is the client of the page, if the session is that of the page.
    #[must_use]
    pub fn of(session: &UserSession, own: Option<SessionClient>) -> Self {
        let client = own.or(session.client);
        Self {
            id: session.id.0.to_string(),
            client: client.map_or_else(|| texts::text("session-program"), client_text),
            address: client.map(|client| client.address.to_string()),
            created_at: session.created_at,
            last_seen_at: session.last_seen_at,
            is_own: own.is_some(),
        }
    }
}

/// Returns the browser and its operating system, in words.
#[must_use]
pub fn client_text(client: SessionClient) -> String {
    let (browser, system) = (client.browser.name(), client.system.name());
    match (client.browser, client.system) {
        (Browser::Other, OperatingSystem::Other) => texts::text("session-unknown"),
        (Browser::Other, _) => system.to_owned(),
        (_, OperatingSystem::Other) => browser.to_owned(),
        _ => texts::text_with(
            "session-client",
            [("browser", browser.into()), ("system", system.into())],
        ),
    }
}

/// The sessions of an account.
#[derive(Template, Debug)]
#[template(path = "settings/sessions.html")]
pub struct SessionsPage {
    /// The frame.
    pub shell: Shell,
    /// The sessions, the last used first.
    pub sessions: Vec<SessionLine>,
}

impl SessionsPage {
    const TAB: SettingsTab = SettingsTab::Sessions;
}
