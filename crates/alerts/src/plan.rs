//! Plans: the permitted conditions, quotas and notification channels of an account.
//!
//! The message of an error names the plan that includes the requested feature. [`PlanLimitError::reason`] and
//! [`PlanLimitError::required`] return the same information for programs.

use crate::alert::Channel;
use crate::condition::{Condition, ConditionFamily, ConditionKind};
use crate::named_enum;

named_enum! {
    /// The plan of an account.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
    pub enum Plan {
        /// The free plan.
        #[default]
        Basic = "basic",
        /// The full plan.
        Premium = "premium",
        /// The full plan at the launch price.
        EarlyBird = "early_bird",
    }
}

/// The maximum number of active alerts on the basic plan.
pub const BASIC_MAX_ACTIVE_ALERTS: u32 = 20;

/// The number of text messages per month on the paid plans.
pub const PAID_SMS_PER_MONTH: u32 = 50;

/// The maximum number of stocks on the watchlist of the basic plan.
pub const BASIC_MAX_WATCHLIST_ITEMS: u32 = 10;

/// The maximum number of stocks on the watchlist of the paid plans.
pub const PAID_MAX_WATCHLIST_ITEMS: u32 = 1_000;

impl Plan {
    /// Returns whether the plan includes conditions of the family.
    #[must_use]
    pub const fn allows(self, family: ConditionFamily) -> bool {
        match self {
            Self::Basic => is_free(family),
            Self::Premium | Self::EarlyBird => true,
        }
    }

    /// Returns the maximum number of active alerts; `None` means unlimited.
    #[must_use]
    pub const fn active_alert_quota(self) -> Option<u32> {
        match self {
            Self::Basic => Some(BASIC_MAX_ACTIVE_ALERTS),
            Self::Premium | Self::EarlyBird => None,
        }
    }

    /// Returns the number of text messages per month.
    #[must_use]
    pub const fn sms_per_month(self) -> u32 {
        match self {
            Self::Basic => 0,
            Self::Premium | Self::EarlyBird => PAID_SMS_PER_MONTH,
        }
    }

    /// Returns the maximum number of stocks on the watchlist.
    #[must_use]
    pub const fn watchlist_quota(self) -> u32 {
        match self {
            Self::Basic => BASIC_MAX_WATCHLIST_ITEMS,
            Self::Premium | Self::EarlyBird => PAID_MAX_WATCHLIST_ITEMS,
        }
    }

    /// Returns whether the analyst creates alerts for new watchlist items by default.
    #[must_use]
    pub const fn has_auto_alerts(self) -> bool {
        match self {
            Self::Basic => false,
            Self::Premium | Self::EarlyBird => true,
        }
    }
}

/// Returns whether the basic plan and guests may use the family.
const fn is_free(family: ConditionFamily) -> bool {
    match family {
        ConditionFamily::Price | ConditionFamily::Time => true,
        ConditionFamily::Technical
        | ConditionFamily::Volume
        | ConditionFamily::Fundamental
        | ConditionFamily::AlternativeData
        | ConditionFamily::Dividend => false,
    }
}

/// An error: the plan does not include the requested feature.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PlanLimitError {
    /// The plan does not include the condition's family.
    #[error(
        "{kind} is one of the {} alerts, which the {} plan does not include; \
         upgrade to the premium or early_bird plan",
        family_name(*family),
        plan.name()
    )]
    Family {
        /// The requested condition.
        kind: ConditionKind,
        /// Its family.
        family: ConditionFamily,
        /// The account's plan.
        plan: Plan,
    },
    /// The plan does not include text messages.
    #[error(
        "the {} plan does not include sms; use email, or upgrade to the premium or early_bird plan",
        plan.name()
    )]
    Sms {
        /// The account's plan.
        plan: Plan,
    },
    /// The plan's maximum number of active alerts is reached.
    #[error(
        "the {} plan allows at most {quota} active alerts; pause or delete one, \
         or upgrade to the premium or early_bird plan",
        plan.name()
    )]
    TooManyActive {
        /// The account's plan.
        plan: Plan,
        /// The maximum number of active alerts.
        quota: u32,
    },
    /// The watchlist is full.
    #[error("the watchlist of the {} plan is limited to {quota} stocks; delete one{}", plan.name(), upgrade_hint(*.plan))]
    WatchlistFull {
        /// The account's plan.
        plan: Plan,
        /// The maximum number of stocks.
        quota: u32,
    },
    /// Guests cannot create alerts of the family.
    #[error(
        "{kind} is one of the {} alerts, which need an account with the premium or early_bird \
         plan; guests may create price and time alerts",
        family_name(*family)
    )]
    GuestFamily {
        /// The requested condition.
        kind: ConditionKind,
        /// Its family.
        family: ConditionFamily,
    },
    /// Guests are notified by email only.
    #[error("guests are notified by email; sms needs an account with the premium or early_bird plan")]
    GuestSms,
}

impl PlanLimitError {
    /// Returns the machine-readable reason.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        "plan"
    }

    /// Returns the plan that includes the requested feature.
    #[must_use]
    pub const fn required(self) -> Plan {
        Plan::Premium
    }
}

const fn upgrade_hint(plan: Plan) -> &'static str {
    match plan {
        Plan::Basic => ", or upgrade to the premium or early_bird plan",
        Plan::Premium | Plan::EarlyBird => "",
    }
}

