//! All alerts fire at once.

use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use crate::database::{self, BenchDatabase, InitialState, QUIET_PRICE, STORM_PRICE};
use crate::receiver::ReceiverProcess;
use testkit::MemoryUsage;

use crate::system::{RealClock, stopwatch};
use crate::until_settled;

/// How often the memory is sampled.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(10);

/// Fires `count` alerts to `endpoints` endpoints, each with its own account and receiver.
pub(crate) async fn run(count: usize, endpoints: usize) {
    let receiver = ReceiverProcess::start(endpoints, None);
    let database = BenchDatabase::new(&receiver.urls(endpoints), count, InitialState::Armed, None);
    let (service, store) = database.start().await;
    let operator = database::operator(&service).await;
    service
        .market
        .ingest_json(&operator, &database::snapshot(QUIET_PRICE))
        .await
        .unwrap();
    assert_eq!(receiver.tally().await.received, 0, "nothing fires yet");
    let storm = database::snapshot(STORM_PRICE);
    let before = MemoryUsage::now();
    let watch = MemoryWatch::start();
    let (began, began_us) = (stopwatch(), RealClock.micros());
    service.market.ingest_json(&operator, &storm).await.unwrap();
    let committed = began.elapsed();
    let memory_committed = watch.peak_so_far();
    until_settled(&store).await;
    let delivered = began.elapsed();
    let peak = watch.end();
    let tally = receiver.tally().await;
    assert_eq!(tally.distinct, count, "all of them arrive");
    println!(
        "storm: {count} alerts fired to {endpoints} endpoints; first on the wire after {:.0} ms",
        (tally.first_us.unwrap() - began_us) as f64 / 1e3
    );
    println!(
        "storm: all fired and on disk after {:.2} s; all {} delivered and settled after {:.2} s ({:.0}/s), {} twice, over {} \
         connections",
        committed.as_secs_f64(),
        tally.distinct,
        delivered.as_secs_f64(),
        count as f64 / delivered.as_secs_f64(),
        tally.received - tally.distinct,
        tally.connections
    );
    for (what, peak) in [
        ("until all had fired", memory_committed),
        ("until all was settled", peak),
    ] {
        println!(
            "storm: memory grew by at most {:.0} MB {what} ({:.0} MB resident with the database's file)",
            mb(peak.anonymous.saturating_sub(before.anonymous)),
            mb(peak.resident.saturating_sub(before.resident))
        );
    }
    let after = MemoryUsage::now();
    println!(
        "storm: before {:.0} MB, after {:.0} MB",
        mb(before.anonymous),
        mb(after.anonymous)
    );
    service.stop().await;
}

fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// Samples the memory on a separate thread.
struct MemoryWatch {
    ask: mpsc::Sender<mpsc::Sender<MemoryUsage>>,
    thread: JoinHandle<()>,
}

impl MemoryWatch {
    fn start() -> Self {
        let (ask, asked) = mpsc::channel::<mpsc::Sender<MemoryUsage>>();
        let thread = std::thread::spawn(move || {
            let mut peak = MemoryUsage::now();
            loop {
                match asked.recv_timeout(SAMPLE_INTERVAL) {
                    Ok(answer) => answer.send(peak).unwrap(),
                    Err(mpsc::RecvTimeoutError::Timeout) => {}
                    Err(mpsc::RecvTimeoutError::Disconnected) => return,
                }
                peak = peak.max(MemoryUsage::now());
            }
        });
        Self { ask, thread }
    }

    fn peak_so_far(&self) -> MemoryUsage {
        let (answer, answered) = mpsc::channel();
        self.ask.send(answer).unwrap();
        answered.recv().unwrap()
    }

    fn end(self) -> MemoryUsage {
        let peak = self.peak_so_far();
        drop(self.ask);
        self.thread.join().unwrap();
        peak
    }
}
