//! Shared code of the benches. Each bench uses a part of it.

#![allow(dead_code, reason = "every bench uses another part")]

pub(crate) mod flat;
pub(crate) mod market;
pub(crate) mod mix;
pub(crate) mod redis;
pub(crate) mod timing;

/// Returns whether the bench measures (`cargo bench`), instead of only running once (`cargo test --benches`).
pub(crate) fn measuring() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

/// Returns whether to measure one round only, which is enough to compare with a goal that is missed or exceeded by far (`--short`).
pub(crate) fn is_short() -> bool {
    std::env::args().any(|argument| argument == "--short")
}

/// Returns `full` when measuring, otherwise `small`.
pub(crate) fn size(full: usize, small: usize) -> usize {
    if measuring() { full } else { small }
}

/// Prints a performance target and the measured value.
pub(crate) fn target(what: &str, found: String, holds: bool) {
    if !measuring() {
        return;
    }
    println!("  {} {what}: {found}", if holds { "holds " } else { "MISSED" });
}
