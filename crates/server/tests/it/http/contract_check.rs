//! Comparison of requests and responses with the OpenAPI document.

use std::sync::LazyLock;

use contract::{Contract, DocumentCache};

/// Returns whether a path belongs to the dashboard.
pub(crate) fn is_dashboard(path: &str) -> bool {
    const SECTIONS: [&str; 21] = [
        "",
        "alerts",
        "alerts.csv",
        "app",
        "appearance",
        "approvals",
        "assets",
        "deliveries",
        "demo",
        "fired",
        "first-account",
        "go",
        "offline",
        "operator",
        "register",
        "settings",
        "sign-in",
        "sign-out",
        "stocks",
        "sw.js",
        "watchlist",
    ];
    let path = path.split('?').next().unwrap_or_default();
    let section = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    SECTIONS.contains(&section)
}

/// Asserts that an exchange conforms to the OpenAPI document.
#[track_caller]
pub(crate) fn check_contract(exchange: &contract::Exchange<'_>) {
    static CONTRACT: LazyLock<Contract> = LazyLock::new(|| {
        let document = DocumentCache::of_this_program(server::document::generate);
        Contract::new(document).unwrap()
    });
    if let Err(violation) = CONTRACT.check(exchange) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().take(2_000).collect::<String>();
        panic!(
            "{violation}\n{} {} {}\n{} {}",
            exchange.method,
            exchange.path,
            text(exchange.request_body),
            exchange.status,
            text(exchange.response_body),
        );
    }
}
