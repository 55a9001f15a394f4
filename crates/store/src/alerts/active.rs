//! Reads all active alerts, at a start and for the comparison with the engine.
//!
//! A start reads millions of them, so the rows have only the columns that the engine evaluates.

use alerts::{AlertId, ConditionKind, EvaluatedAlert, Revision, restore};
use jiff::Timestamp;
use market::{Decimal, Symbol};
use uuid::Uuid;

use super::row::{TABLE, of_alert, parse_lifecycle, parse_options, parse_side};
use crate::columns::json_list;
use crate::database::{Either, STREAM_CHUNK_ROWS, in_chunks, query, stream};
use crate::sqlite::{self, row};
use crate::{Store, StoreError};

row! {
    /// The columns of an active alert that the engine evaluates.
    struct ActiveAlertRow {
        id: Uuid,
        revision: i64,
        symbol: String,
        condition: String,
        threshold: Option<i64>,
        moment: Option<i64>,
        parameters: Option<String>,
        initial_price: Option<i64>,
        armed_at: i64,
        threshold_set_at: i64,
        triggered_at: Option<i64>,
        rsi_side: Option<String>,
        options: Option<String>,
        lifecycle: Option<String>,
    }
}

impl ActiveAlertRow {
    fn alert(&self) -> Result<EvaluatedAlert, StoreError> {
        let kind = TABLE.parse("condition", &self.condition, ConditionKind::from_name)?;
        let parameters = self.parameters.as_deref().filter(|_| restore::has_parameters(kind));
        let parameters = TABLE.optional_object(parameters)?;
        let threshold = self.threshold.map(Decimal::from_micros);
        let moment = TABLE.optional_instant(self.moment)?;
        let condition = restore::condition(kind, threshold, parameters.as_ref(), moment);
        let rsi_side = self.rsi_side.as_deref();
        let lifecycle = self.lifecycle.as_deref().map(parse_lifecycle).transpose();
        Ok(EvaluatedAlert {
            id: AlertId(self.id),
            revision: Revision(TABLE.narrow("revision", self.revision)?),
            symbol: TABLE.symbol(&self.symbol)?,
            condition: condition.map_err(|error| TABLE.corrupt(error))?,
            initial_price: TABLE.optional_price(self.initial_price)?,
            rsi_side: rsi_side
                .map(|name| TABLE.parse("rsi_side", name, parse_side))
                .transpose()?,
            armed_at: TABLE.instant(self.armed_at)?,
            threshold_set_at: TABLE.instant(self.threshold_set_at)?,
            triggered_at: TABLE.optional_instant(self.triggered_at)?,
            options: parse_options(self.options.as_deref())?,
            lifecycle: lifecycle.map_err(|error| TABLE.corrupt(error))?.map(Box::new),
        })
    }
}

impl TryFrom<ActiveAlertRow> for EvaluatedAlert {
    type Error = StoreError;

    fn try_from(row: ActiveAlertRow) -> Result<Self, StoreError> {
        row.alert().map_err(|error| of_alert(row.id, error))
    }
}

row! {
    /// An alert's id and revision.
    struct RevisionRow {
        id: Uuid,
        revision: i64,
    }
}

impl TryFrom<RevisionRow> for (AlertId, Revision) {
    type Error = StoreError;

    fn try_from(row: RevisionRow) -> Result<Self, StoreError> {
        Ok((AlertId(row.id), Revision(TABLE.narrow("revision", row.revision)?)))
    }
}

macro_rules! select_active {
    ($rest:literal) => {
        select_active!("", $rest)
    };
    ($index:literal, $rest:literal) => {
        concat!(
            "SELECT id, revision, symbol, condition, threshold, moment, parameters, initial_price, armed_at, \
             threshold_set_at, triggered_at, rsi_side, options, lifecycle \
             FROM alerts ",
            $index,
            "WHERE status = 'active' AND deleted_at IS NULL AND scope IS NULL ",
            $rest
        )
    };
}

impl Store {
    /// Reads all active alerts in order of creation, as one consistent snapshot. Passes them to `take` in chunks.
    pub async fn active_alerts(&self, take: &mut (dyn FnMut(Vec<EvaluatedAlert>) + Send)) -> Result<(), StoreError> {
        stream!(ActiveAlertRow, &self.pools, take, select_active!("ORDER BY seq"))
    }

    /// Reads the active alerts that were armed after an instant, like [`Self::active_alerts`].
    pub async fn active_alerts_armed_after(
        &self,
        instant: Timestamp,
        take: &mut (dyn FnMut(Vec<EvaluatedAlert>) + Send),
    ) -> Result<(), StoreError> {
        let sql = select_active!("AND armed_at > $1 ORDER BY seq");
        stream!(ActiveAlertRow, &self.pools, take, sql, instant.as_microsecond())
    }

    /// Reads the active alerts of some stocks in any order, like [`Self::active_alerts`].
    pub async fn active_alerts_of_symbols(
        &self,
        symbols: &[Symbol],
        take: &mut (dyn FnMut(Vec<EvaluatedAlert>) + Send),
    ) -> Result<(), StoreError> {
        let symbols: Vec<String> = symbols.iter().map(|symbol| symbol.as_str().to_owned()).collect();
        match &self.pools {
            Either::Lite(pool) => {
                let sql = select_active!(
                    "INDEXED BY alerts_of_symbol ",
                    "AND symbol IN (SELECT value FROM json_each($1))"
                );
                let query = sqlite::query(sql).bind(json_list(&symbols));
                sqlite::in_chunks::<ActiveAlertRow, _>(pool, query, STREAM_CHUNK_ROWS, take).await
            }
            Either::Pg(pool) => {
                let query = sqlx::query_as::<_, ActiveAlertRow>(select_active!("AND symbol = ANY ($1)"));
                in_chunks(query.bind(symbols).fetch(pool), take).await
            }
        }
    }

    /// Reads the active alerts with an expression, which may name other stocks, like [`Self::active_alerts`].
    pub async fn active_expressions(
        &self,
        take: &mut (dyn FnMut(Vec<EvaluatedAlert>) + Send),
    ) -> Result<(), StoreError> {
        let sql = select_active!("AND condition = 'expression'");
        stream!(ActiveAlertRow, &self.pools, take, sql)
    }

    /// Returns the number of active alerts on each stock that has any. It reads every active alert.
    pub async fn active_alerts_per_stock(&self) -> Result<Vec<(Symbol, u64)>, StoreError> {
        let sql = "SELECT symbol, COUNT(*) FROM alerts
                   WHERE status = 'active' AND deleted_at IS NULL AND scope IS NULL GROUP BY symbol";
        let rows = query!(fetch_all(String, i64), &self.pools, sql)?.into_iter();
        rows.map(|(symbol, count)| Ok((TABLE.symbol(&symbol)?, u64::try_from(count).unwrap_or_default())))
            .collect()
    }

    /// Reads the revisions of all active alerts in chunks, for comparison with the engine.
    pub async fn active_revisions(
        &self,
        take: &mut (dyn FnMut(Vec<(AlertId, Revision)>) + Send),
    ) -> Result<(), StoreError> {
        let sql = "SELECT id, revision FROM alerts WHERE status = 'active' AND deleted_at IS NULL AND scope IS NULL ORDER BY seq";
        stream!(RevisionRow, &self.pools, take, sql)
    }
}
