//! Error messages for agents. They name tools instead of REST routes.

use foundation::ServiceError;

use super::{Tool, ToolError};

/// Converts an error of the service to the error of a tool call.
pub(super) fn for_agent(tool: Tool, error: ServiceError) -> ToolError {
    let hint = hint(tool, &error);
    let with_hint = |text: String| {
        let text = without_route(&text);
        hint.map_or_else(|| text.clone(), |hint| format!("{text}; {hint}"))
    };
    match ToolError::from(error) {
        ToolError::Refused(text) => ToolError::Refused(with_hint(text)),
        ToolError::NotFound(text) => ToolError::NotFound(with_hint(text)),
        ToolError::Internal => ToolError::Internal,
    }
}

/// Returns a hint at the tool that resolves an error.
fn hint(tool: Tool, error: &ServiceError) -> Option<&'static str> {
    match (tool, error) {
        (_, ServiceError::NotFound("alert")) => Some("list_alerts shows the ids"),
        (_, ServiceError::NotFound("watchlist item")) => Some("list_watchlist shows the ids"),
        (Tool::CreateWatchlistItem, ServiceError::UnknownStock { .. }) => {
            Some("for a stock that is not listed anywhere yet, give stock_name")
        }
        (Tool::CreateWatchlistItem, ServiceError::Conflict(_)) => {
            Some("list_watchlist shows the item; delete_watchlist_item and create_watchlist_item change its intention")
        }
        (Tool::CreateAlert | Tool::UpdateAlert, ServiceError::Invalid { fields, .. })
            if fields.contains_key("channels") =>
        {
            Some("ask the user for the ids")
        }
        (Tool::PauseAlert, ServiceError::Invalid { .. }) => Some("resume_alert activates it"),
        (Tool::UpdateAlert, ServiceError::Conflict(_)) => Some("list_alerts shows the other alert"),
        (
            _,
            ServiceError::Forbidden {
                reason: "phone" | "deactivated",
                ..
            },
        ) => Some("only the account's owner can do that, in the account's settings"),
        _ => None,
    }
}

/// Removes REST routes in parentheses, such as "(POST /user/account/phone)".
fn without_route(text: &str) -> String {
    const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];
    let mut rest = text;
    let mut kept = String::new();
    while let Some((before, after)) = rest.split_once(" (") {
        let is_route = METHODS
            .iter()
            .any(|method| after.strip_prefix(method).is_some_and(|after| after.starts_with(" /")));
        match after.split_once(')').filter(|_| is_route) {
            Some((_, after)) => {
                kept.push_str(before);
                rest = after;
            }
            None => {
                kept.push_str(before);
                kept.push_str(" (");
                rest = after;
            }
        }
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(tool: Tool, error: ServiceError) -> String {
        match for_agent(tool, error) {
            ToolError::Refused(text) | ToolError::NotFound(text) => text,
            ToolError::Internal => panic!("internal"),
        }
    }

    #[test]
    fn removes_routes_and_keeps_other_parentheses() {
        for (written, shown) in [
            (
                "verify one (POST /user/account/phone), or use email",
                "verify one, or use email",
            ),
            ("turn it (PUT /watchlist/order)", "turn it"),
            ("did you mean AAPL (Apple Inc.)?", "did you mean AAPL (Apple Inc.)?"),
            ("a (b) c (GET /x) d", "a (b) c d"),
            ("open (", "open ("),
            ("", ""),
        ] {
            assert_eq!(without_route(written), shown);
        }
    }

    #[test]
    fn missing_alert_error_names_list_alerts() {
        let text = text(Tool::GetAlert, ServiceError::NotFound("alert"));
        assert!(text.contains("no such alert") && text.contains("list_alerts"), "{text}");
    }

    #[test]
    fn watched_stock_error_names_the_watchlist_tools() {
        let conflict = ServiceError::Conflict("AAPL is on the watchlist already (PUT /watchlist/order)".to_owned());
        let text = text(Tool::CreateWatchlistItem, conflict);
        assert!(text.contains("already") && text.contains("list_watchlist"), "{text}");
        assert!(!text.contains("PUT"), "{text}");
    }
}
