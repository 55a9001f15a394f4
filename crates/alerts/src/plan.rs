//! Plans: which alerts an account may have, how many, and how it may be told.
//!
//! A refusal says in its message which plan has what was asked for, and in [`PlanRefusal::reason`]
//! and [`PlanRefusal::required`] the same for programs.

use crate::alert::Channel;
use crate::condition::{ConditionKind, Family};

/// What an account pays for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Plan {
    /// Nothing.
    #[default]
    Basic,
    /// Everything.
    Premium,
    /// Everything, at the price of the first days.
    EarlyBird,
}

/// How many alerts of the basic plan may be active.
pub const BASIC_ACTIVE_ALERTS: u32 = 20;

/// How many text messages a month the paid plans have.
pub const PAID_SMS_PER_MONTH: u32 = 50;

/// How many stocks the watchlist of the basic plan has room for.
pub const BASIC_WATCHLIST_ITEMS: u32 = 10;

/// How many stocks the watchlists of the paid plans have room for.
pub const PAID_WATCHLIST_ITEMS: u32 = 1_000;

impl Plan {
    /// Every plan there is.
    pub const ALL: &'static [Self] = &[Self::Basic, Self::Premium, Self::EarlyBird];

    /// The name in requests and answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Basic => "basic",
            Self::Premium => "premium",
            Self::EarlyBird => "early_bird",
        }
    }

    /// The plan of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|plan| plan.name() == name)
    }

    /// Whether it has alerts of that family.
    #[must_use]
    pub const fn allows(self, family: Family) -> bool {
        match self {
            Self::Basic => is_free(family),
            Self::Premium | Self::EarlyBird => true,
        }
    }

    /// How many alerts may be active at once; `None` is any number.
    #[must_use]
    pub const fn active_alert_quota(self) -> Option<u32> {
        match self {
            Self::Basic => Some(BASIC_ACTIVE_ALERTS),
            Self::Premium | Self::EarlyBird => None,
        }
    }

    /// How many text messages are sent in a month.
    #[must_use]
    pub const fn sms_per_month(self) -> u32 {
        match self {
            Self::Basic => 0,
            Self::Premium | Self::EarlyBird => PAID_SMS_PER_MONTH,
        }
    }

    /// How many stocks its watchlist has room for.
    #[must_use]
    pub const fn watchlist_quota(self) -> u32 {
        match self {
            Self::Basic => BASIC_WATCHLIST_ITEMS,
            Self::Premium | Self::EarlyBird => PAID_WATCHLIST_ITEMS,
        }
    }

    /// Whether the analyst makes alerts for a new item of the watchlist, unless its owner says otherwise.
    #[must_use]
    pub const fn has_auto_alerts(self) -> bool {
        match self {
            Self::Basic => false,
            Self::Premium | Self::EarlyBird => true,
        }
    }
}

/// What costs nothing.
const fn is_free(family: Family) -> bool {
    match family {
        Family::Price | Family::Time => true,
        Family::Technical | Family::Volume | Family::Fundamental | Family::AlternativeData | Family::Dividend => false,
    }
}

/// Why a plan does not have what is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PlanRefusal {
    /// The plan has no alerts of the family.
    #[error(
        "{kind} is one of the {} alerts, which the {} plan does not have; \
         it needs the premium or early_bird plan",
        family_name(kind.family()),
        plan.name()
    )]
    Family {
        /// What was asked for.
        kind: ConditionKind,
        /// The account's plan.
        plan: Plan,
    },
    /// The plan has no text messages.
    #[error(
        "the {} plan has no sms; use email, or take the premium or early_bird plan",
        plan.name()
    )]
    Sms {
        /// The account's plan.
        plan: Plan,
    },
    /// As many alerts are active as the plan has.
    #[error(
        "the {} plan has at most {quota} active alerts; pause or delete one, \
         or take the premium or early_bird plan",
        plan.name()
    )]
    TooManyActive {
        /// The account's plan.
        plan: Plan,
        /// How many it has.
        quota: u32,
    },
    /// The watchlist is full.
    #[error("the watchlist of the {} plan has room for {quota} stocks; delete one{}", plan.name(), or_pay(*.plan))]
    WatchlistFull {
        /// The account's plan.
        plan: Plan,
        /// How many stocks it has room for.
        quota: u32,
    },
    /// Guests have no alerts of the family.
    #[error(
        "{kind} is one of the {} alerts, which need an account with the premium or early_bird \
         plan; guests may create price and time alerts",
        family_name(kind.family())
    )]
    GuestFamily {
        /// What was asked for.
        kind: ConditionKind,
    },
    /// Guests are told by email.
    #[error("guests are notified by email; sms needs an account with the premium or early_bird plan")]
    GuestSms,
}

impl PlanRefusal {
    /// What programs read as the reason.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        "plan"
    }

    /// The plan that has what is asked for.
    #[must_use]
    pub const fn required(self) -> Plan {
        Plan::Premium
    }
}

const fn or_pay(plan: Plan) -> &'static str {
    match plan {
        Plan::Basic => ", or take the premium or early_bird plan",
        Plan::Premium | Plan::EarlyBird => "",
    }
}

