//! Programs of other people that some tests need.

use std::path::{Path, PathBuf};
use std::process::Output;

/// Whether a program is there. If not, a person is told how to get it and the test is skipped; in CI it fails.
///
/// # Panics
/// In CI, if the program is missing.
#[must_use]
pub fn has(found: bool, name: &str, install: &str) -> bool {
    if !found {
        let message = format!("{name} is missing; {install}, or run scripts/test, which does");
        assert!(std::env::var_os("CI").is_none(), "{message}");
        eprintln!("SKIPPED: {message}");
    }
    found
}

/// Whether a file is there, in the sense of [`has`].
#[must_use]
pub fn has_file(path: &Path, install: &str) -> bool {
    has(path.exists(), &path.display().to_string(), install)
}

/// Shows all that a program printed unless it succeeded.
///
/// # Panics
/// Unless it succeeded.
#[track_caller]
pub fn must_succeed(what: &str, output: &Output) {
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{what}: {}\n{stdout}\n{stderr}", output.status);
}

/// How to get the Python environment.
pub const INSTALL_PYTHON: &str = "make a virtual environment in target/python with what tests/clients/python and \
                                  tests/schemathesis require";

/// The folder of the whole project.
///
/// # Panics
/// If it is not where it was built.
#[must_use]
pub fn root() -> PathBuf {
    std::fs::canonicalize(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap()
}

/// The Python of the environment that `scripts/install-test-tools` makes; it need not be there.
#[must_use]
pub fn python() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    root().join(target).join("python/bin/python")
}
