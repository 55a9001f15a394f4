//! The firings of an account, in their order, as they are written.

use std::sync::Arc;

use foundation::{Actor, ServiceError};
use service::alerts::EventPage;
use tokio::sync::watch;

use crate::state::App;

/// The number of firings that are read at once.
const FIRING_BATCH_SIZE: u32 = 100;

/// The firings of an account after a position. None is left out, and none comes twice.
#[derive(Debug)]
pub(crate) struct FiringFeed {
    app: App,
    actor: Arc<Actor>,
    /// The position up to which the firings were taken.
    position: i64,
    /// The position at which the history is complete.
    complete: watch::Receiver<i64>,
    needs_retry: bool,
}

impl FiringFeed {
    /// Creates a feed of the firings after a position; `None` is the present one.
    pub(crate) async fn new(app: App, actor: Arc<Actor>, after: Option<i64>) -> Result<Self, ServiceError> {
        let position = match after {
            Some(after) => after,
            None => app.service().alerts.event_position().await?,
        };
        let mut complete = app.history_watch().subscribe(app.service());
        // The history may have grown since the position was taken.
        complete.mark_changed();
        Ok(Self {
            app,
            actor,
            position,
            complete,
            needs_retry: false,
        })
    }

    /// Returns the position up to which the firings were taken.
    pub(crate) fn position(&self) -> i64 {
        self.position
    }

    /// Waits until there may be firings. Returns `false` when there will be none.
    pub(crate) async fn changed(&mut self) -> bool {
        self.complete.changed().await.is_ok()
    }

    /// Reads the next firings. They come again until [`Self::advance`] is called with them.
    pub(crate) async fn read(&mut self) -> Result<EventPage, ServiceError> {
        let complete = *self.complete.borrow_and_update();
        if complete <= self.position {
            return Ok(EventPage {
                events: Vec::new(),
                position: self.position,
            });
        }
        let alerts = &self.app.service().alerts;
        let position = self.position;
        alerts
            .events_through(&self.actor, position, complete, FIRING_BATCH_SIZE)
            .await
    }

    /// Continues after firings that were read.
    pub(crate) fn advance(&mut self, page: &EventPage) {
        self.position = page.position;
        if self.position < *self.complete.borrow() {
            self.complete.mark_changed();
        }
    }

    /// Has the firings read again later, because something has failed.
    pub(crate) fn schedule_retry(&mut self) {
        self.needs_retry = true;
    }

    /// Has the firings read again now if something has failed.
    pub(crate) fn retry_if_scheduled(&mut self) {
        if std::mem::take(&mut self.needs_retry) {
            self.complete.mark_changed();
        }
    }
}
