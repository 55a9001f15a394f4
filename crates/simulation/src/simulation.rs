//! Runs a plan: process after process on the same disk, until the plan and the end without faults are through.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use rand::{Rng, SeedableRng};
use rand_chacha::{ChaCha8Rng, ChaCha20Rng};
use tokio::sync::Notify;

use crate::clock::{ClockState, SimulatedClock};
use crate::disk::{self, Ending};
use crate::life::Life;
use crate::network::SimulatedNetwork;
use crate::plan::SimulationPlan;
use crate::report::SimulationReport;
use crate::template::{self, Template};
use crate::threads::Delays;
use crate::world::World;
use crate::{entropy, finish, rare_states};

/// The maximum number of processes. More mean that they cannot start.
const MAX_PROCESSES: u32 = 200;

/// How a process has come to its end.
pub(crate) enum LifeEnd {
    /// The plan is through, and the service has stopped as the last step of it.
    Finished,
    /// The process was ended by a fault.
    Ended,
    /// It could not start, as the disk failed.
    NotStarted(String),
}

/// Runs a plan on this thread.
///
/// # Errors
/// If the machine refuses a runtime. Violations are part of the report.
pub(crate) fn run(template: &Template, plan: &SimulationPlan) -> anyhow::Result<SimulationReport> {
    entropy::reseed(plan.seed);
    disk::load(&template.image);
    let mut random = ChaCha8Rng::seed_from_u64(plan.seed ^ 0x5EED);
    let world = World::new(plan.seed, template.time);
    let network = SimulatedNetwork::new(plan.has_mail_server);
    let mut clock = ClockState::new(template.time);
    let mut position = 0;
    let mut night = SignedDuration::ZERO;
    for process in 0..MAX_PROCESSES {
        let upgrade = plan.upgrade.filter(|upgrade| upgrade.process == process);
        if let Some(upgrade) = upgrade {
            let downgraded = disk::between_processes(|| template.former_schemas.downgrade(&template.url, upgrade.from));
            downgraded?;
            world.state().is_upgrading = true;
            world.log(format!("the next process finds version {} of the schema", upgrade.from));
        }
        world.state().is_starting = true;
        let runtime = crate::runtime()?;
        let ended = Arc::new(Notify::new());
        let (end, handed_over) = runtime.block_on(async {
            let simulated = Arc::new(SimulatedClock::new(clock));
            world.state().clock = Some(Arc::clone(&simulated));
            let life = Life {
                world: world.clone(),
                template,
                plan,
                clock: Arc::clone(&simulated),
                network: network.clone(),
                delays: Delays::new(ChaCha8Rng::seed_from_u64(random.random())),
                ended: Arc::clone(&ended),
                settings: template::settings(plan.has_mail_server)?,
            };
            end_soon(&world, &ended, upgrade.and_then(|upgrade| upgrade.ending));
            let generator = ChaCha20Rng::seed_from_u64(random.random());
            let end = tokio::select! {
                biased;
                () = ended.notified() => LifeEnd::Ended,
                end = life.run(&mut position, generator) => end,
            };
            if !matches!(end, LifeEnd::Finished) {
                record_end(&world, &end);
            }
            anyhow::Ok((end, simulated.handed_over()))
        })?;
        // As in a kill, whatever still runs ends without a word.
        disk::end_now();
        drop(runtime);
        world.state().clock = None;
        clock = handed_over;
        if matches!(end, LifeEnd::Finished) {
            let elapsed = clock.true_time.duration_since(template.time) - night;
            return Ok(finish::report(&world, &network, &template.url, elapsed, &mut random));
        }
        let ending = world
            .state()
            .ending
            .as_ref()
            .map_or(Ending::Kill, |(ending, _)| *ending);
        restart(&world, ending, &mut random);
        let ended_at = clock.true_time;
        clock.true_time += SignedDuration::from_millis(random.random_range(10..20_000));
        let mut state = world.state();
        if std::mem::take(&mut state.ends_session) {
            night += template.second_session.duration_since(clock.true_time);
            clock.true_time = template.second_session;
            state.model.night_passes();
            state.sometimes("a night passed");
        }
        let reached = rare_states::of_absence(&state.model, ended_at, clock.true_time);
        state.reach(reached);
    }
    world.violation("the service could not start any more");
    Ok(finish::report(
        &world,
        &network,
        &template.url,
        SignedDuration::ZERO,
        &mut random,
    ))
}

/// Ends a process soon after its beginning, if the upgrade or the step that has ended the last process says so.
fn end_soon(world: &World, ended: &Arc<Notify>, upgrade: Option<(Ending, u64)>) {
    let step = world.state().ending.take();
    let step = step.and_then(|(ending, operations)| Some((ending, operations?)));
    if let Some((ending, operations)) = upgrade.or(step) {
        world.state().ending = Some((ending, None));
        let ended = Arc::clone(ended);
        let world = world.clone();
        disk::end_after(operations, move || {
            let mut state = world.state();
            if state.is_starting {
                state.sometimes("a process ended during its start");
            }
            if state.is_upgrading {
                state.sometimes("a process ended while it updated the schema");
            }
            ended.notify_one();
        });
    }
}

fn record_end(world: &World, end: &LifeEnd) {
    let (operations, last) = disk::end_now();
    let faults = disk::faults_hit();
    let mut state = world.state();
    state.note_time();
    state.report.figures.disk_faults += faults;
    if let LifeEnd::NotStarted(error) = end {
        state.process_not_started(format!("the process cannot start: {error}"));
        return;
    }
    let ending = state.ending.as_ref().map_or(Ending::Kill, |(ending, _)| *ending);
    state.sometimes(match ending {
        Ending::Kill => "a process was killed",
        Ending::PowerCut => "the power was cut",
    });
    match last.as_str() {
        "Sync" => state.sometimes("a process ended after a sync"),
        "Write" => state.sometimes("a process ended after a write"),
        _ => {}
    }
    state.process_ended(format!(
        "{ending:?} after {operations} changes of the disk, the last of them: {last}"
    ));
}

/// Starts the disk of the next process.
pub(crate) fn restart(world: &World, ending: Ending, random: &mut ChaCha8Rng) {
    let losses = disk::restart(ending, random);
    let mut state = world.state();
    for (count, reached) in [
        (losses.lost, "a power cut lost a write"),
        (losses.torn, "a power cut tore a write"),
        (losses.kept, "a power cut kept an unsynced write"),
    ] {
        if count > 0 {
            state.sometimes(reached);
        }
    }
}

/// Waits in virtual time.
pub(crate) async fn wait_ms(milliseconds: u64) {
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
}
