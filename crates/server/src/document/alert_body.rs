//! Bodies of alerts.
use utoipa::ToSchema;
/// create
#[derive(Debug, ToSchema)]
pub struct CreateAlert {}
/// update
#[derive(Debug, ToSchema)]
pub struct UpdateAlert {}
