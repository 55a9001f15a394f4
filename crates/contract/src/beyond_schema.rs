//! Refusals of request bodies that the document's schemas allow.
//!
//! A schema describes one body by itself. It cannot express rules that depend on the present day, the account, an alert's state
//! or DNS. Each row is one such rule; a refusal that no row covers is an error of the document.

use crate::Operation;

/// A reason for which some operations may refuse a body that its schema allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BeyondSchema {
    /// The `operationId` of each operation.
    pub operations: &'static [&'static str],
    /// The field that the refusal names; empty for a refusal that names none.
    pub field: &'static str,
    /// A part of the refusal's message.
    pub message: &'static str,
    /// The reason why the schema cannot express it.
    pub why: &'static str,
}

const fn row(
    operations: &'static [&'static str],
    field: &'static str,
    message: &'static str,
    why: &'static str,
) -> BeyondSchema {
    BeyondSchema {
        operations,
        field,
        message,
        why,
    }
}

/// The operations that take the configuration of a notification channel.
const CHANNEL_CHANGES: &[&str] = &["create_notification_channel", "update_notification_channel"];

/// The operations that take a route.
const ROUTE_CHANGES: &[&str] = &["create_alert", "update_alert", "patch_alert", "set_notification_route"];

/// The operations that take templates.
const TEMPLATE_CHANGES: &[&str] = &[
    "create_notification_channel",
    "update_notification_channel",
    "create_alert",
    "update_alert",
    "patch_alert",
];
const OF_CREDENTIALS: &str = "depends on the credentials";
const OF_TEMPLATES: &str = "depends on the language of templates";

