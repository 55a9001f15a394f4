//! The keys of an alert, of `defaults`, `notify` and `expect`.

use crate::error::ErrorCollector;
use crate::suggestion::did_you_mean;
use crate::syntax::{Node, NodeKind};

/// The keys of an alert.
pub(crate) const ALERT_KEYS: &[&str] = &[
    "name",
    "symbol",
    "scope",
    "condition",
    "threshold",
    "parameters",
    "when",
    "options",
    "notify",
    "note",
    "tags",
    "expect",
];

/// The keys that `defaults` may have.
pub(crate) const DEFAULT_KEYS: &[&str] = &["symbol", "scope", "options", "notify", "note", "tags"];

/// The keys of `notify`.
pub(crate) const NOTIFY_KEYS: &[&str] = &["by", "channels", "policy", "ack_timeout", "urgent"];

/// The keys of `expect`.
pub(crate) const EXPECT_KEYS: &[&str] = &["fires_on", "silent_on", "at_most_per_year", "at_least_per_year"];

/// Checks that a map has only known keys. Reports all others.
pub(super) fn check(node: &Node, known: &[&str], errors: &mut ErrorCollector<'_>) {
    for (key, _) in node.members().into_iter().flatten() {
        if !known.contains(&key.name.as_str()) {
            let hint = did_you_mean(&key.name, known);
            errors.add(key.position, format!("unknown key `{}`; {hint}", key.name));
        }
    }
}

/// Checks the keys of `defaults`.
pub(super) fn check_defaults(defaults: &Node, errors: &mut ErrorCollector<'_>) {
    match &defaults.kind {
        NodeKind::Null => {}
        NodeKind::Map(_) => {
            check(defaults, DEFAULT_KEYS, errors);
            if let Some(notify) = defaults.get("notify") {
                check(notify, NOTIFY_KEYS, errors);
            }
        }
        _ => errors.add(
            defaults.position,
            format!("`defaults` must be a map, not {}", defaults.kind_name()),
        ),
    }
}
