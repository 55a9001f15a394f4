//! `/settings/account`: password, address, export, deactivation and deletion.

use askama::Template;
use jiff::Timestamp;

use super::SettingsTab;
use crate::filters;
use crate::form_state::FormState;
use crate::layout::Shell;

/// The account.
#[derive(Template, Debug)]
#[template(path = "settings/account.html")]
pub struct AccountPage {
    /// The frame.
    pub shell: Shell,
    /// The state of a refused form.
    pub form: FormState,
    /// The name of the plan.
    pub plan: &'static str,
    /// Whether the account has a password.
    pub has_password: bool,
    /// Since when the account is deactivated.
    pub deactivated_at: Option<Timestamp>,
}

impl AccountPage {
    const TAB: SettingsTab = SettingsTab::Account;
}
