//! `GET /market/indices`

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::view::Mover;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, StocksRead};
use crate::error::ApiError;

/// Something that stands for a market.
#[derive(Debug, Serialize, ToSchema)]
pub struct Index {
    /// Its price.
    #[serde(flatten)]
    pub quote: Mover,
    /// What it is: `etf`, `index`, ...
    #[serde(rename = "type")]
    #[schema(required, example = "etf")]
    pub kind: Option<String>,
    /// Whether performance is compared with it.
    pub is_benchmark: bool,
}

/// List indices
///
/// What stands for the market as a whole: the benchmark that performance is compared with, first; then, by symbol, all that
/// the catalog calls an index, and well-known index funds (`SPY`, `VOO`, `IVV`, `QQQ`, `DIA`, `IWM`, `VTI`). Only what is in
/// the catalog and traded.
#[utoipa::path(
    get,
    path = "/market/indices",
    tag = "Market",
    responses((status = 200, description = "The indices", body = Envelope<Vec<Index>>)),
    security(("ApiKeyHeader" = ["stocks:read"]))
)]
pub(super) async fn list_indices(
    State(app): State<App>,
    _who: Allowed<StocksRead>,
) -> Result<Reply<Vec<Index>>, ApiError> {
    let service = app.service();
    let benchmark = service.market.benchmark();
    let indices = service.market.indices().into_iter().map(|listed| Index {
        kind: listed.row.kind.clone(),
        is_benchmark: listed.row.symbol == benchmark,
        quote: Mover::of(listed),
    });
    Ok(Reply::ok(indices.collect()))
}
