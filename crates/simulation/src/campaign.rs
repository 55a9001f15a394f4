//! Runs many seeds, each in a separate process.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use crate::plan::SimulationPlan;
use crate::process::{Forked, fork};
use crate::report::{SimulationFigures, SimulationReport};
use crate::simulation;
use crate::template::Template;

/// Runs simulations from one template.
#[derive(Debug)]
pub struct Campaign {
    template: Template,
    /// The number of processes at the same time.
    jobs: usize,
}

/// The sum of many reports.
#[derive(Debug, Default)]
pub struct Totals {
    /// The number of seeds.
    pub seeds: u64,
    /// The seeds that failed.
    pub failed: Vec<u64>,
    /// The rare states, each with the number of times that it was reached.
    pub sometimes: BTreeMap<String, u64>,
    /// Figures.
    pub figures: SimulationFigures,
}

impl Campaign {
    /// Prepares to run simulations.
    ///
    /// # Errors
    /// If the template cannot be made.
    pub fn new(jobs: usize) -> anyhow::Result<Self> {
        Ok(Self {
            template: Template::make()?,
            jobs: jobs.max(1),
        })
    }

    fn start(&self, plan: SimulationPlan) -> std::io::Result<Forked<SimulationReport>> {
        let template = self.template.clone();
        fork(move || {
            let seed = plan.seed;
            let report = simulation::run(&template, &plan);
            let mut report = report.unwrap_or_else(|error| failure(seed, error.to_string()));
            report.figures.processor_us = u64::try_from(testkit::processor_time().as_micros()).unwrap_or_default();
            report
        })
    }

    /// Runs a plan.
    ///
    /// # Errors
    /// If the operating system refuses a process.
    pub fn run(&self, plan: SimulationPlan) -> std::io::Result<SimulationReport> {
        let seed = plan.seed;
        let running = self.start(plan)?;
        Ok(running
            .wait()
            .unwrap_or_else(|| failure(seed, "the simulation panicked or hung".to_owned())))
    }

    /// Runs seeds, and passes each report on, in order, until `take` returns `false`.
    ///
    /// # Errors
    /// If the operating system refuses a process.
    pub fn run_seeds(
        &self,
        seeds: Range<u64>,
        mut take: impl FnMut(&SimulationReport) -> bool,
    ) -> std::io::Result<Totals> {
        let mut totals = Totals::default();
        let mut running = VecDeque::new();
        let mut seeds = seeds.peekable();
        loop {
            while running.len() < self.jobs
                && let Some(seed) = seeds.next()
            {
                running.push_back((seed, self.start(SimulationPlan::of(seed))?));
            }
            let Some((seed, oldest)) = running.pop_front() else {
                return Ok(totals);
            };
            let report = oldest
                .wait()
                .unwrap_or_else(|| failure(seed, "the simulation panicked or hung".to_owned()));
            totals.add(&report);
            if !take(&report) {
                seeds = (0..0).peekable();
            }
        }
    }
}

fn failure(seed: u64, violation: String) -> SimulationReport {
    SimulationReport {
        seed,
        violations: vec![violation],
        ..SimulationReport::default()
    }
}

impl Totals {
    fn add(&mut self, report: &SimulationReport) {
        self.seeds += 1;
        if !report.passed() {
            self.failed.push(report.seed);
        }
        self.figures += report.figures;
        for (state, count) in &report.sometimes {
            *self.sometimes.entry(state.clone()).or_default() += count;
        }
    }
}
