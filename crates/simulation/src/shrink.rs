//! Finds the fewest steps with which a plan still fails.

use crate::campaign::Campaign;
use crate::plan::SimulationPlan;
use crate::report::SimulationReport;

/// Leaves out steps as long as the plan fails (delta debugging). Returns the smallest failing plan and its report.
///
/// # Errors
/// If the operating system refuses a process.
pub fn shrink(
    campaign: &Campaign,
    plan: SimulationPlan,
    report: SimulationReport,
) -> std::io::Result<(SimulationPlan, SimulationReport)> {
    let (mut plan, mut report) = (plan, report);
    let mut part = plan.steps.len().div_ceil(2);
    while part > 0 {
        let mut from = 0;
        while from < plan.steps.len() {
            let mut smaller = plan.clone();
            smaller.steps.drain(from..(from + part).min(plan.steps.len()));
            let tried = campaign.run(smaller.clone())?;
            if tried.passed() {
                from += part;
            } else {
                (plan, report) = (smaller, tried);
            }
        }
        part /= 2;
    }
    Ok((plan, report))
}
