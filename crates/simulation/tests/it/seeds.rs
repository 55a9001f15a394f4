//! Seeds that must pass, and the repetition of a seed.

use std::process::Command;

use simulation::{Campaign, SimulationPlan};

/// Seeds that once failed. They run first.
const REGRESSION_SEEDS: [u64; 7] = [673, 1983, 2550, 3354, 3430, 43_430, 202_667];
/// The seeds of each test run. `cargo run -p simulation -- --first N` runs others.
const SEEDS: std::ops::Range<u64> = 1..201;

/// Runs a seed with the program, and returns what it prints.
fn printed(seed: u64) -> String {
    let program = env!("CARGO_BIN_EXE_simulation");
    let output = Command::new(program)
        .args(["--seed", &seed.to_string()])
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn seed_repeats_its_events() {
    for seed in [3, 4, 12, 20] {
        let once = printed(seed);
        assert!(once.lines().count() > 30, "seed {seed} does nothing: {once}");
        assert_eq!(once, printed(seed), "seed {seed}");
    }
}

#[test]
fn nothing_is_violated_by_any_seed() {
    let campaign = Campaign::new(2).unwrap();
    for seed in REGRESSION_SEEDS {
        let report = campaign.run(SimulationPlan::of(seed)).unwrap();
        assert!(report.passed(), "seed {seed}: {:#?}", report.violations);
    }
    let mut violations = Vec::new();
    let totals = campaign.run_seeds(SEEDS, |report| {
        violations.extend(
            report
                .violations
                .iter()
                .map(|violation| format!("seed {}: {violation}", report.seed)),
        );
        true
    });
    assert!(
        violations.is_empty(),
        "{violations:#?}\nrun: cargo run -p simulation -- --seed N"
    );
    let totals = totals.unwrap();
    println!("{:?}", totals.figures);
    assert!(
        totals.figures.firings > totals.seeds && totals.figures.endings > totals.seeds / 10,
        "the seeds do nothing"
    );
}
