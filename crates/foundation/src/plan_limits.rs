//! Limits of an account's plan.

use alerts::plan::RequestedCondition;
use alerts::{Channel, plan};
use store::model::Account;
use store::{Abort, UnitOfWork};

use crate::ServiceError;

/// Refuses an alert unless the account's plan includes its kind and channel, and the channel has a destination.
pub fn check(
    account: &Account,
    condition: impl Into<RequestedCondition>,
    channel: Channel,
) -> Result<(), ServiceError> {
    plan::check_alert_features(account.plan, condition, channel)?;
    if channel == Channel::Email || account.profile.phone.is_some() {
        return Ok(());
    }
    Err(ServiceError::Forbidden {
        reason: "phone",
        required: Some("verified_phone".to_owned()),
        message: "sms goes to the account's verified phone number, and this account has none; verify one \
                  (POST /user/account/phone), or use email"
            .to_owned(),
    })
}

/// Refuses one more active alert of a locked account if the plan's quota is used up. Without a quota nothing is
/// counted: counting would make each alert more expensive than the one before.
pub async fn check_active_alert_quota(unit: &mut UnitOfWork, account: &Account) -> Result<(), Abort<ServiceError>> {
    if account.plan.active_alert_quota().is_none() {
        return Ok(());
    }
    let active = unit.count_active_alerts(account.id).await?;
    plan::check_active_quota(account.plan, active).map_err(|refusal| Abort::Refused(refusal.into()))
}

#[cfg(test)]
mod tests {
    use alerts::{ConditionKind, Plan};
    use jiff::Timestamp;
    use store::model::{AccountId, Phone, Profile};
    use uuid::Uuid;

    use super::*;

    fn reason(plan: Plan, has_phone: bool, kind: ConditionKind, channel: Channel) -> Option<&'static str> {
        let phone = Phone {
            number: "+14155550123".to_owned(),
            verified_at: Timestamp::UNIX_EPOCH,
        };
        let account = Account {
            id: AccountId(Uuid::from_u128(1)),
            email: "ann@example.com".to_owned(),
            password_hash: None,
            full_name: None,
            plan,
            is_operator: false,
            is_verified: true,
            time_zone: "UTC".to_owned(),
            created_at: Timestamp::UNIX_EPOCH,
            profile: Profile {
                phone: has_phone.then_some(phone),
                ..Profile::default()
            },
        };
        match check(&account, kind, channel) {
            Ok(()) => None,
            Err(ServiceError::Forbidden { reason, .. }) => Some(reason),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn sms_needs_a_plan_with_sms_and_a_verified_number() {
        let kind = ConditionKind::PriceAbove;
        for (plan, has_phone, refused) in [
            (Plan::Basic, false, Some("plan")),
            (Plan::Basic, true, Some("plan")),
            (Plan::Premium, false, Some("phone")),
            (Plan::Premium, true, None),
            (Plan::EarlyBird, false, Some("phone")),
            (Plan::EarlyBird, true, None),
        ] {
            assert_eq!(
                reason(plan, has_phone, kind, Channel::Sms),
                refused,
                "{plan:?} {has_phone}"
            );
        }
        assert_eq!(reason(Plan::Basic, false, kind, Channel::Email), None);
    }

    #[test]
    fn technical_alerts_need_a_paid_plan() {
        let kind = ConditionKind::RsiLimit;
        assert_eq!(reason(Plan::Basic, false, kind, Channel::Email), Some("plan"));
        assert_eq!(reason(Plan::EarlyBird, false, kind, Channel::Email), None);
    }
}
