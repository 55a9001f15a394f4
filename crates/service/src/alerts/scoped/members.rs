//! The members of an alert over many stocks.

use alerts::AlertId;
use foundation::{Actor, ServiceError};
use market::{Decimal, Symbol};
use store::model::{Page, PageRequest, StoredAlert};

use crate::alerts::metric::measure;
use crate::alerts::{Alerts, no_such_alert};

/// A stock of an alert over many stocks.
#[derive(Clone, PartialEq, Debug)]
pub struct AlertMember {
    /// The alert on that stock.
    pub stored: StoredAlert,
    /// Its distance from firing in percent; `None` without a price, and for conditions that have none.
    pub distance_pct: Option<Decimal>,
}

impl Alerts {
    /// Returns the member of an alert over many stocks that is on a stock.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] if no stock is given, or none of its stocks.
    pub(in crate::alerts) async fn member(
        &self,
        actor: &Actor,
        id: AlertId,
        symbol: Option<Symbol>,
    ) -> Result<StoredAlert, ServiceError> {
        let found = match symbol {
            Some(symbol) => self.ports.store.member(actor.account, id, symbol).await?,
            None => None,
        };
        found.ok_or_else(|| {
            let message = "must be one of the alert's stocks; GET /alerts/{id}/members lists them";
            ServiceError::field("symbol", message)
        })
    }

    /// Returns a page of the members of an alert over many stocks, in the order of their symbols. An alert on one stock is its own
    /// member.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn alert_members(
        &self,
        actor: &Actor,
        id: AlertId,
        page: PageRequest,
    ) -> Result<Page<AlertMember>, ServiceError> {
        let found = self.ports.store.alert(actor.account, id).await?;
        let stored = found.ok_or_else(no_such_alert)?;
        let Page { items, total } = match stored.scope() {
            Some(_) => self.ports.store.members(actor.account, id, page).await?,
            None => Page {
                items: Vec::from_iter((page.offset() == 0).then_some(stored)),
                total: 1,
            },
        };
        let now = self.ports.clock.now();
        let members = items.into_iter().map(|stored| {
            let symbol = stored.alert.symbol;
            let price = self.evaluator.last_observed(symbol).map(|observed| observed.price);
            let measured = self.evaluator.read(|engine| measure(engine, &stored.alert, price, now));
            AlertMember {
                distance_pct: measured.distance_pct,
                stored,
            }
        });
        Ok(Page {
            items: members.collect(),
            total,
        })
    }
}
