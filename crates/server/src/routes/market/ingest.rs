//! `POST /market/ingest`

use std::collections::BTreeMap;

use axum::extract::{FromRequestParts, State};
use http::request::Parts;
use serde::Serialize;
use service::market::{IngestAnswer, NotIngested, may_push};
use utoipa::ToSchema;

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, MarketWrite};
use crate::body::PushedObject;
use crate::document::ingest_body::IngestBody;
use crate::error::ApiError;

/// What became of market data that was pushed.
#[derive(Debug, Serialize, ToSchema)]
pub struct Ingested {
    /// How many elements of each kind were taken in.
    #[schema(example = json!({"quotes": 3}))]
    pub accepted: BTreeMap<&'static str, usize>,
    /// The others.
    pub rejected: Vec<RejectedElement>,
}

/// An element that could not be taken in.
#[derive(Debug, Serialize, ToSchema)]
pub struct RejectedElement {
    /// The array it stands in.
    #[schema(example = "quotes")]
    pub kind: &'static str,
    /// Its place there; the first is 0.
    #[schema(minimum = 0, example = 1)]
    pub index: usize,
    /// What is wrong with it.
    #[schema(example = "price must be above 0")]
    pub reason: String,
}

impl Ingested {
    fn of(answer: IngestAnswer) -> Self {
        let element = |NotIngested { kind, index, reason }| RejectedElement { kind, index, reason };
        Self {
            accepted: answer.accepted,
            rejected: answer.rejected.into_iter().map(element).collect(),
        }
    }
}

/// Somebody who may push market data. Whoever may not is refused here, before the body is read.
pub(super) struct Pusher(Allowed<MarketWrite>);

impl FromRequestParts<App> for Pusher {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let who = Allowed::from_request_parts(parts, app).await?;
        may_push(&who.actor)?;
        Ok(Self(who))
    }
}

/// Push market data
///
/// For operators: with a key that has the scope `market:write`. Each element is judged by itself; a bad one is
/// answered with its place and costs no other. Quotes take effect before the answer: what they fire is in history by
/// then. Not rate limited for those who may. At most 32 MiB.
#[utoipa::path(
    post,
    path = "/market/ingest",
    tag = "Market",
    request_body(content = IngestBody, description = "Any of the arrays"),
    responses((status = 200, description = "What was taken in, and what was not", body = Envelope<Ingested>)),
    security(("ApiKeyHeader" = ["market:write"]))
)]
pub(super) async fn ingest_market_data(
    State(app): State<App>,
    Pusher(who): Pusher,
    PushedObject(body): PushedObject,
) -> Result<Reply<Ingested>, ApiError> {
    let answer = app.service().market.ingest_json(&who.actor, &body).await?;
    Ok(Reply::ok(Ingested::of(answer)))
}
