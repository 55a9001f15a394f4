//! `/settings/channels`: where messages go.

use askama::Template;
use jiff::Timestamp;

use super::SettingsTab;
use crate::filters;
use crate::form_state::FormState;
use crate::layout::Shell;

/// The email address and the phone number.
#[derive(Template, Debug)]
#[template(path = "settings/channels.html")]
pub struct ChannelsPage {
    /// The frame.
    pub shell: Shell,
    /// The state of a refused form.
    pub form: FormState,
    /// The verified phone number, and when it was verified.
    pub phone: Option<(String, Timestamp)>,
    /// The number to which a code has been sent.
    pub awaited_phone: Option<String>,
}

impl ChannelsPage {
    const TAB: SettingsTab = SettingsTab::Channels;
}
