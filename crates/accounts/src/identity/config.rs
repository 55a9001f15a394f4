//! Configuration of registration and sign-in.

/// Configuration of registration and sign-in.
#[derive(Clone, Debug, Default)]
pub struct IdentityConfig {
    /// Whether sign-in by password requires a confirmed address.
    pub require_email_confirmation: bool,
    /// Whether only the operator creates accounts.
    pub is_registration_closed: bool,
}
