//! `POST /market/ingest`

use std::collections::BTreeMap;

use axum::extract::FromRequestParts;
use evaluation::market::{IngestReport, RowRejection, require_push_permission};
use http::request::Parts;

use crate::body::IngestJsonObject;
use crate::document::ingest_body::IngestBody;
use crate::routes::prelude::*;

/// Result of a push of market data.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Ingested)]
pub struct IngestResponse {
    /// Number of accepted elements of each kind.
    #[schema(example = json!({"quotes": 3}))]
    pub accepted: BTreeMap<&'static str, usize>,
    /// Rejected elements.
    pub rejected: Vec<RejectedElement>,
}

/// A rejected element.
#[derive(Debug, Serialize, ToSchema)]
pub struct RejectedElement {
    /// Name of the array that contains the element.
    #[schema(example = "quotes")]
    pub kind: &'static str,
    /// Index in that array, starting at 0.
    #[schema(minimum = 0, example = 1)]
    pub index: usize,
    /// Reason for the rejection.
    #[schema(example = "price must be above 0")]
    pub reason: String,
}

impl IngestResponse {
    fn of(answer: IngestReport) -> Self {
        let element = |RowRejection { kind, index, reason }| RejectedElement { kind, index, reason };
        Self {
            accepted: answer.accepted,
            rejected: answer.rejected.into_iter().map(element).collect(),
        }
    }
}

/// Extractor: an account that may push market data. Other requests are refused before their body is read.
pub(super) struct AuthorizedIngest(Authorized<MarketWrite>);

impl FromRequestParts<App> for AuthorizedIngest {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let caller = Authorized::from_request_parts(parts, app).await?;
        require_push_permission(&caller.actor)?;
        Ok(Self(caller))
    }
}

/// Push market data
///
/// For operators, with an API key that has the scope `market:write`. Each element is validated separately: an invalid element is
/// reported with its index and does not affect the others. Quotes take effect before the response is sent, and alerts they
/// fire are already in the history. Authorized requests are not rate limited. The body may have at most 32 MiB.
#[utoipa::path(
    post,
    path = "/market/ingest",
    tag = "Market",
    request_body(content = IngestBody, description = "One or more arrays of market data"),
    responses((status = 200, description = "The accepted and rejected elements", body = Envelope<IngestResponse>)),
    security(("ApiKeyHeader" = ["market:write"]))
)]
pub(super) async fn ingest_market_data(
    State(app): State<App>,
    AuthorizedIngest(caller): AuthorizedIngest,
    IngestJsonObject(body): IngestJsonObject,
) -> Result<ApiResponse<IngestResponse>, ApiError> {
    let answer = app.service().market.ingest_json(&caller.actor, &body).await?;
    Ok(ApiResponse::ok(IngestResponse::of(answer)))
}
