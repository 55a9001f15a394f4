//! Tells open event streams when the history of alerts has grown.
//!
//! Another process of this service may have written, so one task reads the position from the database. It runs while there are
//! streams.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use service::Service;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

/// The time between two reads of the position. A firing is visible within 200 ms of its commit.
const READ_INTERVAL: Duration = Duration::from_millis(50);

/// The position of the history, shared by all event streams of this process.
#[derive(Clone, Debug, Default)]
pub(crate) struct HistoryWatch(Arc<Mutex<Weak<watch::Sender<i64>>>>);

impl HistoryWatch {
    /// Returns a receiver of the position, which is 0 until it has been read.
    pub(crate) fn subscribe(&self, service: &Service) -> watch::Receiver<i64> {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = current.upgrade() {
            return sender.subscribe();
        }
        let (sender, receiver) = watch::channel(0);
        let sender = Arc::new(sender);
        *current = Arc::downgrade(&sender);
        tokio::spawn(self.clone().read_until_unused(service.clone(), sender));
        receiver
    }

    async fn read_until_unused(self, service: Service, sender: Arc<watch::Sender<i64>>) {
        let mut reads = interval(READ_INTERVAL);
        reads.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            reads.tick().await;
            {
                // The lock keeps a new stream from subscribing to a sender that is about to end.
                let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                if sender.receiver_count() == 0 {
                    *current = Weak::new();
                    return;
                }
            }
            // A failed read is repeated. Requests report that the database fails.
            if let Ok(position) = service.alerts.event_position().await {
                sender.send_if_modified(|current| std::mem::replace(current, position) != position);
            }
        }
    }
}
