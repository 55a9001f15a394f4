//! # Simulation: the whole service in virtual time, with faults by seed
//!
//! One seed decides everything: the requests of users, the quotes, the behaviour of receivers, the order of tasks, and the faults of the
//! disk, the clock and the process. The service runs unchanged, all use cases with the evaluation, the dispatchers and the store, on one
//! thread. A small [`model`] knows what must be true; a failing seed prints its events, and running it again repeats them.
//!
//! * [`plan`]: the steps, drawn from the seed before the simulation runs, so that [`mod@shrink`] can leave some out; [`variety`]: what
//!   only some plans have.
//! * [`simulation`]: runs a plan; [`life`]: what happens while one process runs; [`clients`]: the requests of its users and
//!   its source of market data; [`finish`]: the end, without faults.
//! * [`disk`]: a disk in memory, which SQLite uses; [`network`]: names, connections and receivers; [`clock`]: virtual time;
//!   [`threads`]: statements on one thread; [`entropy`]: the random numbers of the operating system.
//! * [`world`]: the state that outlives the processes; [`records`]: the content of the database; [`former_schema`]: the same content in the
//!   tables of a former version.
//! * [`campaign`]: many seeds, each in a separate [`process`].
//!
//! `docs/decisions/simulation.md` says why it is built so.

mod campaign;
mod clients;
mod clock;
pub mod disk;
mod entropy;
mod finish;
mod former_schema;
mod life;
mod model;
mod network;
mod plan;
mod process;
mod rare_states;
mod records;
mod report;
mod shrink;
mod simulation;
mod template;
mod threads;
mod variety;
mod world;

pub use campaign::{Campaign, Totals};
pub use plan::{PlannedStep, SimulationPlan};
pub use report::{SOMETIMES, SimulationFigures, SimulationReport};
pub use shrink::shrink;
pub use template::Template;

/// Returns a runtime of one thread, whose time advances when nothing else is left to do.
fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
}
