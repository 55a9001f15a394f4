//! All alerts fire at once.

use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use crate::real::{Memory, Real, stopwatch};
use crate::sink::Sink;
use crate::until_settled;
use crate::world::{self, Alerts, QUIET, STORM, World};

/// How often memory is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Fires `count` alerts to so many endpoints, each with an account and a receiver of its own.
pub(crate) async fn run(count: usize, endpoints: usize) {
    let sink = Sink::start(endpoints, None);
    let world = World::new(&sink.urls(endpoints), count, Alerts::Armed, None);
    let (service, store) = world.start().await;
    let operator = world::operator(&service).await;
    service
        .market
        .ingest_json(&operator, &world::snapshot(QUIET))
        .await
        .unwrap();
    assert_eq!(sink.tally().await.received, 0, "nothing fires yet");
    let storm = world::snapshot(STORM);
    let before = Memory::now();
    let watch = Watch::start();
    let (began, began_us) = (stopwatch(), Real.micros());
    service.market.ingest_json(&operator, &storm).await.unwrap();
    let committed = began.elapsed();
    let memory_committed = watch.peak_so_far();
    until_settled(&store).await;
    let delivered = began.elapsed();
    let peak = watch.end();
    let tally = sink.tally().await;
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
    let after = Memory::now();
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

/// Looks at the memory again and again, on a thread that waits for nobody.
struct Watch {
    ask: mpsc::Sender<mpsc::Sender<Memory>>,
    thread: JoinHandle<()>,
}

impl Watch {
    fn start() -> Self {
        let (ask, asked) = mpsc::channel::<mpsc::Sender<Memory>>();
        let thread = std::thread::spawn(move || {
            let mut peak = Memory::now();
            loop {
                match asked.recv_timeout(LOOK_EVERY) {
                    Ok(answer) => answer.send(peak).unwrap(),
                    Err(mpsc::RecvTimeoutError::Timeout) => {}
                    Err(mpsc::RecvTimeoutError::Disconnected) => return,
                }
                peak = peak.max(Memory::now());
            }
        });
        Self { ask, thread }
    }

    fn peak_so_far(&self) -> Memory {
        let (answer, answered) = mpsc::channel();
        self.ask.send(answer).unwrap();
        answered.recv().unwrap()
    }

    fn end(self) -> Memory {
        let peak = self.peak_so_far();
        drop(self.ask);
        self.thread.join().unwrap();
        peak
    }
}
