//! Finds out who asks, once for a request. Whether that is enough, the endpoint decides.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;

use super::client::{self, Peer};
use super::limit::{self, Group};
use crate::app::App;
use crate::auth::{self, Credentials, Identity, SessionCookie};
use crate::error::Code;
use crate::routes::ops::metrics;

/// Puts the [`Identity`] into the request's extensions.
pub async fn layer(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let group = Group::of(path);
    if group.is_none() && path != metrics::PATH {
        return next.run(request).await;
    }
    let peer = request.extensions().get::<Peer>().copied();
    let address = client::address(peer, request.headers(), &app.settings().trusted_proxies);
    let look_ups = app.limiter().look_ups();
    let shown = match Credentials::of(request.headers(), SessionCookie::of(app.service())) {
        Ok(shown) => shown,
        // Headers of which nobody can say what they mean cost no look-up.
        Err(refusal) => {
            request.extensions_mut().insert(Identity::Refused(refusal));
            return next.run(request).await;
        }
    };
    let secret = app.settings().cron_secret.as_ref();
    let is_scheduler =
        group == Some(Group::Cron) && shown.bearer().is_some_and(|text| secret.is_some_and(|it| it.is(text)));
    if is_scheduler {
        request.extensions_mut().insert(Identity::Scheduler);
        return next.run(request).await;
    }
    let key = shown.to_look_up();
    if let Some(Err(used_up)) = key.map(|key| look_ups.admit(key, address, app.now())) {
        let (limit, seconds) = (used_up.rate_limit.limit, used_up.retry_after_s);
        let message = format!(
            "{limit} API keys that are not known were sent from this address within a minute; check the key, and try \
             again in {seconds} s"
        );
        return limit::refusal(&used_up, "look_ups", message);
    }
    let identity = auth::identify(&app, request.method(), request.headers(), shown).await;
    match (key, &identity) {
        (Some(key), Identity::Known(_)) => look_ups.found(key),
        // What is known and may not do this (403) is not unknown.
        (Some(key), Identity::Refused(error)) if error.code() == Code::Unauthorized => {
            look_ups.missed(key, address, app.now())
        }
        _ => {}
    }
    if let Identity::Known(actor) = &identity {
        tracing::Span::current().record("principal", tracing::field::display(actor.account.0));
    }
    request.extensions_mut().insert(identity);
    next.run(request).await
}
