//! The members of an alert over many stocks.

use alerts::AlertId;
use foundation::{Actor, ServiceError};
use market::{Decimal, Symbol};
use store::model::{ListError, ListRequest, Page, StoredAlert};

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
    /// [`ServiceError::NotFound`]; [`ServiceError::Invalid`] if the alert never had the stock `after`.
    pub async fn alert_members(
        &self,
        actor: &Actor,
        id: AlertId,
        request: impl Into<ListRequest<Symbol>>,
    ) -> Result<Page<AlertMember>, ServiceError> {
        let request = request.into();
        let found = self.ports.store.alert(actor.account, id).await?;
        let stored = found.ok_or_else(no_such_alert)?;
        let Page { items, total } = match stored.scope() {
            Some(_) => self.ports.store.members(actor.account, id, request).await?,
            None => only_member(stored, request)?,
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

/// Returns a page of the members of an alert on one stock.
fn only_member(stored: StoredAlert, request: ListRequest<Symbol>) -> Result<Page<StoredAlert>, ListError> {
    let is_on_page = match request.after {
        None => request.page.offset() == 0,
        Some(after) if after == stored.alert.symbol => false,
        Some(_) => return Err(ListError::UnknownItem),
    };
    Ok(Page {
        items: Vec::from_iter(is_on_page.then_some(stored)),
        total: 1,
    })
}
