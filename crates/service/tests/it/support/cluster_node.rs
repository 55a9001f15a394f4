//! Services that are nodes of a cluster: on one database, each with its own clock and settings.

use std::sync::Arc;

use clock::ManualClock;
use service::ServiceConfig;
use testkit::Database;

use super::{TestApp, account, start};
use alerts::Plan;

impl TestApp {
    /// Starts the first node, which creates the operator's account.
    pub(crate) async fn first_node(
        database: &Arc<Database>,
        clock: &Arc<ManualClock>,
        settings: ServiceConfig,
    ) -> Self {
        let service = start(database, clock, 1, settings.clone()).await;
        let operator = account(&service, "operator@example.com", Plan::Premium, true).await;
        Self {
            service,
            clock: Arc::clone(clock),
            operator,
            database: Arc::clone(database),
            settings,
            restarts: 0,
        }
    }

    /// Starts a further node. Each has another `seed`, because its random numbers are its id.
    pub(crate) async fn further_node(&self, clock: &Arc<ManualClock>, seed: u64, settings: ServiceConfig) -> Self {
        Self {
            service: start(&self.database, clock, seed, settings.clone()).await,
            clock: Arc::clone(clock),
            operator: self.operator.clone(),
            database: Arc::clone(&self.database),
            settings,
            restarts: 0,
        }
    }
}
