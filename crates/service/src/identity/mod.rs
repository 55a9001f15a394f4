//! Identity: how people get an account, show that it is theirs, and look after it.

/// What can be set about it.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Whether an account can do nothing before its address is confirmed.
    pub require_email_confirmation: bool,
}
