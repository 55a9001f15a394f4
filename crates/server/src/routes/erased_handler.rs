//! Handlers of one type.
//!
//! axum builds a dozen generic types around each handler, and for each of them the compiler checks again all that the handler's future
//! contains, down to the database. With one type for all handlers it does that once for each handler: this crate builds in 66 s instead of
//! 110 s. A request needs one more small allocation.

use std::pin::Pin;
use std::sync::Arc;

use axum::extract::Request;
use axum::handler::Handler;
use axum::response::Response;
use axum::routing::{self, MethodRouter};

use crate::state::App;

type ResponseFuture = Pin<Box<dyn Future<Output = Response> + Send>>;

/// A handler whose type says nothing about its parameters and its future.
#[derive(Clone)]
pub(super) struct ErasedHandler(Arc<dyn Fn(Request, App) -> ResponseFuture + Send + Sync>);

impl Handler<(), App> for ErasedHandler {
    type Future = ResponseFuture;

    fn call(self, request: Request, app: App) -> ResponseFuture {
        (self.0)(request, app)
    }
}

/// Erases the type of a handler.
pub(super) fn erased<P>(handler: impl Handler<P, App>) -> ErasedHandler {
    ErasedHandler(Arc::new(move |request, app| {
        Box::pin(handler.clone().call(request, app))
    }))
}

/// Routes `GET` to a handler.
pub(super) fn get<P>(handler: impl Handler<P, App>) -> MethodRouter<App> {
    routing::get(erased(handler))
}

/// Routes `POST` to a handler.
pub(super) fn post<P>(handler: impl Handler<P, App>) -> MethodRouter<App> {
    routing::post(erased(handler))
}

/// Collects handlers of one path, as [`utoipa_axum::routes`] does, and erases their types. It uses an arm of that macro which is not
/// documented: if a new version has changed it, this does not compile.
macro_rules! routes {
    ($($handler:path),+ $(,)?) => {{
        use ::utoipa_axum::PathItemExt as _;

        let mut schemas = Vec::new();
        let mut paths = ::utoipa::openapi::path::Paths::new();
        let mut methods = ::axum::routing::MethodRouter::new();
        $(
            let (path, operation, types) = ::utoipa_axum::routes!(@resolve_types $handler : schemas);
            for method in &types {
                let handler = $crate::routes::erased_handler::erased($handler);
                methods = methods.on(method.to_method_filter(), handler);
            }
            paths.add_path_operation(&path, types, operation);
        )+
        (schemas, paths, methods)
    }};
}

pub(super) use routes;
