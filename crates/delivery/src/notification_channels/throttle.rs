//! How many messages a channel gets, in requests.

use foundation::request::{Field, ObjectBuilder, RefOr, Schema, string};
use foundation::{ErrorsByField, ServiceError};
use serde_json::Value;
use store::model::{ChannelThrottle, Digest, NotificationChannelType};
use utoipa::openapi::schema::Type;

/// The highest burst limit.
const MAX_BURST_LIMIT: u32 = 1_000;
/// The highest daily budget.
const MAX_DAILY_BUDGET: u32 = 100_000;

/// A whole number of at least 1 and at most `MAX`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limit<const MAX: u32>(pub(super) u32);

/// A burst limit.
pub(super) type BurstLimit = Limit<MAX_BURST_LIMIT>;
/// A daily budget.
pub(super) type DailyBudget = Limit<MAX_DAILY_BUDGET>;

/// A digest by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DigestField(pub(super) Digest);

impl<const MAX: u32> Field for Limit<MAX> {
    fn read(value: &Value) -> Result<Self, String> {
        // JSON does not distinguish 5 and 5.0.
        let number = value.as_f64().filter(|number| number.fract() == 0.0);
        let number = number.filter(|number| (1.0..=f64::from(MAX)).contains(number));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is whole and within the limits"
        )]
        let number = number.map(|number| Self(number as u32));
        number.ok_or_else(|| format!("must be a whole number from 1 to {MAX}"))
    }

    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .minimum(Some(1))
            .maximum(Some(MAX))
            .into()
    }
}

impl Field for DigestField {
    fn read(value: &Value) -> Result<Self, String> {
        let digest = value.as_str().and_then(Digest::from_name).map(Self);
        digest.ok_or_else(|| "must be \"hourly\" or \"daily at HH:MM\", such as \"daily at 17:30\"".to_owned())
    }

    fn schema() -> RefOr<Schema> {
        string()
            .pattern(Some("^(hourly|daily at ([01][0-9]|2[0-3]):[0-5][0-9])$"))
            .into()
    }
}

/// Refuses limits of a webhook, which gets each firing once and at once.
///
/// # Errors
/// [`ServiceError::Invalid`] with each limit that is set.
pub(super) fn check(channel_type: NotificationChannelType, throttle: ChannelThrottle) -> Result<(), ServiceError> {
    if channel_type != NotificationChannelType::Webhook {
        return Ok(());
    }
    let set = [
        ("burst_limit", throttle.burst_limit.is_some()),
        ("digest", throttle.digest.is_some()),
        ("daily_budget", throttle.daily_budget.is_some()),
    ];
    let set = set.into_iter().filter(|(_, is_set)| *is_set);
    let errors: ErrorsByField = set
        .map(|(field, _)| {
            let message = "must be omitted: a webhook gets each firing at once";
            (field.to_owned(), vec![message.to_owned()])
        })
        .collect();
    if errors.is_empty() {
        Ok(())
    } else {
        Err(ServiceError::fields(errors))
    }
}

/// The limits of a request to change. `None` keeps one, null removes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ThrottleChange {
    pub(super) burst_limit: Option<Option<BurstLimit>>,
    pub(super) digest: Option<Option<DigestField>>,
    pub(super) daily_budget: Option<Option<DailyBudget>>,
}

impl ThrottleChange {
    /// Returns the changed limits of a channel.
    pub(super) fn apply(self, stored: ChannelThrottle) -> ChannelThrottle {
        let limit = |sent: Option<Option<u32>>, stored| sent.unwrap_or(stored);
        ChannelThrottle {
            burst_limit: limit(
                self.burst_limit.map(|sent| sent.map(|limit| limit.0)),
                stored.burst_limit,
            ),
            digest: self.digest.map_or(stored.digest, |sent| sent.map(|digest| digest.0)),
            daily_budget: limit(
                self.daily_budget.map(|sent| sent.map(|limit| limit.0)),
                stored.daily_budget,
            ),
        }
    }
}
