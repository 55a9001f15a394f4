//! `GET|PUT /user/preferences`

use accounts::identity::requests::UpdatePreferencesRequest;

use crate::routes::prelude::*;

/// Daily quiet hours in the account's time zone. Messages wait until they end. If `start` is later than `end`, they span
/// midnight.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = QuietHours)]
pub struct QuietHoursView {
    /// First minute, `HH:MM`.
    #[schema(pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$", example = "22:00")]
    pub start: String,
    /// First minute after the quiet hours, `HH:MM`. Must differ from `start`.
    #[schema(pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$", example = "07:00")]
    pub end: String,
}

impl QuietHoursView {
    pub(in crate::routes) fn of(hours: accounts::identity::account::QuietHours) -> Self {
        let text = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
        Self {
            start: text(hours.from),
            end: text(hours.until),
        }
    }
}

/// Notification preferences of an account.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Preferences)]
pub struct PreferencesView {
    /// IANA time zone.
    #[schema(example = "America/New_York")]
    pub time_zone: String,
    /// Quiet hours; null for none.
    #[schema(required)]
    pub quiet_hours: Option<QuietHoursView>,
    /// End of an absence, during which messages about alerts are kept; null without one.
    #[schema(required, format = DateTime, example = "2026-08-15T08:00:00.000Z")]
    pub away_until: Option<String>,
    /// Whether to send an email when alerts cannot be evaluated because quotes are outdated, and another when they can again.
    pub notify_blind: bool,
}

impl PreferencesView {
    fn of(preferences: accounts::identity::account::Preferences) -> Self {
        Self {
            time_zone: preferences.time_zone,
            quiet_hours: preferences.quiet_hours.map(QuietHoursView::of),
            away_until: preferences.away_until.map(timestamp),
            notify_blind: preferences.notify_blind,
        }
    }
}

/// Get the preferences
#[utoipa::path(
    get,
    path = "/user/preferences",
    tag = "User",
    responses((status = 200, description = "The preferences", body = Envelope<PreferencesView>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn get_preferences(
    State(app): State<App>,
    caller: AuthenticatedSession,
) -> Result<ApiResponse<PreferencesView>, ApiError> {
    let preferences = app.service().account_settings.preferences(&caller.actor).await?;
    Ok(ApiResponse::ok(PreferencesView::of(preferences)))
}

/// Update the preferences
///
/// The time zone applies to quiet hours and to reminders created from now on.
#[utoipa::path(
    put,
    path = "/user/preferences",
    tag = "User",
    request_body(content = UpdatePreferencesRequest, description = "The preferences to change"),
    responses((status = 200, description = "The updated preferences", body = Envelope<PreferencesView>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn set_preferences(
    State(app): State<App>,
    caller: AuthenticatedSession,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<PreferencesView>, ApiError> {
    let preferences = app
        .service()
        .account_settings
        .set_preferences(&caller.actor, &body)
        .await?;
    Ok(ApiResponse::ok(PreferencesView::of(preferences)))
}
