//! Escalations: sends firings to their next channels when they are due.
//!
//! The database stores when an escalation is due and which channel is next, so any process can go on after a crash. This job decides when
//! to look: when the first escalation is due, at once after a transaction that may have made one due earlier, and every five seconds for
//! those of other processes.

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
    loop {
        let (next, now) = (ports.store.next_escalation().await?, ports.network.time.now());
        match next {
            // A transaction is only begun if there is something to do.
            Some(due) if due <= now => ports.store.advance_escalations(now, MAX_IN_TRANSACTION).await?,
            Some(due) => return Ok(due.duration_since(now).min(MAX_PAUSE)),
            None => return Ok(MAX_PAUSE),
        };
    }
}
