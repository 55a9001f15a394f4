//! Calls to the outbox: polls, claims and settlements, and their replies.

use std::sync::Arc;

use jiff::Timestamp;

use super::EventLoop;
use crate::dispatcher::outbox_call::{OutboxFailed, call_outbox};
use crate::dispatcher::{ClaimParams, ClaimedJob, DueEndpoint, Outbox, SettledJob, Transport};
use crate::schedule::NextStep;
use clock::later;

/// Maximum number of endpoints that one poll of the outbox returns.
const ENDPOINTS_PER_POLL: u32 = 4_096;

/// Maximum number of retry times that are kept in memory.
const MAX_RETRY_TIMES: usize = 16_384;

/// The reply of the outbox to a call.
pub(super) enum OutboxReply<O: Outbox> {
    DueEndpoints(Result<Vec<DueEndpoint>, OutboxFailed>),
    Claimed(usize, ClaimParams, Result<Vec<ClaimedJob<O::Job>>, OutboxFailed>),
    Settled(Vec<SettledJob<O::Report>>, Result<(), OutboxFailed>),
}

impl<O, T> EventLoop<O, T>
where
    O: Outbox,
    T: Transport<Job = O::Job, Report = O::Report>,
{
    /// Starts a poll of the outbox for endpoints with due deliveries, if it is time for one.
    pub(super) fn poll_outbox(&mut self, now: Timestamp) {
        if self.is_polling {
            return;
        }
        let after = if let Some(last) = self.poll_after.take() {
            last
        } else if self.is_woken || now >= self.poll_at {
            self.is_woken = false;
            self.poll_at = later(now, self.dispatcher.limits.poll_interval);
            while let Some(at) = self.retry_times.first().copied() {
                if at > now {
                    self.poll_at = self.poll_at.min(at);
                    break;
                }
                self.retry_times.pop_first();
            }
            i64::MIN
        } else {
            return;
        };
        self.is_polling = true;
        let outbox = Arc::clone(&self.dispatcher.outbox);
        self.replies.spawn(async move {
            let poll = async { outbox.due_endpoints(after, ENDPOINTS_PER_POLL).await };
            OutboxReply::DueEndpoints(call_outbox("due_endpoints", poll).await)
        });
    }

    pub(super) fn claim(&mut self, index: usize, params: ClaimParams) {
        let outbox = Arc::clone(&self.dispatcher.outbox);
        self.replies.spawn(async move {
            let claimed = call_outbox("claim", async { outbox.claim(&params).await }).await;
            OutboxReply::Claimed(index, params, claimed)
        });
    }

    /// Settles finished and released deliveries in one batch.
    pub(super) fn settle(&mut self, now: Timestamp) {
        for held in self.scheduler.take_released() {
            self.unsettled.push(SettledJob {
                key: held.claimed.key,
                endpoint: held.claimed.endpoint,
                lease: held.lease,
                caused_at: held.claimed.caused_at,
                report: None,
                next: NextStep::Released,
            });
        }
        if self.settling > 0 || self.unsettled.is_empty() || now < self.outbox_paused_until {
            return;
        }
        let count = self.unsettled.len().min(self.settle_batch_size);
        let batch: Vec<_> = self.unsettled.drain(..count).collect();
        self.settling = batch.len();
        let outbox = Arc::clone(&self.dispatcher.outbox);
        self.replies.spawn(async move {
            let settled = call_outbox("settle", async { outbox.settle(&batch).await }).await;
            OutboxReply::Settled(batch, settled)
        });
    }

    pub(super) fn handle_reply(&mut self, reply: Option<OutboxReply<O>>) {
        let now = self.dispatcher.time.now();
        let failed = match reply {
            Some(OutboxReply::DueEndpoints(found)) => {
                self.is_polling = false;
                found.map(|endpoints| self.endpoints_found(&endpoints, now)).is_err()
            }
            Some(OutboxReply::Claimed(index, params, claimed)) => {
                self.is_claiming[index] = false;
                let failed = claimed.is_err();
                match claimed {
                    Ok(claimed) => self.scheduler.claim_succeeded(&params, claimed),
                    Err(OutboxFailed) => self.scheduler.claim_failed(&params),
                }
                failed
            }
            Some(OutboxReply::Settled(batch, settled)) => {
                self.settling = 0;
                let max = self.dispatcher.limits.settle_batch_size;
                match settled {
                    Ok(()) => {
                        self.settle_batch_size = self.settle_batch_size.saturating_mul(2).min(max);
                        self.batch_settled(&batch);
                    }
                    Err(OutboxFailed) => {
                        self.settle_batch_size = (batch.len() / 2).max(1);
                        self.unsettled.extend(batch);
                    }
                }
                settled.is_err()
            }
            None => false,
        };
        if failed {
            self.outbox_paused_until = later(now, self.dispatcher.limits.outbox_retry_delay);
            self.is_woken = true;
        }
    }

    /// Schedules polls for the retries in a settled batch. This happens after the batch is written, as an earlier poll would not
    /// find them.
    fn batch_settled(&mut self, batch: &[SettledJob<O::Report>]) {
        for settled in batch {
            match settled.next {
                NextStep::Released => self.is_woken = true,
                NextStep::RetryAt(at) => {
                    self.poll_at = self.poll_at.min(at);
                    self.retry_times.insert(at);
                    // The regular polls find the retries that are dropped here.
                    if self.retry_times.len() > MAX_RETRY_TIMES {
                        self.retry_times.pop_last();
                    }
                }
                NextStep::Delivered | NextStep::GivenUp | NextStep::DisableEndpoint => {}
            }
        }
    }

    fn endpoints_found(&mut self, endpoints: &[DueEndpoint], now: Timestamp) {
        // The pages have the endpoints of all dispatchers, so only an incomplete page is the last one.
        for due in endpoints {
            if !self.scheduler.share.has(due.endpoint) {
                continue;
            }
            if due.first_due <= now {
                self.scheduler.mark_due(due.endpoint);
            } else {
                self.poll_at = self.poll_at.min(due.first_due);
            }
        }
        let is_last_page = endpoints.len() < usize::try_from(ENDPOINTS_PER_POLL).unwrap_or(usize::MAX);
        self.poll_after = endpoints.last().filter(|_| !is_last_page).map(|last| last.endpoint);
    }
}
