//! The chain of layers.
//!
//! axum's `from_fn` clones all inner layers for each layer of each request. Here a request passes a list of functions instead, which
//! costs one allocation for each of them.

use axum::extract::{Request, State};
use axum::middleware;
use axum::response::Response;
use futures_util::future::BoxFuture;

use crate::state::App;

/// A function that every request passes. It runs the layers inside it by [`Next::run`].
pub(crate) type Layer = fn(App, Request, Next) -> BoxFuture<'static, Response>;

/// The inner layers, and the handler.
pub(crate) struct Next {
    app: App,
    layers: &'static [Layer],
    handler: middleware::Next,
}

impl Next {
    /// Returns the response of the inner layers and the handler.
    pub(crate) fn run(mut self, request: Request) -> BoxFuture<'static, Response> {
        match self.layers.split_first() {
            None => Box::pin(self.handler.run(request)),
            Some((layer, inner)) => {
                self.layers = inner;
                layer(self.app.clone(), request, self)
            }
        }
    }
}

/// Runs layers, the outermost first. For `axum::middleware::from_fn_with_state`.
pub(crate) async fn run_layers(
    State((app, layers)): State<(App, &'static [Layer])>,
    request: Request,
    handler: middleware::Next,
) -> Response {
    let next = Next { app, layers, handler };
    next.run(request).await
}

/// Returns a list of layers from the functions `layer` of modules.
macro_rules! layers {
    ($($layer:path),* $(,)?) => {
        &[$(|app, request, next| Box::pin($layer(app, request, next))),*]
    };
}
pub(crate) use layers;
