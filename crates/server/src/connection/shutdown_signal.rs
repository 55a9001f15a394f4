//! Tells handlers that the server stops.

use tokio_util::sync::CancellationToken;

/// Signals shutdown to handlers with long responses, so that they can end them early.
#[derive(Clone, Debug)]
pub struct ShutdownSignal(pub CancellationToken);
