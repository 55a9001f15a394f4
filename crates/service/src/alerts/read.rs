//! Reads alerts.

use alerts::engine::{Engine, Evaluation};
use alerts::{Alert, AlertId, Status};
use jiff::Timestamp;
use store::model::{AlertFilter, AlertSort, ListRequest, Page, StoredAlert};

use super::metric::measure;
use super::scoped::name_of_stocks;
use super::{AlertDetail, AlertItem, AlertProximity, no_such_alert};
use crate::alerts::Alerts;
use evaluation::stocks::StockView;
use foundation::{Actor, ServiceError};

impl Alerts {
    /// Returns an alert with its stock and its evaluation state.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn alert(&self, actor: &Actor, id: AlertId) -> Result<AlertDetail, ServiceError> {
        let found = self.ports.store.alert(actor.account, id).await?;
        found.map(|stored| self.detail(stored)).ok_or_else(no_such_alert)
    }

    /// Returns a page of the actor's alerts; `extended` adds to each its distance from firing.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] if the account never had the alert `after`.
    pub async fn alerts(
        &self,
        actor: &Actor,
        filter: &AlertFilter,
        sort: AlertSort,
        request: impl Into<ListRequest<AlertId>>,
        extended: bool,
    ) -> Result<Page<AlertItem>, ServiceError> {
        let page = self.ports.store.alerts(actor.account, filter, sort, request).await?;
        Ok(self.items(page, extended))
    }

    fn items(&self, Page { items, total }: Page<StoredAlert>, extended: bool) -> Page<AlertItem> {
        let items = if extended {
            let stocks = self.stocks.stock_views(items.iter().map(|stored| stored.alert.symbol));
            let extend = |stored: StoredAlert| {
                let stock = stocks.get(&stored.alert.symbol).cloned();
                let stock = stock.filter(|_| stored.scope().is_none());
                let stock = stock.unwrap_or_else(|| self.stock_of(&stored));
                self.extended(stored, stock)
            };
            items.into_iter().map(extend).collect()
        } else {
            let now = self.ports.clock.now();
            self.evaluator.read(|engine| {
                let item = |stored| self.item(engine, stored, now);
                items.into_iter().map(item).collect()
            })
        };
        Page { items, total }
    }

    /// Returns an alert with its details.
    pub(super) fn detail(&self, stored: StoredAlert) -> AlertDetail {
        let now = self.ports.clock.now();
        let stored = as_of(stored, now);
        let (evaluation, condition_today) = self.evaluator.read(|engine| {
            let alert = &stored.alert;
            (self.evaluation(engine, alert, now), engine.condition_today(alert))
        });
        AlertDetail {
            stock: self.stock_of(&stored),
            evaluation,
            condition_today,
            stored,
        }
    }

    /// Returns the figures of the alert's stock; none of an alert over many stocks.
    fn stock_of(&self, stored: &StoredAlert) -> StockView {
        let mut stock = self.stocks.stock_view(stored.alert.symbol);
        if let Some(scope) = stored.scope() {
            stock.row.name = name_of_stocks(scope);
        }
        stock
    }

    fn item(&self, engine: &Engine, stored: StoredAlert, now: Timestamp) -> AlertItem {
        let stored = as_of(stored, now);
        let symbol = stored.alert.symbol;
        let observed = self.evaluator.last_observed_in(engine, symbol);
        AlertItem {
            stock_name: match stored.scope() {
                Some(scope) => name_of_stocks(scope),
                None => self.stocks.name_of(symbol),
            },
            last_price: observed.map(|observed| observed.price),
            extended: None,
            stored,
        }
    }

    fn extended(&self, stored: StoredAlert, stock: StockView) -> AlertItem {
        let now = self.ports.clock.now();
        let stored = as_of(stored, now);
        let (evaluation, condition_today, measured, last_evaluated_at) = self.evaluator.read(|engine| {
            let alert = &stored.alert;
            let measured = measure(engine, alert, stock.last_price, now);
            let observed = engine.observed_session(alert.symbol);
            (
                self.evaluation(engine, alert, now),
                engine.condition_today(alert),
                measured,
                observed.map(|so_far| so_far.last_at),
            )
        });
        AlertItem {
            stock_name: stock.row.name.clone(),
            last_price: stock.last_price,
            extended: Some(AlertProximity {
                evaluation,
                condition_today,
                last_evaluated_at,
                metric: measured.metric,
                distance_pct: measured.distance_pct,
                stock,
            }),
            stored,
        }
    }

    /// Returns an alert's evaluation state; `None` if it is not active.
    fn evaluation(&self, engine: &Engine, alert: &Alert, now: Timestamp) -> Option<Evaluation> {
        let is_active = alert.status == Status::Active;
        let evaluation = is_active
            .then(|| self.evaluator.evaluation_of(engine, alert, now))
            .flatten()?;
        Some(self.evaluator.with_future_state(alert, evaluation))
    }
}

/// Returns an alert as it is shown at an instant: a snooze that has ended is no option any more.
fn as_of(mut stored: StoredAlert, now: Timestamp) -> StoredAlert {
    stored.alert.options = stored.alert.options.without_ended_snooze(now);
    stored
}
