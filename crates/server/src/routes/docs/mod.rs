//! API documentation: the OpenAPI document and an HTML page.

pub mod openapi;
pub mod page;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::erased_handler::routes;
use crate::state::App;

pub(crate) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(openapi::get_openapi_json))
        .routes(routes!(openapi::get_openapi_yaml))
        .routes(routes!(page::get_docs))
        .routes(routes!(page::get_docs_style))
        .routes(routes!(page::get_docs_script))
}
