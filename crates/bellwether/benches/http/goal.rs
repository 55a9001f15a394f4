//! Goals, and whether they hold.

/// Prints a measured value beside the largest that its goal allows.
pub(crate) fn at_most(goal: f64, value: f64, what: &str, detail: &str) {
    testkit::print_goal(
        what,
        &format!("{value:.2} times, goal at most {goal} ({detail})"),
        value <= goal,
    );
}

/// Returns the median.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