/// All listed refusals.
pub const BEYOND_SCHEMA: &[BeyondSchema] = &[
    row(ROUTE_CHANGES, "channels", "must ", "depends on the account's channels"),
    row(CHANNEL_CHANGES, "burst_limit", "webhook", "depends on the type"),
    row(CHANNEL_CHANGES, "digest", "webhook", "depends on the type"),
    row(CHANNEL_CHANGES, "daily_budget", "webhook", "depends on the type"),
    row(ROUTE_CHANGES, "policy", "needs ", "depends on the other fields"),
    row(ROUTE_CHANGES, "ack_timeout", "needs ", "depends on the other fields"),
    row(
        &["create_alert"],
        "parameters.date",
        "past",
        "depends on the present instant",
    ),
    row(
        &["create_alert"],
        "parameters.reminder_date",
        "past",
        "depends on the present instant",
    ),
    row(
        &["create_alert"],
        "notification",
        "",
        "depends on the account's phone number",
    ),
    row(
        &["create_alert", "preview_alert", "update_alert", "patch_alert"],
        "parameters.when",
        "",
        "depends on the language of expressions and on the known stocks",
    ),
    row(
        &["create_alert", "preview_alert", "update_alert", "patch_alert"],
        "parameters.within",
        "must be omitted",
        "depends on the expression",
    ),
    row(
        &["create_alert", "preview_alert", "update_alert", "patch_alert"],
        "scope.symbols",
        "no stock has the symbol",
        "depends on the known stocks",
    ),
    row(
        &["preview_alert"],
        "from",
        "must not be after",
        "depends on the other field and on the present instant",
    ),
    row(
        &["parse_alert"],
        "text",
        "",
        "depends on the language of texts and on the known stocks",
    ),
    row(
        &["create_alert"],
        "scope",
        "must be omitted",
        "a reminder concerns no stock",
    ),
    row(
        &["create_alert", "update_alert", "patch_alert"],
        "scope.symbols",
        "must have at most",
        "repeated symbols do not count",
    ),
    row(
        &["update_alert", "patch_alert"],
        "scope",
        "cannot be",
        "depends on the alert",
    ),
    row(
        &["preview_alert"],
        "symbol",
        "is required",
        "a preview is that of one stock",
    ),
    row(
        &["create_alert", "update_alert", "patch_alert", "preview_alert"],
        "options.repeat",
        "must ",
        "depends on the condition of the alert",
    ),
    row(
        &["create_alert", "update_alert", "patch_alert", "preview_alert"],
        "options.cooldown",
        "must ",
        "depends on the condition of the alert",
    ),
    row(
        &["create_alert", "update_alert", "patch_alert", "preview_alert"],
        "options.cooldown_refire",
        "must ",
        "depends on the condition of the alert",
    ),
    row(
        &["create_alert", "update_alert", "patch_alert", "preview_alert"],
        "options.expires_at",
        "must ",
        "depends on the condition of the alert",
    ),
    row(
        &["create_alert", "update_alert", "patch_alert", "preview_alert"],
        "options.notify_on_expiry",
        "must ",
        "depends on the condition of the alert",
    ),
    row(
        &["create_alert", "update_alert", "patch_alert", "preview_alert"],
        "options.max_firings",
        "must ",
        "depends on the condition of the alert",
    ),
    row(
        &["create_alert", "update_alert", "patch_alert", "preview_alert"],
        "options.rearm",
        "must be",
        "depends on the condition of the alert",
    ),
    row(
        &["create_alert", "update_alert", "patch_alert", "preview_alert"],
        "options.rearm.at",
        "must be",
        "depends on the condition of the alert",
    ),
    row(
        &["create_alert", "update_alert", "patch_alert", "preview_alert"],
        "options.hold",
        "must be",
        "depends on the condition of the alert",
    ),
    row(
        &["create_alert", "update_alert", "patch_alert", "preview_alert"],
        "options.session",
        "must be",
        "depends on the condition and the trigger of the alert",
    ),
    row(
        &["create_alert", "update_alert", "patch_alert", "preview_alert"],
        "options.trigger",
        "must be",
        "depends on the condition of the alert",
    ),
    row(
        &["create_alert", "update_alert", "patch_alert", "preview_alert"],
        "options.base",
        "must be",
        "depends on the condition of the alert",
    ),
    row(&["create_alert"], "note", "needs an account", OF_CREDENTIALS),
    row(&["create_alert"], "managed_by", "needs an account", OF_CREDENTIALS),
    row(
        &["change_alerts"],
        "",
        "of the changes are refused",
        "each change is judged like a single request",
    ),
    row(&["change_alerts"], "source", "is required", "depends on another field"),
    row(
        &["change_alerts"],
        "create, update, delete",
        "at most",
        "depends on the lengths of three lists",
    ),
    row(&["create_alert"], "options", "needs an account", OF_CREDENTIALS),
    row(&["create_alert"], "tags", "needs an account", OF_CREDENTIALS),
    row(&["create_alert"], "templates", "needs an account", OF_CREDENTIALS),
    row(&["create_alert"], "urgent", "needs an account", OF_CREDENTIALS),
    row(
        &["update_alert", "patch_alert"],
        "threshold",
        " for ",
        "depends on the condition that the alert has",
    ),
    row(
        &["update_alert", "patch_alert"],
        "parameters.direction",
        " for ",
        "depends on the condition that the alert has",
    ),
    row(
        &[
            "verify_alert",
            "confirm_address",
            "login_by_link",
            "confirm_password_reset",
            "confirm_email",
        ],
        "",
        "",
        "depends on the tokens that were mailed",
    ),
    row(&["verify_phone"], "", "", "depends on the code that was sent"),
    row(&["verify_phone"], "token", "", "depends on the code that was sent"),
    row(
        &["create_webhook", "update_webhook", "test_webhook"],
        "url",
        "",
        "depends on name servers and on the operator's rules",
    ),
    row(
        &["recover_webhook_deliveries"],
        "since",
        "",
        "depends on the present instant",
    ),
    row(
        &["recover_webhook_deliveries"],
        "",
        "",
        "depends on whether the webhook is active",
    ),
    row(&["swap_watchlist_item"], "stock_symbol", "", "depends on the item"),
    row(&["change_email"], "email", "already", "depends on the account"),
    row(
        &["set_preferences"],
        "quiet_hours",
        "not equal",
        "compares two fields with each other",
    ),
    row(
        &["decide_approval"],
        "decision",
        "is required with an id",
        "either of two fields has to be there",
    ),
    row(
        &["decide_approval"],
        "id",
        "is required with a decision",
        "one field needs another",
    ),
    row(
        &["create_api_key"],
        "scopes",
        "require an operator account",
        "depends on the account",
    ),
    row(&["call_mcp"], "", "", "depends on the headers of the request"),
    row(
        CHANNEL_CHANGES,
        "config.address",
        "",
        "depends on the type of the channel",
    ),
    row(
        CHANNEL_CHANGES,
        "config.webhook_id",
        "",
        "depends on the type of the channel and on the account's webhooks",
    ),
    row(
        CHANNEL_CHANGES,
        "config.url",
        "",
        "depends on the type of the channel and on DNS",
    ),
    row(
        CHANNEL_CHANGES,
        "config.topic",
        "",
        "depends on the type of the channel",
    ),
    row(CHANNEL_CHANGES, "config.user", "", "depends on the type of the channel"),
    row(CHANNEL_CHANGES, "config.endpoint", "", "depends on type and DNS"),
    row(CHANNEL_CHANGES, "config.p256dh", "", "must be a point on the curve"),
    row(CHANNEL_CHANGES, "config.auth", "", "depends on the type of the channel"),
    row(
        CHANNEL_CHANGES,
        "config.token",
        "",
        "depends on the type of the channel and on the operator's settings",
    ),
    row(
        CHANNEL_CHANGES,
        "config.bot_token",
        "",
        "depends on the type of the channel and on the operator's settings",
    ),
    row(TEMPLATE_CHANGES, "templates.title", "", OF_TEMPLATES),
    row(TEMPLATE_CHANGES, "templates.text", "", OF_TEMPLATES),
    row(TEMPLATE_CHANGES, "templates.payload", "", OF_TEMPLATES),
    row(&["preview_template"], "template", "", OF_TEMPLATES),
    row(
        TEMPLATE_CHANGES,
        "templates",
        "in total",
        "depends on the stored templates",
    ),
    row(
        &["register_client"],
        "",
        "",
        "a redirect target is judged by the rules of URLs",
    ),
    row(&["record_alert_history"], "symbol", "", "depends on the alert"),
    row(
        &["update_session", "update_user_session", "set_preferences"],
        "time_zone",
        "",
        "depends on the time zone database",
    ),
    row(&["change_password"], "current_password", "", "depends on the account"),
    row(&["change_password"], "", "", "depends on the account"),
];

