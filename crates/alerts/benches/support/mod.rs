//! What the benches share. Each of them uses its part of it.

#![allow(dead_code, reason = "every bench uses another part")]

pub(crate) mod flat;
pub(crate) mod mix;
pub(crate) mod race;
pub(crate) mod redis;
pub(crate) mod world;

/// Whether the figures are wanted (`cargo bench`), and not only that the benches still run (`cargo test --benches`).
pub(crate) fn measuring() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

/// `full` when measuring, else `small`.
pub(crate) fn size(full: usize, small: usize) -> usize {
    if measuring() { full } else { small }
}

/// Prints what was promised beside what was found.
pub(crate) fn target(what: &str, found: String, holds: bool) {
    if !measuring() {
        return;
    }
    println!("  {} {what}: {found}", if holds { "holds " } else { "MISSED" });
}
