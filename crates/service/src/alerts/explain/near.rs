//! The alerts that are, or were, near to firing.

use alerts::{AlertId, Status};
use foundation::{Actor, ServiceError};
use jiff::Timestamp;
use market::{Decimal, Symbol};
use store::model::{AlertFilter, AlertSort, AlertSortField, ListRequest, PageRequest, StoredAlert};

use super::ExplainedAlert;
use crate::alerts::Alerts;

/// How many alerts are read at once: at least as many as an alert has members.
const ALERTS_PAGE: u32 = 500;
/// The maximum number of alerts of an account for which a past moment is replayed.
const MAX_PAST_ALERTS: usize = 2_000;

/// New alerts come last, so that pages do not overlap.
const OLDEST_FIRST: AlertSort = AlertSort {
    field: AlertSortField::CreatedAt,
    ascending: true,
};

/// An alert near to firing.
#[derive(Clone, PartialEq, Debug)]
pub struct NearAlert {
    /// The alert.
    pub id: AlertId,
    /// Its stock.
    pub symbol: Symbol,
    /// Its distance from being true in percent; 0 if the condition is true.
    pub distance_pct: Decimal,
    /// Its explanation.
    pub explained: ExplainedAlert,
}

/// The id by which the owner knows an alert, and its stock.
type AlertPlace = (AlertId, Symbol);

fn place(stored: &StoredAlert) -> AlertPlace {
    (stored.shown_id(), stored.alert.symbol)
}

impl Alerts {
    /// Returns the active alerts whose conditions are at most `within_pct` percent from being true, the nearest first: at present, or
    /// those that were so at a past moment.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for a moment in the future, and for a past moment with more than 2,000 alerts;
    /// [`ServiceError::Overloaded`] if too many replays of the past are waiting.
    pub async fn near_alerts(
        &self,
        actor: &Actor,
        at: Option<Timestamp>,
        within_pct: Decimal,
    ) -> Result<Vec<NearAlert>, ServiceError> {
        let explained = match at {
            None => self.explain_all_present(actor).await?,
            Some(at) => self.explain_active_at(actor, at).await?,
        };
        let near = explained.into_iter().filter_map(|((id, symbol), explained)| {
            let distance_pct = explained.explanation.as_ref()?.distance_pct?;
            (distance_pct <= within_pct).then_some(NearAlert {
                id,
                symbol,
                distance_pct,
                explained,
            })
        });
        let mut near: Vec<_> = near.collect();
        near.sort_by_key(|alert| (alert.distance_pct, alert.id, alert.symbol));
        Ok(near)
    }

    async fn explain_all_present(&self, actor: &Actor) -> Result<Vec<(AlertPlace, ExplainedAlert)>, ServiceError> {
        let filter = AlertFilter {
            status: Some(Status::Active),
            ..AlertFilter::default()
        };
        let alerts = self.all_alerts(actor, &filter).await?;
        // Of an active alert over many stocks, some members may be active and others not.
        let quiet_until = self.quiet_until(actor).await?;
        let active = alerts.iter().filter(|stored| stored.alert.status == Status::Active);
        let explained = active.map(|stored| {
            let explained = self.explain_present(actor, &stored.alert, quiet_until);
            (place(stored), explained)
        });
        Ok(explained.collect())
    }

    async fn explain_active_at(
        &self,
        actor: &Actor,
        at: Timestamp,
    ) -> Result<Vec<(AlertPlace, ExplainedAlert)>, ServiceError> {
        self.require_past(at)?;
        let (mut places, mut past) = (Vec::new(), Vec::new());
        for stored in self.all_alerts(actor, &AlertFilter::default()).await? {
            if stored.alert.created_at > at {
                continue;
            }
            let place = place(&stored);
            let found = self.past_alert(stored.alert, at).await?;
            if let Some(found) = found.filter(|past| past.status() == Status::Active) {
                places.push(place);
                past.push(found);
            }
        }
        if past.len() > MAX_PAST_ALERTS {
            let message = format!(
                "more than {MAX_PAST_ALERTS} alerts were active then; ask for single ones with GET /alerts/{{id}}/explain"
            );
            return Err(ServiceError::field("at", message));
        }
        let explained = self.explain_all_past(actor.account, past, at).await?;
        Ok(places.into_iter().zip(explained).collect())
    }

    /// Returns an account's alerts; of those over many stocks the members.
    async fn all_alerts(&self, actor: &Actor, filter: &AlertFilter) -> Result<Vec<StoredAlert>, ServiceError> {
        let store = &self.ports.store;
        let first_page = PageRequest {
            page: 1,
            limit: ALERTS_PAGE,
        };
        let (mut all, mut request) = (Vec::new(), ListRequest::from(first_page));
        loop {
            let found = store.alerts(actor.account, filter, OLDEST_FIRST, request).await?;
            request.after = found.items.last().map(|stored| stored.alert.id);
            let is_last = found.items.len() < ALERTS_PAGE as usize;
            for stored in found.items {
                if stored.scope().is_none() {
                    all.push(stored);
                    continue;
                }
                let members = store.members(actor.account, stored.alert.id, first_page).await?;
                all.extend(members.items);
            }
            if is_last {
                break;
            }
        }
        Ok(all)
    }
}
