//! Authenticates each request once. The endpoint decides whether the identity is sufficient.

use axum::extract::Request;
use axum::response::Response;

use super::chain::Next;
use super::client;
use super::rate_limit;
use crate::auth::{self, Credentials, Identity, SessionCookie};
use crate::error::ApiErrorCode;
use crate::rate_limiter::RateLimitGroup;
use crate::routes::ops::metrics;
use crate::state::App;

/// Puts the [`Identity`] into the request's extensions.
pub(crate) async fn layer(app: App, mut request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let group = RateLimitGroup::of(path);
    if group.is_none() && path != metrics::PATH {
        return next.run(request).await;
    }
    let address = client::address_of(request.extensions(), request.headers(), &app);
    let failed_auth = app.rate_limiter().failed_api_auth();
    let credentials = match Credentials::from_headers(request.headers(), SessionCookie::of(app.service())) {
        Ok(credentials) => credentials,
        // Contradictory credentials cost no database look-up.
        Err(refusal) => {
            request.extensions_mut().insert(Identity::Rejected(refusal));
            return next.run(request).await;
        }
    };
    let secret = app.settings().cron_secret.as_ref();
    let is_scheduler = group == Some(RateLimitGroup::Cron)
        && credentials
            .header_secret()
            .is_some_and(|text| secret.is_some_and(|it| it.matches(text)));
    if is_scheduler {
        request.extensions_mut().insert(Identity::Scheduler);
        return next.run(request).await;
    }
    let key = credentials.lookup_key();
    if let Some(Err(decision)) = key.map(|key| failed_auth.check(key, address, app.now())) {
        let (limit, seconds) = (decision.rate_limit.limit, decision.retry_after_s);
        let message = format!(
            "{limit} unknown API keys were sent from this address within a minute; check the key, and try again in \
             {seconds} s"
        );
        return rate_limit::too_many_requests(&decision, "look_ups", message);
    }
    let identity = auth::identify(&app, request.method(), request.headers(), credentials).await;
    match (key, &identity) {
        (Some(key), Identity::Authenticated(_)) => failed_auth.record_success(key),
        // A 403 is a known credential without permission, so it does not count as a failure.
        (Some(key), Identity::Rejected(error)) if error.code() == ApiErrorCode::Unauthorized => {
            failed_auth.record_failure(key, address, app.now())
        }
        _ => {}
    }
    if let Identity::Authenticated(actor) = &identity {
        tracing::Span::current().record("principal", tracing::field::display(actor.account.0));
    }
    request.extensions_mut().insert(identity);
    next.run(request).await
}
