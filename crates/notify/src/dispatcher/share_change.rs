//! The change of a share: the scheduler gives up endpoints, and its parts of the bounds change.

use super::EndpointShare;
use super::endpoint_queue::QueuePosition;
use super::scheduler::Scheduler;

impl<J> Scheduler<J> {
    /// Changes the share. Deliveries that wait for endpoints of other dispatchers are released, and those dispatchers claim them.
    /// Attempts in progress end here.
    pub(super) fn set_share(&mut self, share: EndpointShare) {
        if share == self.share {
            return;
        }
        self.hosts.set_max(share.part_of(self.limits.max_attempts_per_host));
        self.accounts
            .set_max(share.part_of(self.limits.max_attempts_per_account));
        self.share = share.clone();
        for (id, queue) in &mut self.queues {
            if !share.has(*id) {
                queue.has_due = false;
                queue.due_again = false;
                queue.claim_position = QueuePosition::NotQueued;
                queue.claim_ticket = None;
            }
        }
        self.release_if(|held| !share.has(held.claimed.endpoint));
        self.unpark_all();
    }

    /// Unparks endpoints that have a free slot: their bound may be higher now, and those that were parked before them may belong to other
    /// dispatchers.
    fn unpark_all(&mut self) {
        for host in self.hosts.keys() {
            self.unpark_host(&host);
            self.unpark_claims(&host);
        }
        for account in self.accounts.keys() {
            self.unpark_account(account);
        }
    }
}
