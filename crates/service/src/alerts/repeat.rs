//! An update must not make two alerts the same.

use alerts::equivalence::equivalent;
use alerts::request::AlertChange;
use alerts::{Alert, NewAlert};
use store::model::StoredAlert;
use store::{Abort, UnitOfWork};

use crate::ServiceError;

/// Refuses a change that makes an alert the same as another alert of its owner, who would be notified twice. Two
/// alerts that are the same already may change otherwise.
pub(super) async fn refuse(
    unit: &mut UnitOfWork,
    current: &StoredAlert,
    change: &AlertChange,
) -> Result<(), Abort<ServiceError>> {
    let before = request(&current.alert);
    let after = NewAlert {
        condition: change.condition,
        parameters: change.parameters.clone(),
        ..before.clone()
    };
    let similar = unit.similar_alerts(&current.owner, &after).await?;
    let is_new_twin =
        |other: &Alert| other.id != current.alert.id && equivalent(other, &after) && !equivalent(other, &before);
    match similar.iter().find(|other| is_new_twin(&other.alert)) {
        None => Ok(()),
        Some(twin) => {
            let id = twin.alert.id;
            let message =
                format!("this would be the same as your alert {id}; change that one, or delete one of the two");
            Err(Abort::Refused(ServiceError::Conflict(message)))
        }
    }
}

/// The request that asks for an alert as it is.
fn request(alert: &Alert) -> NewAlert {
    NewAlert {
        symbol: alert.symbol,
        condition: alert.condition,
        notification: alert.notification,
        parameters: alert.parameters.clone(),
        email: None,
    }
}
