//! Escalations: sends firings to their next channels when they are due.
//!
//! What is due, and which channel is next, is in the database, so any process can go on after a crash. This job only decides when to
//! look: when the first escalation is due, at once after a transaction that may have made one due earlier, and now and then for those of
//! other processes.

use foundation::Ports;
use jiff::SignedDuration;
use store::StoreError;
use tokio_util::sync::CancellationToken;

/// Maximum number of escalations in one transaction.
const MAX_IN_TRANSACTION: u32 = 100;
/// The longest pause between two searches.
const MAX_PAUSE: SignedDuration = SignedDuration::from_secs(5);

/// Advances escalations until `stop`.
pub(crate) async fn run(ports: Ports, stop: CancellationToken) {
    let wake = ports.store.escalations_wake_handle();
    let round = async || {
        let pause = match advance_due(&ports).await {
            Ok(pause) => pause,
            Err(error) => {
                tracing::error!(%error, "escalations cannot be advanced");
                MAX_PAUSE
            }
        };
        tokio::select! {
            () = wake.notified() => {}
            () = ports.network.time.sleep(pause.unsigned_abs()) => {}
        }
    };
    // An interrupted transaction is either committed or rolled back.
    while stop.run_until_cancelled(round()).await.is_some() {}
}

/// Advances all escalations that are due. Returns the pause until the next search.
async fn advance_due(ports: &Ports) -> Result<SignedDuration, StoreError> {
    while ports
        .store
        .advance_escalations(ports.network.time.now(), MAX_IN_TRANSACTION)
        .await?
        > 0
    {}
    let next = ports.store.next_escalation().await?;
    let pause = next.map_or(MAX_PAUSE, |due| due.duration_since(ports.network.time.now()));
    Ok(pause.clamp(SignedDuration::ZERO, MAX_PAUSE))
}
