//! Rules about the code that a machine can check: dependencies between crates, circles of imports, lengths of files, names and
//! openings of documentation, and the files that ARCHITECTURE.md names.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod crates;
mod files;
mod import_circles;
mod language;
mod map;
mod regressions;
mod sources;
