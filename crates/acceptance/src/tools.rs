//! Programs of other people that some tests need.

use std::path::Path;
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
