//! The receiving side of market data: processes the messages of each origin in order, and judges the alerts of the held shards.
//!
//! [`judgement`] judges single messages, and [`takeover`] takes over shards between two messages.
//!
//! One task does everything that judges alerts, so that it has one order. A change of an alert is read only when all messages that
//! were on the bus before have been processed: the node sends itself a beat and waits until it comes back. Otherwise a node that was
//! stopped for a while would judge a new activation by an old price.

mod judgement;
mod takeover;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bus::{BusSubscription, Message};
use clock::Clock;
use foundation::Ports;
use jiff::SignedDuration;
use store::model::Shard;
use store::{Store, StoreError};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::Cluster;
use super::held_shards::ShardRole;
use super::message::{Content, MarketMessage, decode, encode, requests_to};
use super::recent_messages::RecentMessages;
use super::shard_set::ShardSet;
use super::streams::{Arrival, Streams};
use crate::EvaluationUseCases;
use crate::evaluator::Evaluator;
use crate::evaluator::tick::{CLOCK_MARK_INTERVAL, TICK_INTERVAL};
use crate::market::MarketIntake;

/// The interval of beats, of requests for missing messages and of checks for delayed decisions.
const BEAT_INTERVAL: Duration = Duration::from_millis(200);
/// How long a beat may take. After that the node is cut off from the bus.
const MAX_BEAT_TIME: SignedDuration = SignedDuration::from_secs(1);

/// An evaluation that waits for the node's own beat.
#[derive(Clone, Copy, Debug)]
struct RequestedEvaluation {
    beat: u64,
    /// The committed changes of alerts up to this position are judged.
    until: i64,
    requested_at: SignedDuration,
}

/// When the periodic work is next due, by the uptime.
#[derive(Debug)]
struct Schedule {
    tick: SignedDuration,
    mark: SignedDuration,
    compare: SignedDuration,
}

/// The task that judges market data on a node.
pub(super) struct MarketTask {
    cluster: Arc<Cluster>,
    intake: MarketIntake,
    evaluator: Arc<Evaluator>,
    store: Store,
    clock: Arc<dyn Clock>,
    time: Arc<dyn Clock>,
    compare_every: SignedDuration,
    streams: Streams,
    recent: RecentMessages,
    /// The last message of each origin whose results were on disk when this node took a shard over.
    stored: HashMap<(Shard, Uuid), u64>,
    beats: u64,
    requested: Option<RequestedEvaluation>,
    /// Whether another evaluation was requested since.
    is_requested_again: bool,
    schedule: Schedule,
}

impl MarketTask {
    pub(super) fn new(cluster: Arc<Cluster>, ports: &Ports, evaluation: &EvaluationUseCases) -> Self {
        let uptime = ports.clock.uptime();
        let compare_every = evaluation.market_intake.settings.compare_every;
        Self {
            cluster,
            intake: evaluation.market_intake.clone(),
            evaluator: Arc::clone(&evaluation.evaluator),
            store: ports.store.clone(),
            clock: Arc::clone(&ports.clock),
            time: Arc::clone(&ports.network.time),
            compare_every,
            streams: Streams::default(),
            recent: RecentMessages::default(),
            stored: HashMap::new(),
            beats: 0,
            requested: None,
            is_requested_again: false,
            schedule: Schedule {
                tick: uptime,
                mark: uptime,
                compare: uptime + compare_every,
            },
        }
    }

    /// Processes messages until `stop`.
    pub(super) async fn run(
        mut self,
        mut market: BusSubscription,
        mut alerts: BusSubscription,
        stop: CancellationToken,
    ) {
        let cluster = Arc::clone(&self.cluster);
        let time = Arc::clone(&self.time);
        let mut next_beat = time.sleep(BEAT_INTERVAL);
        loop {
            let outcome = tokio::select! {
                () = stop.cancelled() => return,
                () = &mut next_beat => {
                    next_beat = time.sleep(BEAT_INTERVAL);
                    self.beat(&stop).await
                }
                Some(message) = market.next() => self.receive(message, &stop).await,
                Some(message) = alerts.next() => match decode::<ShardSet>(&message.payload) {
                    Some(changed) if self.holds_any(&changed) => self.request_evaluation().await,
                    _ => Ok(()),
                },
                () = cluster.changed_here.notified() => self.request_evaluation().await,
                () = cluster.takeovers.wait() => self.take_over(&stop).await,
                else => return,
            };
            match outcome {
                Ok(()) => metrics::gauge!("bellwether_evaluation_behind").set(0.0),
                Err(error) => {
                    metrics::gauge!("bellwether_evaluation_behind").set(1.0);
                    tracing::error!(%error, "decisions could not be committed; they are kept, and the next evaluation commits them");
                }
            }
        }
    }

