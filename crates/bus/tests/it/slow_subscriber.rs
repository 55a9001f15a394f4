//! Subscribers that take their messages too late.

use std::sync::OnceLock;

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use testkit::eventually;

use crate::support::{TwoNodes, next};

/// The number of messages that a subscription holds.
const CAPACITY: u32 = 65_536;
/// The number of messages beyond it.
const LOST_COUNT: u32 = 50;

/// The value of `bellwether_bus_lost_total` in this process.
fn lost_count() -> u32 {
    static METRICS: OnceLock<PrometheusHandle> = OnceLock::new();
    let metrics = METRICS
        .get_or_init(|| PrometheusBuilder::new().install_recorder().unwrap())
        .render();
    let mut lines = metrics.lines();
    let value = lines.find_map(|line| line.strip_prefix("bellwether_bus_lost_total "));
    value.map_or(0, |value| value.parse().unwrap())
}

on_both_transports! {
    async fn lost_messages_are_counted_and_later_ones_arrive(nodes: &mut TwoNodes) {
        let before = lost_count();
        let mut slow = nodes.second.subscribe("a").await.unwrap();
        let mut quick = nodes.second.subscribe("a").await.unwrap();
        for number in 0..CAPACITY + LOST_COUNT {
            nodes.first.publish("a", number.to_be_bytes().to_vec().into()).await.unwrap();
            // The other subscription loses nothing.
            assert_eq!(next(&mut quick).await.payload[..], number.to_be_bytes());
        }
        eventually("the lost messages are counted", async || lost_count() >= before + LOST_COUNT).await;
        for number in 0..CAPACITY {
            assert_eq!(next(&mut slow).await.payload[..], number.to_be_bytes());
        }
        nodes.first.publish("a", "late".into()).await.unwrap();
        assert_eq!(next(&mut slow).await.payload, "late");
    }
}
