//! Goals of benchmarks.

/// Prints a measured value, and whether it is as its goal demands. `scripts/bench` collects these lines.
pub fn print_goal(what: &str, found: &str, holds: bool) {
    println!("  {} {what}: {found}", if holds { "holds " } else { "MISSED" });
}
