//! Firings: what an evaluation brought about becomes permanent, each firing once.
//!
//! # Exactly once
//!
//! A firing was judged of one revision of an alert. It is taken by compare-and-set: the update of the alert asks for
//! status `active` and for that revision, and gives it the next. So of two engines, or of an engine and a user who pauses
//! the alert at the same moment, one comes first and the other finds another revision. The history entry and the event
//! are written in the same transaction, and only for the alerts that the update has returned. What was not taken is told
//! with the alert as it is ([`Settled::Stale`]).
//!
//! # By the hundred thousand
//!
//! Firings are cut into chunks ([`CHUNK`]), each a unit of work that waits its turn behind the writer's door like any
//! other, so that a storm of firings does not lock users out. Chunks are in the order in which the alerts were made, which
//! is the order of their rows on disk: then the firings of one page come together, and the page is written once. A chunk
//! is read, fired and composed *outside* of its transaction, while the chunk before is being written; the
//! compare-and-set finds out if anything has changed meanwhile. What remains within the transaction is a few statements
//! of many rows each.
//!
//! What was observed (quotes and the clock) comes with the last chunk, so that after a crash in between, those that are
//! missing are judged anew.

mod commit;
mod prepare;
mod write;

use std::sync::Arc;

use crate::model::{Compose, EvaluationCommit, EvaluationOutcome, Settled, StoredAlert};
use crate::{Abort, Store, StoreError};
use commit::{Chunk, Observed};
use prepare::Prepared;

/// How many firings share a transaction at most.
const CHUNK: usize = 2048;

impl Store {
    /// Commits what an evaluation brought about. `compose` makes the `data` of each event; it may be asked for events of
    /// firings that then are not taken.
    ///
    /// If the caller is cancelled, some chunks may have been written and others not, as after a crash.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails; some chunks may have been written by then.
    pub async fn commit_evaluation(
        &self,
        commit: EvaluationCommit,
        compose: Arc<Compose>,
    ) -> Result<EvaluationOutcome, StoreError> {
        let EvaluationCommit {
            firings,
            mut sides,
            quotes,
            superseded,
            clock,
        } = commit;
        let mut settled: Vec<Option<Settled>> = Vec::new();
        settled.resize_with(firings.len(), || None);

        while sides.len() > CHUNK {
            let some = sides.split_off(sides.len() - CHUNK);
            let observed = Observed {
                sides: some,
                ..Observed::default()
            };
            self.commit_chunk(Chunk::of_observed(observed)).await?;
        }
        let mut observed = Some(Observed {
            sides,
            quotes,
            superseded,
            clock,
        });

        let order = self.in_order_of_creation(&firings).await?;
        let mut chunks = order.chunks(CHUNK);
        let mut next = match chunks.next() {
            Some(places) => Some(self.prepare(&firings, places, &*compose).await?),
            None => None,
        };
        while let Some(prepared) = next.take() {
            let following = chunks.next();
            let Prepared { fired, rows, stale } = prepared;
            let chunk = Chunk {
                rows,
                stale,
                observed: if following.is_none() { observed.take() } else { None }.unwrap_or_default(),
                compares: self.compares,
                bell: Some(Arc::clone(&self.bell)),
            };
            let preparing = async {
                match following {
                    Some(places) => self.prepare(&firings, places, &*compose).await.map(Some),
                    None => Ok(None),
                }
            };
            let (outcome, prepared) = tokio::join!(self.commit_chunk(chunk), preparing);
            let mut outcome = outcome?;
            next = prepared?;
            for (place, alert) in fired {
                settled[place] = Some(if outcome.is_taken(place) {
                    Settled::Fired(Box::new(alert))
                } else {
                    stale_as(outcome.current(&alert.alert.id))
                });
            }
            for (place, id) in outcome.stale_places() {
                settled[place] = Some(stale_as(outcome.current(&id)));
            }
        }
        if let Some(observed) = observed.filter(|observed| !observed.is_empty()) {
            self.commit_chunk(Chunk::of_observed(observed)).await?;
        }
        let firings = settled
            .into_iter()
            .map(|settled| settled.unwrap_or(Settled::Stale(None)));
        Ok(EvaluationOutcome {
            firings: firings.collect(),
        })
    }

    async fn commit_chunk(&self, chunk: Chunk) -> Result<commit::Outcome, StoreError> {
        self.write(chunk).await.map_err(|abort| match abort {
            Abort::Store(error) => error,
            Abort::Refused(never) => match never {},
        })
    }
}

fn stale_as(current: Option<&StoredAlert>) -> Settled {
    Settled::Stale(current.map(|alert| Box::new(alert.clone())))
}
