//! Folding: what is too much for a channel goes out as one message that lists many firings.
//!
//! In the transaction that claims messages, the claimed ones are grouped by their channel ([`candidates`]), together with what was sent
//! within the last minute and what else is due ([`traffic`]). [`plan`] decides which of them are sent separately, folded into one, or
//! held back. [`write`](mod@write) does it: the oldest folded message is sent, and the others name it in `folded_into`. They have the status
//! `folded` until it is finished, and then its result ([`follow`]). If it is held back before its first attempt, for instance by
//! quiet hours, they wait beside it again. So nothing is dropped, and each firing names the message that it went out in.
//!
//! Messages of guests and copies that are sent again are sent as they are. Urgent firings are folded among themselves, and only if
//! they are due at one moment; digests, budgets and former messages do not hold them back.

mod candidates;
mod follow;
mod listed;
mod plan;
mod traffic;
mod write;

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use crate::model::{ClaimQuery, MessageChannel};
use crate::{StoreError, UnitOfWork};
use candidates::Group;

/// The outcome of a copy that is sent again, until it is sent.
pub(super) const RESENT: &str = "resent";

/// A claim whose messages are folded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoldingClaim {
    pub(crate) channel: MessageChannel,
    pub(crate) now: Timestamp,
    /// The lease of the claim and its end.
    pub(crate) lease: i64,
    pub(crate) until: Timestamp,
    /// The number of messages to one channel within a minute that are sent separately, unless the channel has its own.
    pub(crate) burst_limit: u32,
}

impl FoldingClaim {
    pub(crate) const fn new(channel: MessageChannel, query: &ClaimQuery, burst_limit: u32) -> Self {
        Self {
            channel,
            now: query.now,
            lease: query.lease,
            until: query.until,
            burst_limit,
        }
    }
}

impl UnitOfWork {
    /// Folds or holds back claimed messages, and others that are due for the same channels. Returns the messages to send.
    pub(crate) async fn fold_messages(
        &mut self,
        claim: &FoldingClaim,
        claimed: Vec<i64>,
    ) -> Result<Vec<i64>, StoreError> {
        let mut groups = self.candidate_groups(&claimed).await?;
        if groups.is_empty() {
            return Ok(claimed);
        }
        self.read_traffic(claim, &mut groups).await?;
        let mut to_send: HashSet<i64> = claimed.into_iter().collect();
        let mut sent: HashMap<(i64, Option<i64>), i64> = HashMap::new();
        // The urgent ones, which are not held back, come first. The others of their channel are counted after them.
        groups.sort_by_key(|group| !group.key.is_urgent);
        for group in &mut groups {
            let sent = sent.entry(group.key.channel()).or_default();
            group.traffic.leased += *sent;
            let is_changed = self.fold_group(claim, group, &mut to_send).await?;
            let separate = group.messages.iter().filter(|message| to_send.contains(&message.seq));
            *sent += i64::try_from(separate.count()).unwrap_or(i64::MAX);
            if is_changed {
                // The dispatcher regards an endpoint as empty that returns fewer messages than it asked for.
                self.wake(claim.channel.into());
            }
        }
        Ok(to_send.into_iter().collect())
    }

    /// Returns whether messages were folded or held back.
    async fn fold_group(
        &mut self,
        claim: &FoldingClaim,
        group: &mut Group,
        to_send: &mut HashSet<i64>,
    ) -> Result<bool, StoreError> {
        let state = group.state(claim)?;
        if state.is_within_limits(&group.messages, group.traffic.due) {
            return Ok(false);
        }
        self.add_due_messages(claim, group).await?;
        let plan = plan::plan(&state, &group.messages);
        for seq in plan.changed() {
            to_send.remove(&seq);
        }
        to_send.extend(self.write_plan(claim, &plan, group).await?);
        Ok(true)
    }
}