    fn holds_any(&self, shards: &ShardSet) -> bool {
        let held = &self.cluster.sharded.held;
        shards.iter().any(|shard| held.role(shard) != ShardRole::Elsewhere)
    }

    /// The work of each beat: requests for missing messages, delayed decisions, and the tick.
    async fn beat(&mut self, stop: &CancellationToken) -> Result<(), StoreError> {
        let uptime = self.clock.uptime();
        self.cluster.sharded.note_progress(uptime);
        for (origin, missed) in self.streams.due_requests(uptime) {
            if let Ok(payload) = encode(&missed) {
                // It is requested again after a while.
                let _ = self.cluster.bus().publish(&requests_to(origin), payload.into()).await;
            }
        }
        let (next, gaps) = self.streams.give_up_old_gaps(uptime);
        if gaps > 0 {
            metrics::counter!("bellwether_bus_gaps_total").increment(gaps);
            tracing::warn!(gaps, "market data was lost on the bus and could not be fetched again");
        }
        for message in next {
            self.process(message, stop).await;
        }
        self.evaluator.commit_delayed().await?;
        let is_cut_off = |requested: RequestedEvaluation| uptime - requested.requested_at > MAX_BEAT_TIME;
        if self.requested.is_some_and(is_cut_off) {
            self.requested = None;
            self.evaluate_moments().await?;
        }
        if uptime >= self.schedule.tick {
            self.schedule.tick = uptime + TICK_INTERVAL;
            return self.request_evaluation().await;
        }
        // So that the others notice that they have missed the last message.
        self.beats += 1;
        self.cluster.origin.beat(self.beats).await;
        Ok(())
    }

    /// Requests an evaluation of everything that has changed until now.
    async fn request_evaluation(&mut self) -> Result<(), StoreError> {
        if self.requested.is_some() {
            self.is_requested_again = true;
            return Ok(());
        }
        let until = self.store.history_last().await?;
        self.beats += 1;
        self.requested = Some(RequestedEvaluation {
            beat: self.beats,
            until,
            requested_at: self.clock.uptime(),
        });
        self.cluster.origin.beat(self.beats).await;
        Ok(())
    }

    async fn receive(&mut self, message: Message, stop: &CancellationToken) -> Result<(), StoreError> {
        let Some(message) = decode::<MarketMessage>(&message.payload) else {
            return Ok(());
        };
        let own_beat = match message.content {
            Content::Beat(number) if message.origin == self.cluster.id.0 => Some(number),
            _ => None,
        };
        let is_beat = matches!(message.content, Content::Beat(_));
        let id = (message.origin, message.sequence);
        if is_beat {
            self.recent.settle(message.origin, message.settled);
        }
        match self.streams.take(message, is_beat, self.clock.uptime()) {
            Arrival::Next(next) => {
                for message in next {
                    self.process(message, stop).await;
                }
            }
            Arrival::Repeated => self.acknowledge_again(id).await?,
        }
        if let Some(requested) = self.requested.filter(|requested| own_beat >= Some(requested.beat)) {
            self.requested = None;
            self.evaluate(requested.until).await?;
            if std::mem::take(&mut self.is_requested_again) {
                self.request_evaluation().await?;
            }
        }
        Ok(())
    }

    /// Evaluates what has changed up to a position, and what is due.
    async fn evaluate(&mut self, until: i64) -> Result<(), StoreError> {
        let uptime = self.clock.uptime();
        self.evaluator.follow_splits().await?;
        self.evaluator.follow_committed(until).await?;
        self.evaluator.apply_due_splits().await?;
        let is_marked = uptime >= self.schedule.mark;
        self.evaluator.evaluate_due(is_marked).await?;
        if is_marked {
            self.schedule.mark = uptime + CLOCK_MARK_INTERVAL;
            self.evaluator.count_alerts();
        }
        if uptime >= self.schedule.compare {
            self.schedule.compare = uptime + self.compare_every;
            self.evaluator.compare().await?;
        }
        Ok(())
    }

    /// Evaluates the alerts that wait for an instant, without the bus. Prices may be missing, so no other alert is judged.
    async fn evaluate_moments(&mut self) -> Result<(), StoreError> {
        self.evaluator.follow_changes().await?;
        self.evaluator.evaluate_moments().await
    }
}
