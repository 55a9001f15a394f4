//! The operations of the API that the client uses.

/// An operation of the API. A test compares it with the OpenAPI document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ApiOperation {
    /// The HTTP method.
    pub method: &'static str,
    /// The path below `/api/v1`, with `{id}` for an id.
    pub path: &'static str,
    /// The names of the query parameters.
    pub query: &'static [&'static str],
    /// The names of the fields of the request that the client writes itself.
    pub fields: &'static [&'static str],
}

const fn operation(
    method: &'static str,
    path: &'static str,
    query: &'static [&'static str],
    fields: &'static [&'static str],
) -> ApiOperation {
    ApiOperation {
        method,
        path,
        query,
        fields,
    }
}

pub(crate) const LIST_ALERTS: ApiOperation = operation(
    "GET",
    "/alerts",
    &["limit", "after", "source", "status", "symbol", "tags", "search"],
    &[],
);
pub(crate) const CREATE_ALERT: ApiOperation = operation("POST", "/alerts", &[], &[]);
pub(crate) const GET_ALERT: ApiOperation = operation("GET", "/alerts/{id}", &[], &[]);
pub(crate) const DELETE_ALERT: ApiOperation = operation("DELETE", "/alerts/{id}", &[], &[]);
pub(crate) const PAUSE_ALERT: ApiOperation = operation("POST", "/alerts/{id}/pause", &[], &[]);
pub(crate) const ACTIVATE_ALERT: ApiOperation = operation("POST", "/alerts/{id}/activate", &[], &[]);
pub(crate) const EXPLAIN_ALERT: ApiOperation = operation("GET", "/alerts/{id}/explain", &["at"], &[]);
pub(crate) const CHANGE_ALERTS: ApiOperation = operation(
    "POST",
    "/alerts/batch",
    &[],
    &[
        "create",
        "update",
        "delete",
        "dry_run",
        "source",
        "expected_source_revision",
    ],
);
pub(crate) const PARSE_ALERT: ApiOperation = operation("POST", "/alerts/parse", &[], &["text"]);
pub(crate) const PREVIEW_ALERT: ApiOperation = operation("POST", "/alerts/preview", &[], &["alert", "from", "to"]);
pub(crate) const LIST_FIRINGS: ApiOperation =
    operation("GET", "/firings", &["limit", "after", "since", "alert_id"], &[]);
pub(crate) const STREAM_FIRINGS: ApiOperation = operation("GET", "/firings/stream", &["after"], &[]);
pub(crate) const LIST_NOTIFICATION_CHANNELS: ApiOperation = operation("GET", "/notification-channels", &[], &[]);

/// All operations that the client uses.
pub const OPERATIONS: &[ApiOperation] = &[
    LIST_ALERTS,
    CREATE_ALERT,
    GET_ALERT,
    DELETE_ALERT,
    PAUSE_ALERT,
    ACTIVATE_ALERT,
    EXPLAIN_ALERT,
    CHANGE_ALERTS,
    PARSE_ALERT,
    PREVIEW_ALERT,
    LIST_FIRINGS,
    STREAM_FIRINGS,
    LIST_NOTIFICATION_CHANNELS,
];
