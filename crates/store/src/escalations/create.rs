//! Creates escalations in the transaction of their firings.

use std::collections::HashSet;

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

/// A row of an escalation.
struct NewEscalation {
    event_seq: i64,
    account: Uuid,
    current: Uuid,
    next_channels: String,
    ack_timeout: Option<i64>,
    due_at: Option<i64>,
    at: i64,
}

impl NewEscalation {
    /// `None` for a firing without further channels. `deliveries` are those of the firings.
    fn of(event: &FiredEvent<'_>, deliveries: &HashSet<Uuid>) -> Option<Self> {
        let RoutePlan { channels, delivery } = event.route?;
        let RouteDelivery::Failover { ack_timeout } = delivery else {
            return None;
        };
        let (first, next) = channels.split_first()?;
        if next.is_empty() {
            return None;
        }
        let ack_timeout = ack_timeout.map(|timeout| timeout.duration().as_micros());
        let ack_timeout = ack_timeout.and_then(|micros| i64::try_from(micros).ok());
        let current = first.current_id(EventId(event.event));
        // The webhook may have been disabled while the firing was prepared.
        let is_lost = matches!(first.target, RoutedTarget::Webhook(_)) && !deliveries.contains(&current);
        Some(Self {
            event_seq: event.event_seq,
            account: event.account?,
            current,
            next_channels: next_channels_column(next.iter().map(|channel| channel.seq)),
            ack_timeout,
            due_at: match is_lost {
                true => Some(event.at),
                false => ack_timeout.map(|timeout| event.at.saturating_add(timeout)),
            },
            at: event.at,
        })
    }
}

impl UnitOfWork {
    /// Creates the escalations of firings, whose deliveries have been created.
    pub(crate) async fn create_escalations(
        &mut self,
        events: &[FiredEvent<'_>],
        deliveries: &HashSet<Uuid>,
    ) -> Result<(), StoreError> {
        let new = events.iter().filter_map(|event| NewEscalation::of(event, deliveries));
        let new: Vec<NewEscalation> = new.collect();
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
                .bind(new.due_at)
                .bind(new.at)
        });
        self.wake_escalations();
        Ok(())
    }
}
