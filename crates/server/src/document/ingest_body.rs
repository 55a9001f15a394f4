//! Bodies of ingest.
use utoipa::ToSchema;
/// ingest
#[derive(Debug, ToSchema)]
pub struct IngestBody {}
