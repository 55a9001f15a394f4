//! `GET /market/top-movers`

use axum::extract::State;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::view::{CoverageView, Mover};
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, StocksRead};
use crate::error::ApiError;
use crate::query::Query;
use crate::values::date;

const DEFAULT_LIMIT: u32 = 10;
const MAX_LIMIT: u32 = 50;

/// How many.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct TopMoversParams {
    /// At most so many in each list; more than 50 are cut to 50.
    #[param(value_type = Option<u64>, minimum = 1, default = 10)]
    limit: Option<u32>,
}

/// Who moved the most.
#[derive(Debug, Serialize, ToSchema)]
pub struct TopMovers {
    /// The session that it is about, the latest of which prices are known; null while none is.
    #[schema(required, format = Date, example = "2026-03-02")]
    pub date: Option<String>,
    /// How many companies are compared, of how many.
    pub coverage: CoverageView,
    /// Those that rose, the most (in percent) first.
    pub gainers: Vec<Mover>,
    /// Those that fell, the most (in percent) first.
    pub losers: Vec<Mover>,
    /// Those that were traded, the most (in shares) first.
    pub most_active: Vec<Mover>,
}

/// List top movers
///
/// The companies of the catalog that moved the most in the latest session of which prices are known; equals come by symbol.
/// Funds and indices are left out, and so is what is not traded any more, was not seen in that session, or has no close of
/// the one before.
#[utoipa::path(
    get,
    path = "/market/top-movers",
    tag = "Market",
    params(TopMoversParams),
    responses((status = 200, description = "Who moved the most", body = Envelope<TopMovers>)),
    security(("ApiKeyHeader" = ["stocks:read"]))
)]
pub(super) async fn list_top_movers(
    State(app): State<App>,
    _who: Allowed<StocksRead>,
    mut query: Query,
) -> Result<Reply<TopMovers>, ApiError> {
    let limit = query.limit(DEFAULT_LIMIT, MAX_LIMIT);
    query.finish()?;
    let movers = app
        .service()
        .market
        .top_movers(usize::try_from(limit).unwrap_or(usize::MAX));
    let all = |movers: Vec<_>| movers.into_iter().map(Mover::of).collect();
    Ok(Reply::ok(TopMovers {
        date: movers.session.map(date),
        coverage: CoverageView::of(movers.coverage),
        gainers: all(movers.gainers),
        losers: all(movers.losers),
        most_active: all(movers.most_active),
    }))
}
