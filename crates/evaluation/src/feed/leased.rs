//! The source of a cluster: of the nodes with the role `feed`, one runs it at a time.
//!
//! A source fetches with the operator's accounts at providers, whose limits hold for all nodes together. So one lease is for the whole
//! source, and a new holder counts every limit as used up by the former one.

use std::future::Future;
use std::sync::Arc;

use foundation::{JobLease, Ports};
use jiff::{SignedDuration, Timestamp};
use store::StoreError;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{SourceEnded, SourceTask};

/// The name of the lease.
const LEASE: &str = "market_data";

/// A source that this node runs while it has the lease.
#[derive(Debug)]
pub struct LeasedSource {
    task: JoinHandle<()>,
    stop: CancellationToken,
}

/// The reason why a source does not run.
#[derive(Debug, thiserror::Error)]
enum LeasedSourceError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Ended(#[from] SourceEnded),
    #[error("{0}")]
    Start(String),
}

impl LeasedSource {
    /// Runs the source that `start` starts whenever this node has the lease. `start` gets the time until which another node may have
    /// fetched data, and returns nothing if market data is only pushed.
    #[must_use]
    pub fn start<F, E>(
        ports: &Ports,
        lease_ttl: SignedDuration,
        start: impl Fn(Option<Timestamp>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Option<SourceTask>, E>> + Send + 'static,
        E: std::fmt::Display,
    {
        let stop = CancellationToken::new();
        let lease = JobLease::new(ports, LEASE, lease_ttl);
        let (store, clock, stopped) = (ports.store.clone(), Arc::clone(&ports.clock), stop.clone());
        let run = async move {
            let mut used_until = None;
            loop {
                // Before this node is the holder itself.
                match store.job_lease_end(LEASE).await {
                    Ok(end) => used_until = end.max(used_until),
                    Err(error) => tracing::warn!(%error, "the lease of the source of market data cannot be read"),
                }
                match lease.run(run_source(&start, used_until, &stopped)).await {
                    Ok(_) => {}
                    Err(error) => tracing::error!(%error, "the source of market data has stopped; it is started again"),
                }
                tokio::select! {
                    () = stopped.cancelled() => break,
                    () = clock.sleep((lease_ttl / 3).unsigned_abs()) => {}
                }
            }
            lease.release().await;
        };
        Self {
            task: tokio::spawn(run),
            stop,
        }
    }

    /// Stops the source, and releases the lease.
    pub async fn stop(self) {
        self.stop.cancel();
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the task of the source of market data failed");
        }
    }
}

/// Runs a source until it ends by itself, or until `stopped`: then it has ended when this returns, with the update that is being ingested.
/// Dropping the future stops it without waiting.
async fn run_source<F, E>(
    start: &impl Fn(Option<Timestamp>) -> F,
    used_until: Option<Timestamp>,
    stopped: &CancellationToken,
) -> Result<(), LeasedSourceError>
where
    F: Future<Output = Result<Option<SourceTask>, E>>,
    E: std::fmt::Display,
{
    let started = tokio::select! {
        () = stopped.cancelled() => return Ok(()),
        started = start(used_until) => started,
    };
    let started = started.map_err(|error| LeasedSourceError::Start(error.to_string()))?;
    let Some(source) = started else {
        stopped.cancelled().await;
        return Ok(());
    };
    tracing::info!("this node runs the source of market data");
    let ended = tokio::select! {
        () = stopped.cancelled() => Ok(()),
        ended = source.failed() => Err(ended.into()),
    };
    source.stop().await;
    ended
}

#[cfg(test)]
mod tests;
