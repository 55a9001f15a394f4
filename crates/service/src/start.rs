//! Starting and stopping the service.

use std::sync::Arc;

use jiff::SignedDuration;
use market::Calendar;
use store::{Store, StoreError};

use crate::catalog::Catalog;
use crate::evaluator::Evaluator;
use crate::{Chance, Clock};

/// What the service works with.
#[derive(Clone)]
pub struct Ports {
    /// The database.
    pub store: Store,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Ids and secrets.
    pub chance: Arc<Chance>,
}

/// What can be set about the service.
#[derive(Clone, Debug)]
pub struct Settings {
    /// When the market is open.
    pub calendar: Calendar,
    /// How alerts are judged.
    pub engine: alerts::engine::Settings,
    /// The kinds of data that no source delivers: alerts that need them are blind.
    pub missing_feeds: Vec<alerts::engine::Feed>,
    /// How often what other processes changed in the database is looked for.
    pub follow_every: SignedDuration,
    /// How often the engine's alerts are compared with the database's.
    pub compare_every: SignedDuration,
}

/// Why the service does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The service. Cloning it is cheap and gives another handle of the same.
#[derive(Clone)]
pub struct Service(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) ports: Ports,
    pub(crate) settings: Settings,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) evaluator: Arc<Evaluator>,
}

impl Service {
    /// Loads what is known of the market and all active alerts, and begins to judge them.
    ///
    /// # Errors
    /// [`StartError`]
    pub async fn start(_ports: Ports, _settings: Settings) -> Result<Self, StartError> {
        todo!()
    }

    /// Does what the administrator's commands need, without judging alerts: another process may be doing that.
    #[must_use]
    pub fn without_evaluation(_ports: Ports, _settings: Settings) -> Self {
        todo!()
    }

    /// Ends the background tasks, commits what was decided and closes the database.
    pub async fn stop(&self) {
        todo!()
    }

    /// Whether the database answers and the evaluation keeps up.
    ///
    /// # Errors
    /// [`crate::ServiceError::Unavailable`], saying what does not.
    pub async fn ready(&self) -> Result<(), crate::ServiceError> {
        todo!()
    }
}
