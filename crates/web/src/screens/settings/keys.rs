//! `/settings/keys`: API keys.

use accounts::access::ApiKey;
use askama::Template;
use jiff::Timestamp;

use super::SettingsTab;
use crate::filters;
use crate::form_state::FormState;
use crate::layout::Shell;

/// An API key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyLine {
    /// The id.
    pub id: String,
    /// The name.
    pub name: String,
    /// The first characters.
    pub prefix: String,
    /// The scopes.
    pub scopes: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last used.
    pub last_used_at: Option<Timestamp>,
}

impl KeyLine {
    /// Formats a key.
    #[must_use]
    pub fn of(key: &ApiKey) -> Self {
        Self {
            id: key.id.0.to_string(),
            name: key.name.clone(),
            prefix: key.prefix.clone(),
            scopes: key.scopes.join(", "),
            created_at: key.created_at,
            last_used_at: key.last_used_at,
        }
    }
}

/// A key that has just been created. Its secret is shown only once.
#[derive(Clone, PartialEq, Eq)]
pub struct NewKey {
    /// The name.
    pub name: String,
    /// The secret.
    pub secret: String,
}

impl std::fmt::Debug for NewKey {
    /// Formats the name without the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewKey")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// The API keys.
#[derive(Template, Debug)]
#[template(path = "settings/keys.html")]
pub struct KeysPage {
    /// The frame.
    pub shell: Shell,
    /// The state of a refused form.
    pub form: FormState,
    /// The keys, oldest first.
    pub keys: Vec<KeyLine>,
    /// The key that has just been created.
    pub new: Option<NewKey>,
    /// The scopes that a key can have, with whether they are selected at first.
    pub scopes: Vec<(&'static str, bool)>,
}

impl KeysPage {
    const TAB: SettingsTab = SettingsTab::Keys;
}
