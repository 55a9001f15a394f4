//! The node of a cluster that this process is.

use anyhow::Context;
use bus::Bus;
use evaluation::cluster::ClusterConfig;
use store::Store;

use crate::settings::Settings;

/// Returns the node of a cluster that this process is; `None` without `cluster.nats_urls`. The bus connects in the background.
///
/// # Errors
/// If the node has no name, a URL is invalid, or the database does not respond.
pub async fn config(settings: &Settings, store: &Store) -> anyhow::Result<Option<ClusterConfig>> {
    let cluster = &settings.cluster;
    if !cluster.is_node() {
        return Ok(None);
    }
    let name = cluster.node_name()?;
    let bus = Bus::connect_nats(&cluster.exposed_nats_urls(), &name).await;
    let tables = store.cluster().context("a cluster needs a PostgreSQL database")?;
    let group = format!("bellwether-{}", tables.cluster_id().await?.simple());
    let bus = bus.and_then(|bus| bus.of_group(&group));
    Ok(Some(ClusterConfig {
        bus: bus.context("cluster.nats_urls")?,
        name,
        roles: cluster.roles,
        lease_ttl: cluster.lease_ttl,
        standby_delay: cluster.standby_delay,
    }))
}
