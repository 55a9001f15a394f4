//! Notification preferences: time zone, quiet hours and notices.

use foundation::account::lock_account;
use jiff::Timestamp;
use jiff::civil::Time;
use serde_json::Value;
use store::model::{Account, QuietHours};

use crate::identity::account::AccountSettings;
use crate::identity::requests::UpdatePreferencesRequest;
use foundation::account::load_account;
use foundation::request::Request;
use foundation::{Actor, ServiceError};

/// Preferences of an account's owner.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Preferences {
    /// IANA name of the time zone.
    pub time_zone: String,
    /// Quiet hours in that time zone.
    pub quiet_hours: Option<QuietHours>,
    /// End of the owner's absence, during which messages about alerts are kept.
    pub away_until: Option<Timestamp>,
    /// Whether to send a notice when alerts cannot be evaluated for lack of fresh quotes.
    pub notify_blind: bool,
}

impl Preferences {
    fn of(account: Account) -> Self {
        Self {
            time_zone: account.time_zone,
            quiet_hours: account.profile.quiet_hours,
            away_until: account.profile.away_until,
            notify_blind: account.profile.notify_blind,
        }
    }
}

impl AccountSettings {
    /// Returns the actor's preferences.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if the account no longer exists.
    pub async fn preferences(&self, actor: &Actor) -> Result<Preferences, ServiceError> {
        Ok(Preferences::of(load_account(&self.ports.store, actor).await?))
    }

    /// Updates the actor's preferences: `{time_zone?, quiet_hours?: {start, end} | null, away_until? | null,
    /// notify_blind?}`. Absent fields stay unchanged.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for an invalid time zone or quiet hours.
    pub async fn set_preferences(&self, actor: &Actor, body: &Value) -> Result<Preferences, ServiceError> {
        let request = UpdatePreferencesRequest::read(body)?;
        let inputs = (
            actor.account,
            request.time_zone.map(|zone| zone.0),
            request.quiet_hours.0.map(|hours| hours.map(|hours| hours.0)),
            request.away_until.0,
            request.notify_blind,
            self.ports.clock.now(),
        );
        let transaction = self.ports.transaction(
            inputs,
            |&(account, ref time_zone, quiet_hours, away_until, notify_blind, now), unit| {
                Box::pin(async move {
                    let mut account = lock_account(unit, account).await?;
                    let before = account.clone();
                    if let Some(time_zone) = time_zone {
                        account.time_zone.clone_from(time_zone);
                    }
                    if let Some(quiet_hours) = quiet_hours {
                        account.profile.quiet_hours = quiet_hours;
                    }
                    if let Some(away_until) = away_until {
                        account.profile.away_until = away_until;
                    }
                    if account != before {
                        unit.release_quiet_messages(account.id, now).await?;
                    }
                    if let Some(notify_blind) = notify_blind {
                        account.profile.notify_blind = notify_blind;
                    }
                    unit.update_account(&account).await?;
                    Ok(account)
                })
            },
        );
        let account = transaction.await?;
        // The time zone is part of the cached actor.
        self.credential_cache.invalidate(account.id);
        Ok(Preferences::of(account))
    }
}

/// Returns quiet hours in the form of requests and responses.
pub(super) fn quiet_hours_value(hours: Option<QuietHours>) -> Value {
    let text = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
    hours.map_or(
        Value::Null,
        |hours| serde_json::json!({"start": text(hours.from), "end": text(hours.until)}),
    )
}

const QUIET_HOURS_ERROR: &str = "must be null, or an object with start and end as HH:MM that are not equal, such as \
                     {\"start\": \"22:00\", \"end\": \"07:00\"}";

/// Reads quiet hours.
pub(in crate::identity) fn read_quiet_hours(value: &Value) -> Result<QuietHours, String> {
    let minute = |name: &str| minute(value.get(name)?.as_str()?);
    let hours = minute("start").zip(minute("end")).filter(|(from, until)| from != until);
    let hours = hours.map(|(from, until)| QuietHours { from, until });
    hours.ok_or_else(|| QUIET_HOURS_ERROR.to_owned())
}

/// Returns the minutes since midnight of `HH:MM`.
fn minute(text: &str) -> Option<u16> {
    let is_short = text.len() == "00:00".len() && text.as_bytes().get(2) == Some(&b':');
    let time: Time = is_short.then(|| text.parse().ok())??;
    u16::try_from(i32::from(time.hour()) * 60 + i32::from(time.minute())).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn quiet_hours_are_formatted_as_in_requests() {
        let (from, until) = (1320, 7);
        assert_eq!(
            quiet_hours_value(Some(QuietHours { from, until })),
            json!({"start": "22:00", "end": "00:07"})
        );
        assert_eq!(quiet_hours_value(None), Value::Null);
    }

    #[test]
    fn quiet_hours_need_two_different_times() {
        let read = |hours: Value| {
            let request = UpdatePreferencesRequest::read(&json!({ "quiet_hours": hours }));
            request.map(|request| {
                request
                    .quiet_hours
                    .0
                    .unwrap()
                    .map(|hours| (hours.0.from, hours.0.until))
            })
        };
        assert_eq!(
            read(json!({"start": "22:00", "end": "07:30"})).unwrap(),
            Some((1320, 450))
        );
        assert_eq!(
            read(json!({"start": "00:00", "end": "23:59"})).unwrap(),
            Some((0, 1439))
        );
        assert_eq!(read(json!(null)).unwrap(), None);
        for hours in [
            json!({"start": "22:00", "end": "22:00"}),
            json!({"start": "24:00", "end": "07:00"}),
            json!({"start": "7:00", "end": "08:00"}),
            json!({"start": "22:00:00", "end": "07:00"}),
            json!({"start": "22:00"}),
            json!({"start": 22, "end": 7}),
            json!("22:00-07:00"),
            json!({}),
        ] {
            assert!(read(hours.clone()).is_err(), "{hours}");
        }
    }
}
