//! `/settings`: name, time zone, quiet hours and notices.

use askama::Template;

use super::SettingsTab;
use crate::filters;
use crate::form_state::FormState;
use crate::layout::Shell;

/// The profile and the preferences.
#[derive(Template, Debug)]
#[template(path = "settings/profile.html")]
pub struct ProfilePage {
    /// The frame.
    pub shell: Shell,
    /// The state of a refused form.
    pub form: FormState,
    /// The owner's full name.
    pub full_name: String,
    /// The IANA name of the time zone.
    pub time_zone: String,
    /// The first and the last minute of the quiet hours, `HH:MM`; empty without quiet hours.
    pub quiet: (String, String),
    /// Whether the owner is told about alerts that cannot be evaluated.
    pub notify_blind: bool,
}

impl ProfilePage {
    const TAB: SettingsTab = SettingsTab::Profile;
}
