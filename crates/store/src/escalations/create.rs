//! Creates escalations in the transaction of their firings.

use alerts::routing::RouteDelivery;
use uuid::Uuid;

use super::row::next_channels_column;
use crate::bulk::{Statement, write_many};
use crate::model::EventId;
use crate::queue::create::FiredEvent;
use crate::routes::{RoutePlan, RoutedTarget};
use crate::{StoreError, UnitOfWork};

const INSERT: Statement = Statement {
    before: "INSERT INTO escalations (event_seq, account_id, current_id, next_channels, ack_timeout, due_at, created_at) VALUES ",
    columns: 7,
    after: "",
};

/// Makes escalations due whose first channel is a webhook that was disabled while the firing was prepared.
const WITHOUT_DELIVERY: Statement = Statement {
    before: "WITH fired (event_seq, at) AS (VALUES ",
    columns: 2,
    after: ") UPDATE escalations SET due_at = fired.at FROM fired WHERE escalations.event_seq = fired.event_seq
            AND NOT EXISTS (SELECT 1 FROM deliveries WHERE deliveries.id = escalations.current_id)",
};

/// A row of an escalation.
struct NewEscalation {
    event_seq: i64,
    account: Uuid,
    current: Uuid,
    next_channels: String,
    ack_timeout: Option<i64>,
    at: i64,
    is_at_webhook: bool,
}

impl NewEscalation {
    fn of(event: &FiredEvent<'_>) -> Option<Self> {
        let RoutePlan { channels, delivery } = event.route?;
        let RouteDelivery::Failover { ack_timeout } = delivery else {
            return None;
        };
        let (first, next) = channels.split_first()?;
        if next.is_empty() {
            return None;
        }
        let ack_timeout = ack_timeout.map(|timeout| timeout.duration().as_micros());
        Some(Self {
            event_seq: event.event_seq,
            account: event.account?,
            current: first.current_id(EventId(event.event)),
            next_channels: next_channels_column(next.iter().map(|channel| channel.seq)),
            ack_timeout: ack_timeout.and_then(|micros| i64::try_from(micros).ok()),
            at: event.at,
            is_at_webhook: matches!(first.target, RoutedTarget::Webhook(_)),
        })
    }
}

impl UnitOfWork {
    /// Creates the escalations of firings. To be called after their deliveries are created.
    pub(crate) async fn create_escalations(&mut self, events: &[FiredEvent<'_>]) -> Result<(), StoreError> {
        let new: Vec<NewEscalation> = events.iter().filter_map(NewEscalation::of).collect();
        if new.is_empty() {
            return Ok(());
        }
        write_many!(self, INSERT, &new, |query, new| {
            query
                .bind(new.event_seq)
                .bind(new.account)
                .bind(new.current)
                .bind(new.next_channels.as_str())
                .bind(new.ack_timeout)
                .bind(new.ack_timeout.map(|timeout| new.at.saturating_add(timeout)))
                .bind(new.at)
        });
        let at_webhook: Vec<&NewEscalation> = new.iter().filter(|new| new.is_at_webhook).collect();
        write_many!(self, WITHOUT_DELIVERY, &at_webhook, |query, new| query
            .bind(new.event_seq)
            .bind(new.at));
        self.wake_escalations();
        Ok(())
    }
}
