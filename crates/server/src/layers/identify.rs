//! Finds out who asks, once for a request. Whether that is enough, the endpoint decides.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;

use super::limit::Group;
use crate::app::App;
use crate::auth::{self, Identity};

/// Puts the [`Identity`] into the request's extensions.
pub async fn layer(State(app): State<App>, mut request: Request, next: Next) -> Response {
    if Group::of(request.uri().path()).is_none() {
        return next.run(request).await;
    }
    let identity = auth::identify(&app, request.headers()).await;
    if let Identity::Known(actor) = &identity {
        tracing::Span::current().record("principal", tracing::field::display(actor.account.0));
    }
    request.extensions_mut().insert(identity);
    next.run(request).await
}
