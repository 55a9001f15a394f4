//! `/settings/agents`: what agents and apps may do in the account.

use accounts::oauth::Grant;
use askama::Template;
use jiff::Timestamp;

use super::SettingsTab;
use crate::filters;
use crate::layout::Shell;

/// The grant of an app.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GrantLine {
    /// The id.
    pub id: String,
    /// The app's name.
    pub name: String,
    /// The scopes.
    pub scopes: String,
    /// When it was given.
    pub created_at: Timestamp,
    /// When it was last used.
    pub last_used_at: Option<Timestamp>,
}

impl GrantLine {
    /// Formats a grant.
    #[must_use]
    pub fn of(grant: &Grant) -> Self {
        Self {
            id: grant.id.0.to_string(),
            name: grant.client_name.clone(),
            scopes: grant.scopes.join(", "),
            created_at: grant.created_at,
            last_used_at: grant.last_used_at,
        }
    }
}

/// The grants of apps, and whether changes by agents wait for the owner.
#[derive(Template, Debug)]
#[template(path = "settings/agents.html")]
pub struct AgentsPage {
    /// The frame.
    pub shell: Shell,
    /// The grants, oldest first.
    pub grants: Vec<GrantLine>,
    /// Whether changes by agents wait for the owner's approval.
    pub agents_wait: bool,
    /// The URL of the MCP endpoint.
    pub mcp_url: String,
}

impl AgentsPage {
    const TAB: SettingsTab = SettingsTab::Agents;
}
