//! `GET|PUT /user/preferences`

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::WithSession;
use crate::body::JsonObject;
use crate::error::ApiError;

/// A time of each day when nothing is sent: it waits until the end. By the clocks of the account's time zone; what begins
/// later than it ends goes over midnight.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct QuietHours {
    /// The first minute, `HH:MM`.
    #[schema(pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$", example = "22:00")]
    pub start: String,
    /// The first minute after it, another one.
    #[schema(pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$", example = "07:00")]
    pub end: String,
}

impl QuietHours {
    pub(super) fn of(hours: service::identity::account::QuietHours) -> Self {
        let text = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
        Self {
            start: text(hours.from),
            end: text(hours.until),
        }
    }
}

/// When and by which clock an account's owner wants to hear from this service.
#[derive(Debug, Serialize, ToSchema)]
pub struct Preferences {
    /// The IANA name of the zone their clocks show.
    #[schema(example = "America/New_York")]
    pub time_zone: String,
    /// When they do not want to be disturbed; null for never.
    #[schema(required)]
    pub quiet_hours: Option<QuietHours>,
    /// Whether they want a mail when alerts cannot be judged for want of fresh quotes, and another when they can again.
    pub notify_blind: bool,
}

impl Preferences {
    fn of(preferences: service::identity::account::Preferences) -> Self {
        Self {
            time_zone: preferences.time_zone,
            quiet_hours: preferences.quiet_hours.map(QuietHours::of),
            notify_blind: preferences.notify_blind,
        }
    }
}

/// What is preferred; what is left out stays.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct SetPreferences {
    /// The IANA name of the zone their clocks show.
    #[schema(example = "Europe/Berlin")]
    time_zone: Option<String>,
    /// When they do not want to be disturbed; null for never.
    quiet_hours: Option<QuietHours>,
    /// Whether they want a mail when alerts cannot be judged for want of fresh quotes, and another when they can again.
    notify_blind: Option<bool>,
}

/// Read the preferences
#[utoipa::path(
    get,
    path = "/user/preferences",
    tag = "User",
    responses((status = 200, description = "The preferences", body = Envelope<Preferences>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn get_preferences(State(app): State<App>, who: WithSession) -> Result<Reply<Preferences>, ApiError> {
    let preferences = app.service().account_settings.preferences(&who.actor).await?;
    Ok(Reply::ok(Preferences::of(preferences)))
}

/// Change the preferences
///
/// The time zone also says when reminders fire that are made from now on, and when quiet hours are.
#[utoipa::path(
    put,
    path = "/user/preferences",
    tag = "User",
    request_body(content = SetPreferences, description = "What is preferred"),
    responses((status = 200, description = "The preferences as they are now", body = Envelope<Preferences>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn set_preferences(
    State(app): State<App>,
    who: WithSession,
    JsonObject(body): JsonObject,
) -> Result<Reply<Preferences>, ApiError> {
    let preferences = app
        .service()
        .account_settings
        .set_preferences(&who.actor, &body)
        .await?;
    Ok(Reply::ok(Preferences::of(preferences)))
}