const fn family_name(family: ConditionFamily) -> &'static str {
    match family {
        ConditionFamily::Price => "price",
        ConditionFamily::Technical => "technical",
        ConditionFamily::Volume => "volume",
        ConditionFamily::Fundamental => "fundamental",
        ConditionFamily::AlternativeData => "alternative-data",
        ConditionFamily::Time => "time",
        ConditionFamily::Dividend => "dividend",
    }
}

/// A condition that a plan may include. Of a kind alone, it has the kind's family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestedCondition {
    kind: ConditionKind,
    family: ConditionFamily,
}

impl From<ConditionKind> for RequestedCondition {
    fn from(kind: ConditionKind) -> Self {
        Self {
            kind,
            family: kind.family(),
        }
    }
}

impl From<&Condition> for RequestedCondition {
    fn from(condition: &Condition) -> Self {
        Self {
            kind: condition.kind(),
            family: condition.family(),
        }
    }
}

/// Checks that the plan includes this kind of alert on this channel. Applies to updates too.
///
/// # Errors
/// [`PlanLimitError::Family`] or [`PlanLimitError::Sms`]
pub fn check_alert_features(
    plan: Plan,
    condition: impl Into<RequestedCondition>,
    channel: Channel,
) -> Result<(), PlanLimitError> {
    let RequestedCondition { kind, family } = condition.into();
    if !plan.allows(family) {
        return Err(PlanLimitError::Family { kind, family, plan });
    }
    if channel == Channel::Sms && plan.sms_per_month() == 0 {
        return Err(PlanLimitError::Sms { plan });
    }
    Ok(())
}

/// Checks that one more alert may become active besides `active_count`. Applies to activations too.
///
/// # Errors
/// [`PlanLimitError::TooManyActive`]
pub fn check_active_quota(plan: Plan, active_count: u32) -> Result<(), PlanLimitError> {
    match plan.active_alert_quota() {
        Some(quota) if active_count >= quota => Err(PlanLimitError::TooManyActive { plan, quota }),
        _ => Ok(()),
    }
}

/// Checks that a watchlist with `items` stocks may get one more.
///
/// # Errors
/// [`PlanLimitError::WatchlistFull`]
pub fn check_watchlist_quota(plan: Plan, items: u64) -> Result<(), PlanLimitError> {
    let quota = plan.watchlist_quota();
    if items >= u64::from(quota) {
        return Err(PlanLimitError::WatchlistFull { plan, quota });
    }
    Ok(())
}

/// Checks that a guest may have an alert of this kind on this channel.
///
/// # Errors
/// [`PlanLimitError::GuestFamily`] or [`PlanLimitError::GuestSms`]
pub fn check_guest_alert(condition: impl Into<RequestedCondition>, channel: Channel) -> Result<(), PlanLimitError> {
    let RequestedCondition { kind, family } = condition.into();
    if !is_free(family) {
        return Err(PlanLimitError::GuestFamily { kind, family });
    }
    match channel {
        Channel::Email => Ok(()),
        Channel::Sms => Err(PlanLimitError::GuestSms),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basic_plan_includes_price_and_time_alerts_and_paid_plans_all() {
        for kind in ConditionKind::ALL {
            let free = matches!(kind.family(), ConditionFamily::Price | ConditionFamily::Time);
            assert_eq!(
                check_alert_features(Plan::Basic, *kind, Channel::Email).is_ok(),
                free,
                "{kind}"
            );
            for plan in [Plan::Premium, Plan::EarlyBird] {
                assert_eq!(check_alert_features(plan, *kind, Channel::Sms), Ok(()), "{kind}");
            }
            assert_eq!(check_guest_alert(*kind, Channel::Email).is_ok(), free, "{kind}");
            assert!(check_guest_alert(*kind, Channel::Sms).is_err(), "{kind}");
        }
    }

    #[test]
    fn basic_plan_allows_20_active_alerts() {
        assert_eq!(check_active_quota(Plan::Premium, u32::MAX), Ok(()));
        assert_eq!(check_active_quota(Plan::Basic, 19), Ok(()));
        assert_eq!(
            check_active_quota(Plan::Basic, 20),
            Err(PlanLimitError::TooManyActive {
                plan: Plan::Basic,
                quota: 20
            })
        );
    }

    #[test]
    fn plan_error_names_the_required_plan() {
        let basic = |kind, channel| check_alert_features(Plan::Basic, kind, channel);
        for error in [
            basic(ConditionKind::SocialBuzz, Channel::Email),
            basic(ConditionKind::PriceAbove, Channel::Sms),
            check_active_quota(Plan::Basic, 20),
            check_guest_alert(ConditionKind::RsiLimit, Channel::Email),
            check_guest_alert(ConditionKind::PriceAbove, Channel::Sms),
        ] {
            let error = error.unwrap_err();
            assert!(error.to_string().contains("premium or early_bird plan"), "{error}");
            assert_eq!((error.reason(), error.required()), ("plan", Plan::Premium));
        }
        assert_eq!(
            basic(ConditionKind::SocialBuzz, Channel::Email)
                .unwrap_err()
                .to_string(),
            "social_buzz is one of the alternative-data alerts, which the basic plan does not include; \
             upgrade to the premium or early_bird plan"
        );
    }

    #[test]
    fn every_plan_round_trips_through_its_name() {
        for plan in Plan::ALL {
            assert_eq!(Plan::from_name(plan.name()), Some(*plan));
        }
        assert_eq!(Plan::from_name("Premium"), None);
    }
}
