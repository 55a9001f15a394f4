//! The names of the options in requests and responses.

/// The options, in the order of the documentation.
pub(super) const OPTION_NAMES: &[&str] = &[
    "repeat",
    "cooldown",
    "cooldown_refire",
    "rearm",
    "hold",
    "expires_at",
    "notify_on_expiry",
    "snoozed_until",
    "session",
    "trigger",
    "base",
    "max_firings",
];

/// The members of `rearm`, of which exactly one is given.
pub(super) const REARM_NAMES: &[&str] = &["at", "percent"];

/// Returns the names as text: `once, each_time or once_per_day`.
pub(super) fn in_words(names: &[&str]) -> String {
    match names {
        [names @ .., last] if !names.is_empty() => format!("{} or {last}", names.join(", ")),
        _ => names.concat(),
    }
}
