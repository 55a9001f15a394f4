//! Scopes of OAuth clients.

use super::{OAuthError, OAuthErrorCode};
use foundation::Scope;

/// Scopes available to MCP clients.
pub const MCP_SCOPES: &[Scope] = &[
    Scope::AlertsRead,
    Scope::AlertsWrite,
    Scope::WatchlistRead,
    Scope::WatchlistWrite,
];

/// Requested by clients that want refresh tokens. Every client gets them.
const OFFLINE_ACCESS: &str = "offline_access";

/// Returns the requested scopes, by default all. Unknown scopes are ignored if at least one is known.
pub(super) fn requested(text: Option<&str>) -> Result<Vec<Scope>, OAuthError> {
    let mut names = names(text).peekable();
    if names.peek().is_none() {
        return Ok(MCP_SCOPES.to_vec());
    }
    let names: Vec<&str> = names.collect();
    let known = MCP_SCOPES.iter().copied().filter(|scope| names.contains(&scope.name()));
    let known: Vec<Scope> = known.collect();
    if known.is_empty() {
        return Err(no_known_scope());
    }
    Ok(known)
}

/// Returns the requested part of the granted scopes, by default all. Never adds a scope.
pub(super) fn narrowed(text: Option<&str>, allowed: &[Scope]) -> Result<Vec<Scope>, OAuthError> {
    let names: Vec<&str> = names(text).collect();
    if names.is_empty() {
        return Ok(allowed.to_vec());
    }
    let is_allowed = |name: &&str| allowed.iter().any(|scope| scope.name() == *name);
    if !names.iter().all(is_allowed) {
        let description = "the scope exceeds the grant; request less, or send the user here again";
        return Err(OAuthError::new(OAuthErrorCode::InvalidScope, description));
    }
    let narrowed = allowed.iter().copied().filter(|scope| names.contains(&scope.name()));
    Ok(narrowed.collect())
}

/// Returns the scopes with these stored names. Unknown names are ignored.
pub(super) fn known(names: &[String]) -> Vec<Scope> {
    let is_named = |scope: &Scope| names.iter().any(|name| name == scope.name());
    MCP_SCOPES.iter().copied().filter(is_named).collect()
}

/// Returns the names to store.
pub(super) fn names_of(scopes: &[Scope]) -> Vec<String> {
    scopes.iter().map(|scope| scope.name().to_owned()).collect()
}

fn names(text: Option<&str>) -> impl Iterator<Item = &str> {
    let words = text.unwrap_or_default().split(' ');
    words.filter(|word| !word.is_empty() && *word != OFFLINE_ACCESS)
}

fn no_known_scope() -> OAuthError {
    let names: Vec<_> = MCP_SCOPES.iter().map(|scope| scope.name()).collect();
    let description = format!("none of these scopes exists; request some of {}", names.join(", "));
    OAuthError::new(OAuthErrorCode::InvalidScope, description)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(scopes: &[Scope]) -> Vec<&'static str> {
        scopes.iter().map(|scope| scope.name()).collect()
    }

    #[test]
    fn default_is_all_scopes_and_unknown_scopes_are_ignored() {
        for (text, expected) in [
            (
                None,
                &["alerts:read", "alerts:write", "watchlist:read", "watchlist:write"][..],
            ),
            (
                Some("offline_access"),
                &["alerts:read", "alerts:write", "watchlist:read", "watchlist:write"],
            ),
            (Some("alerts:read"), &["alerts:read"]),
            (
                Some("watchlist:read  alerts:read alerts:read"),
                &["alerts:read", "watchlist:read"],
            ),
            (Some("alerts:write openid offline_access moon:read"), &["alerts:write"]),
        ] {
            assert_eq!(names(&requested(text).unwrap()), expected, "{text:?}");
        }
        for text in [
            "openid",
            "ALERTS:READ",
            "stocks:read webhooks:write market:write",
            "alerts:read,alerts:write",
        ] {
            assert!(requested(Some(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn scopes_can_be_narrowed_but_not_widened() {
        let allowed = [Scope::AlertsRead, Scope::AlertsWrite];
        let narrowed = |text| narrowed(text, &allowed).map(|scopes| names(&scopes));
        assert_eq!(narrowed(None).unwrap(), ["alerts:read", "alerts:write"]);
        assert_eq!(
            narrowed(Some("offline_access")).unwrap(),
            ["alerts:read", "alerts:write"]
        );
        assert_eq!(narrowed(Some("alerts:write")).unwrap(), ["alerts:write"]);
        for text in ["watchlist:read", "alerts:read watchlist:read", "alerts:read moon:read"] {
            assert!(narrowed(Some(text)).is_err(), "{text}");
        }
    }
}