const fn family_name(family: Family) -> &'static str {
    match family {
        Family::Price => "price",
        Family::Technical => "technical",
        Family::Volume => "volume",
        Family::Fundamental => "fundamental",
        Family::AlternativeData => "alternative-data",
        Family::Time => "time",
        Family::Dividend => "dividend",
    }
}

/// Whether an account of that plan, with so many active alerts, may have one more of that kind.
///
/// # Errors
/// The first [`PlanRefusal`] of [`check_terms`] and [`check_room`].
pub fn check_new(plan: Plan, kind: ConditionKind, channel: Channel, active_count: u32) -> Result<(), PlanRefusal> {
    check_terms(plan, kind, channel)?;
    check_room(plan, active_count)
}

/// Whether an account of that plan may have an alert of that kind on that channel, as for an update.
///
/// # Errors
/// [`PlanRefusal::Family`] or [`PlanRefusal::Sms`]
pub fn check_terms(plan: Plan, kind: ConditionKind, channel: Channel) -> Result<(), PlanRefusal> {
    if !plan.allows(kind.family()) {
        return Err(PlanRefusal::Family { kind, plan });
    }
    if channel == Channel::Sms && plan.sms_per_month() == 0 {
        return Err(PlanRefusal::Sms { plan });
    }
    Ok(())
}

/// Whether one more alert may be active beside `active_count`, as for an activation.
///
/// # Errors
/// [`PlanRefusal::TooManyActive`]
pub fn check_room(plan: Plan, active_count: u32) -> Result<(), PlanRefusal> {
    match plan.active_alert_quota() {
        Some(quota) if active_count >= quota => Err(PlanRefusal::TooManyActive { plan, quota }),
        _ => Ok(()),
    }
}

/// Whether a watchlist with so many stocks has room for one more.
///
/// # Errors
/// [`PlanRefusal::WatchlistFull`]
pub fn check_watchlist(plan: Plan, items: u64) -> Result<(), PlanRefusal> {
    let quota = plan.watchlist_quota();
    if items >= u64::from(quota) {
        return Err(PlanRefusal::WatchlistFull { plan, quota });
    }
    Ok(())
}

/// Whether somebody without an account may have an alert of that kind on that channel.
///
/// # Errors
/// [`PlanRefusal::GuestFamily`] or [`PlanRefusal::GuestSms`]
pub fn check_guest(kind: ConditionKind, channel: Channel) -> Result<(), PlanRefusal> {
    if !is_free(kind.family()) {
        return Err(PlanRefusal::GuestFamily { kind });
    }
    match channel {
        Channel::Email => Ok(()),
        Channel::Sms => Err(PlanRefusal::GuestSms),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basic_has_price_and_time_alerts_and_the_paid_plans_have_all() {
        for kind in ConditionKind::ALL {
            let free = matches!(kind.family(), Family::Price | Family::Time);
            assert_eq!(check_new(Plan::Basic, *kind, Channel::Email, 0).is_ok(), free, "{kind}");
            for plan in [Plan::Premium, Plan::EarlyBird] {
                assert_eq!(check_new(plan, *kind, Channel::Sms, u32::MAX), Ok(()), "{kind}");
            }
            assert_eq!(check_guest(*kind, Channel::Email).is_ok(), free, "{kind}");
            assert!(check_guest(*kind, Channel::Sms).is_err(), "{kind}");
        }
    }

    #[test]
    fn the_twentieth_active_alert_of_basic_is_taken_and_the_next_is_not() {
        let check = |active| check_new(Plan::Basic, ConditionKind::NewHigh, Channel::Email, active);
        assert_eq!(check(19), Ok(()));
        assert_eq!(
            check(20),
            Err(PlanRefusal::TooManyActive {
                plan: Plan::Basic,
                quota: 20
            })
        );
    }

    #[test]
    fn a_refusal_names_the_plan_that_has_it() {
        let basic = |kind, channel, active| check_new(Plan::Basic, kind, channel, active);
        for refusal in [
            basic(ConditionKind::SocialBuzz, Channel::Email, 0),
            basic(ConditionKind::PriceAbove, Channel::Sms, 0),
            basic(ConditionKind::PriceAbove, Channel::Email, 20),
            check_guest(ConditionKind::RsiLimit, Channel::Email),
            check_guest(ConditionKind::PriceAbove, Channel::Sms),
        ] {
            let refusal = refusal.unwrap_err();
            assert!(refusal.to_string().contains("premium or early_bird plan"), "{refusal}");
            assert_eq!((refusal.reason(), refusal.required()), ("plan", Plan::Premium));
        }
        assert_eq!(
            basic(ConditionKind::SocialBuzz, Channel::Email, 0)
                .unwrap_err()
                .to_string(),
            "social_buzz is one of the alternative-data alerts, which the basic plan does not have; \
             it needs the premium or early_bird plan"
        );
    }

    #[test]
    fn every_plan_is_found_by_its_name() {
        for plan in Plan::ALL {
            assert_eq!(Plan::from_name(plan.name()), Some(*plan));
        }
        assert_eq!(Plan::from_name("Premium"), None);
    }
}
