//! The state of the service for an account.

pub mod latency;

use crate::routes::prelude::*;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(latency::get_latency))
}
