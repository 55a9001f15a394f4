//! What an account may have.

use alerts::plan::{self, PlanRefusal};
use alerts::{Channel, ConditionKind, Plan};

use crate::ServiceError;

/// Refuses an alert of that kind on that channel unless the plan has both and the channel reaches somebody.
pub(super) fn check(plan: Plan, kind: ConditionKind, channel: Channel) -> Result<(), ServiceError> {
    plan::check_terms(plan, kind, channel)?;
    match channel {
        Channel::Email => Ok(()),
        // No account has a verified number as long as accounts have no numbers.
        Channel::Sms => Err(ServiceError::Forbidden {
            reason: "phone",
            required: Some("verified_phone".to_owned()),
            message: "sms goes to the account's verified phone number, and this account has none; verify one, or \
                      use email"
                .to_owned(),
        }),
    }
}

/// Refuses one more active alert beside `active` ones if that is more than the plan has.
pub(super) fn check_room(plan: Plan, active: u32) -> Result<(), ServiceError> {
    plan::check_room(plan, active).map_err(|refusal: PlanRefusal| refusal.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(plan: Plan, kind: ConditionKind, channel: Channel) -> Option<&'static str> {
        match check(plan, kind, channel) {
            Ok(()) => None,
            Err(ServiceError::Forbidden { reason, .. }) => Some(reason),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn sms_needs_a_plan_that_has_it_and_then_a_verified_number() {
        let kind = ConditionKind::PriceAbove;
        assert_eq!(reason(Plan::Basic, kind, Channel::Sms), Some("plan"));
        assert_eq!(reason(Plan::Premium, kind, Channel::Sms), Some("phone"));
        assert_eq!(reason(Plan::Basic, kind, Channel::Email), None);
    }

    #[test]
    fn basic_has_no_technical_alerts_and_the_early_birds_have() {
        assert_eq!(
            reason(Plan::Basic, ConditionKind::RsiLimit, Channel::Email),
            Some("plan")
        );
        assert_eq!(reason(Plan::EarlyBird, ConditionKind::RsiLimit, Channel::Email), None);
    }
}
