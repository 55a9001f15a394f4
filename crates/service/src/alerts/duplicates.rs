//! Prevents an update that makes two alerts equivalent.

use alerts::equivalence::equivalent;
use alerts::request::AlertChange;
use alerts::{Alert, NewAlert};
use jiff::Timestamp;
use store::model::StoredAlert;
use store::{Abort, UnitOfWork};

use super::guests::as_new_alert;
use foundation::ServiceError;

/// Refuses a change that makes an alert equivalent to another alert of its owner, who would be notified twice. Two
/// alerts that are equivalent already may change in other ways.
pub(super) async fn check(
    unit: &mut UnitOfWork,
    current: &StoredAlert,
    change: &AlertChange,
    now: Timestamp,
) -> Result<(), Abort<ServiceError>> {
    let before = as_new_alert(&current.alert);
    let after = NewAlert {
        condition: change.condition.clone(),
        options: change.options.clone(),
        routing: change.routing.clone(),
        parameters: change.parameters.clone(),
        ..before.clone()
    };
    let similar = unit.similar_alerts(&current.owner, &after).await?;
    let is_new_twin = |other: &Alert| {
        other.id != current.alert.id && equivalent(other, &after, now) && !equivalent(other, &before, now)
    };
    match similar.iter().find(|other| is_new_twin(&other.alert)) {
        None => Ok(()),
        Some(twin) => {
            let id = twin.alert.id;
            let message = format!("this would duplicate your alert {id}; change that alert, or delete one of the two");
            Err(Abort::Refused(ServiceError::Conflict(message)))
        }
    }
}

/// Refuses to restore a deleted alert if its owner has an equivalent one meanwhile.
pub(super) async fn check_restored(
    unit: &mut UnitOfWork,
    restored: &StoredAlert,
    now: Timestamp,
) -> Result<(), Abort<ServiceError>> {
    let request = as_new_alert(&restored.alert);
    let similar = unit.similar_alerts(&restored.owner, &request).await?;
    let is_twin = |other: &Alert| other.id != restored.alert.id && equivalent(other, &request, now);
    if similar.iter().any(|other| is_twin(&other.alert)) {
        let message = "you have created an equal alert meanwhile; keep that one";
        return Err(Abort::Refused(ServiceError::Conflict(message.to_owned())));
    }
    Ok(())
}
