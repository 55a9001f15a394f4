//! What a program may ask for.

use super::{ErrorCode, OAuthError};
use crate::Scope;

/// What can be allowed to programs that come by MCP.
pub const SCOPES: &[Scope] = &[
    Scope::AlertsRead,
    Scope::AlertsWrite,
    Scope::WatchlistRead,
    Scope::WatchlistWrite,
];

/// Asked for by programs that want refresh tokens, which they get anyway.
const OFFLINE: &str = "offline_access";

/// What a program asks for: all there is unless it names something. What is not known is not there to be had, so it is left
/// out, as long as anything is left.
pub(super) fn asked(text: Option<&str>) -> Result<Vec<Scope>, OAuthError> {
    let mut names = names(text).peekable();
    if names.peek().is_none() {
        return Ok(SCOPES.to_vec());
    }
    let names: Vec<&str> = names.collect();
    let known = SCOPES.iter().copied().filter(|scope| names.contains(&scope.name()));
    let known: Vec<Scope> = known.collect();
    if known.is_empty() {
        return Err(unknown());
    }
    Ok(known)
}

/// What a program asks for of what it was allowed: all of it unless it names something. Never more.
pub(super) fn narrowed(text: Option<&str>, allowed: &[Scope]) -> Result<Vec<Scope>, OAuthError> {
    let names: Vec<&str> = names(text).collect();
    if names.is_empty() {
        return Ok(allowed.to_vec());
    }
    let is_allowed = |name: &&str| allowed.iter().any(|scope| scope.name() == *name);
    if !names.iter().all(is_allowed) {
        let description = "this is more than was allowed; ask for less, or send the person here again";
        return Err(OAuthError::new(ErrorCode::InvalidScope, description));
    }
    let asked = allowed.iter().copied().filter(|scope| names.contains(&scope.name()));
    Ok(asked.collect())
}

/// Scopes by their names as they are kept. What is not known any more is not there to be had any more.
pub(super) fn known(names: &[String]) -> Vec<Scope> {
    let is_named = |scope: &Scope| names.iter().any(|name| name == scope.name());
    SCOPES.iter().copied().filter(is_named).collect()
}

/// Their names, to be kept.
pub(super) fn names_of(scopes: &[Scope]) -> Vec<String> {
    scopes.iter().map(|scope| scope.name().to_owned()).collect()
}

fn names(text: Option<&str>) -> impl Iterator<Item = &str> {
    let words = text.unwrap_or_default().split(' ');
    words.filter(|word| !word.is_empty() && *word != OFFLINE)
}

fn unknown() -> OAuthError {
    let names: Vec<_> = SCOPES.iter().map(|scope| scope.name()).collect();
    let description = format!("there is none of these scopes; ask for some of {}", names.join(", "));
    OAuthError::new(ErrorCode::InvalidScope, description)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(scopes: &[Scope]) -> Vec<&'static str> {
        scopes.iter().map(|scope| scope.name()).collect()
    }

    #[test]
    fn whoever_names_nothing_asks_for_all_and_what_is_not_known_is_left_out() {
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
            assert_eq!(names(&asked(text).unwrap()), expected, "{text:?}");
        }
        for text in [
            "openid",
            "ALERTS:READ",
            "stocks:read webhooks:write market:write",
            "alerts:read,alerts:write",
        ] {
            assert!(asked(Some(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn what_was_allowed_can_be_narrowed_and_never_widened() {
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
