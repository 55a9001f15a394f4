//! Runs simulations: one seed with its events, or many.

use std::process::ExitCode;

use clap::Parser;
use simulation::{Campaign, SOMETIMES, SimulationFigures, SimulationPlan, SimulationReport, Totals, shrink};

/// Runs the whole service in virtual time, with faults by seed.
#[derive(Parser)]
struct Arguments {
    /// Runs this seed and prints its events. A failing one is shrunk.
    #[arg(long)]
    seed: Option<u64>,
    /// The first of many seeds.
    #[arg(long, default_value_t = 1)]
    first: u64,
    /// The number of seeds.
    #[arg(long, default_value_t = 1000)]
    count: u64,
    /// The number of processes at the same time.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Ends at the first seed that fails.
    #[arg(long)]
    until_failure: bool,
    /// Fails if a rare state is never reached.
    #[arg(long)]
    every_state: bool,
    /// Does not shrink a failing seed.
    #[arg(long)]
    no_shrink: bool,
    /// Prints what the service logs at this level and above.
    #[arg(long)]
    log: Option<String>,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    if let Some(filter) = &arguments.log {
        tracing_subscriber::fmt()
            .with_env_filter(filter)
            .without_time()
            .with_writer(std::io::stderr)
            .init();
    }
    let campaign = Campaign::new(arguments.jobs)?;
    if let Some(seed) = arguments.seed {
        let plan = SimulationPlan::of(seed);
        let report = campaign.run(plan.clone())?;
        print(&report);
        let passed = report.passed();
        if !passed && !arguments.no_shrink {
            let steps = plan.steps.len();
            let (smallest, report) = shrink(&campaign, plan, report)?;
            println!("\nthe fewest steps that fail, {} of {steps}:", smallest.steps.len());
            for step in &smallest.steps {
                println!("  {step:?}");
            }
            print(&report);
        }
        return Ok(code(passed));
    }
    let totals = campaign.run_seeds(arguments.first..arguments.first + arguments.count, |report| {
        if !report.passed() {
            println!("seed {} fails: {}", report.seed, report.violations.join("; "));
        }
        report.passed() || !arguments.until_failure
    })?;
    print_totals(&totals);
    let missed: Vec<_> = SOMETIMES
        .iter()
        .filter(|state| !totals.sometimes.contains_key(**state))
        .collect();
    if arguments.every_state && !missed.is_empty() {
        println!("never reached: {missed:?}");
        return Ok(ExitCode::FAILURE);
    }
    Ok(code(totals.failed.is_empty()))
}

fn code(passed: bool) -> ExitCode {
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn print(report: &SimulationReport) {
    for event in &report.events {
        println!("{event}");
    }
    // The processor time differs each time.
    let figures = SimulationFigures {
        processor_us: 0,
        ..report.figures
    };
    println!("{figures:?}");
    for violation in &report.violations {
        println!("violated: {violation}");
    }
}

fn print_totals(totals: &Totals) {
    for state in SOMETIMES {
        println!(
            "{:>10}  {state}",
            totals.sometimes.get(*state).copied().unwrap_or_default()
        );
    }
    let figures = &totals.figures;
    let hours = whole(figures.virtual_ms) / 3_600_000.0;
    let seconds = whole(figures.processor_us) / 1_000_000.0;
    println!(
        "{} seeds, {} failed; {} requests, {} acknowledged; {} firings, {} deliveries; {} ended processes, {} disk faults; \
         {hours:.1} simulated hours in {seconds:.1} s of processor time: {:.1} hours per second, {:.0} seeds per minute of it",
        totals.seeds,
        totals.failed.len(),
        figures.requests,
        figures.acknowledged,
        figures.firings,
        figures.deliveries,
        figures.endings,
        figures.disk_faults,
        hours / seconds,
        whole(totals.seeds) * 60.0 / seconds,
    );
}

/// Converts a count for display.
fn whole(count: u64) -> f64 {
    f64::from(u32::try_from(count.min(u64::from(u32::MAX))).unwrap_or(u32::MAX))
}