/// Fields that an operation may accept although their schema forbids them.
const ACCEPTED_BEYOND_SCHEMA: &[(&str, &str)] = &[
    // `webhooks.allow_private_cidrs` opens `http` to the operator's own ranges.
    ("create_webhook", "/url: "),
    ("update_webhook", "/url: "),
    ("test_webhook", "/url: "),
    // Blanks around an address are removed.
    ("register", "/email: "),
];

/// Whether a field may be taken beyond its schema.
pub(crate) fn is_accepted_beyond_schema(operation: &Operation, error: &str) -> bool {
    ACCEPTED_BEYOND_SCHEMA
        .iter()
        .any(|(id, field)| *id == operation.id && error.starts_with(field))
}

/// Whether a refusal has a listed reason.
pub(crate) fn is_listed(operation: &Operation, fields: &[&str], message: &str) -> bool {
    let is_listed = |field: &str| {
        BEYOND_SCHEMA.iter().any(|row| {
            // `scope.symbols.1` is an item of a list.
            let item = field.strip_prefix(row.field).and_then(|rest| rest.strip_prefix('.'));
            let is_item = item.is_some_and(|place| place.parse::<usize>().is_ok());
            row.operations.contains(&operation.id.as_str())
                && (row.field == field || is_item)
                && message.contains(row.message)
        })
    };
    if fields.is_empty() {
        is_listed("")
    } else {
        fields.iter().all(|field| is_listed(field))
    }
}
