//! Idempotent requests that this process is handling.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use service::idempotency::IdempotentRequest;
use tokio::sync::watch;

/// The idempotent requests of this process that are in progress.
#[derive(Clone, Debug, Default)]
pub struct InFlightRequests(Arc<Mutex<HashMap<IdempotentRequest, watch::Receiver<()>>>>);

/// Removes a request from the requests in progress when dropped, and wakes waiting repeats.
pub(crate) struct InFlightGuard {
    in_flight: InFlightRequests,
    request: IdempotentRequest,
    _wakes: watch::Sender<()>,
}

impl InFlightRequests {
    pub(crate) fn begin(&self, request: IdempotentRequest) -> InFlightGuard {
        let (wakes, done) = watch::channel(());
        self.lock().insert(request, done);
        InFlightGuard {
            in_flight: self.clone(),
            request,
            _wakes: wakes,
        }
    }

    pub(crate) fn find(&self, request: &IdempotentRequest) -> Option<watch::Receiver<()>> {
        self.lock().get(request).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IdempotentRequest, watch::Receiver<()>>> {
        // A panic elsewhere leaves the map consistent, because each change is one insertion or removal.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.in_flight.lock().remove(&self.request);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn waiting_repeat_wakes_when_the_first_request_finishes() {
        let in_flight = InFlightRequests::default();
        let account = service::AccountId(uuid::Uuid::from_u128(1));
        let via = foundation::AuthMethod::Session {
            id: accounts::identity::SessionId(uuid::Uuid::from_u128(2)),
            credential: foundation::CredentialKind::Token,
        };
        let request = IdempotentRequest::new(account, &via, "/v1/alerts", "one", b"{}");
        let finished = in_flight.begin(request);
        let mut waiting = in_flight.find(&request).unwrap();
        let waiter = tokio::spawn(async move { waiting.changed().await.is_err() });
        tokio::task::yield_now().await;
        assert!(!waiter.is_finished());
        drop(finished);
        assert!(waiter.await.unwrap());
        assert!(in_flight.find(&request).is_none());
    }
}
