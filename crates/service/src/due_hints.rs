//! Hints between the nodes of a cluster that deliveries, messages or escalations are due, so that the node which sends them begins at
//! once. A lost hint costs a few seconds: dispatchers also poll.

use bus::{Bus, BusSubscription};
use store::{Store, Wakes};
use tokio_util::sync::CancellationToken;

/// The subject of the hints.
pub(crate) const SUBJECT: &str = "due";

/// Sends the hints of this node and follows those of the others, until `stop`.
pub(crate) async fn run(store: Store, bus: Bus, mut hints: BusSubscription, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            wakes = store.wakes_elsewhere() => {
                if let Ok(payload) = serde_json::to_vec(&wakes.names())
                    && let Err(error) = bus.publish(SUBJECT, payload.into()).await
                {
                    tracing::debug!(%error, "a hint was lost; the dispatchers of other nodes find the work by polling");
                }
            }
            hint = hints.next() => match hint {
                Some(hint) => match serde_json::from_slice::<Vec<String>>(&hint.payload) {
                    Ok(names) => store.wake_here(&Wakes::of_names(&names)),
                    Err(error) => tracing::warn!(%error, "a hint of another node cannot be read and is left out"),
                },
                None => return,
            },
        }
    }
}
