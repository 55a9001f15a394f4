//! Third-party programs that some tests need.

use std::path::{Path, PathBuf};
use std::process::Output;

/// Returns whether a program is installed. If it is missing, prints installation instructions so that the caller skips the test;
/// in CI the test fails.
///
/// # Panics
/// In CI, if the program is missing.
#[must_use]
pub fn is_installed(found: bool, name: &str, install: &str) -> bool {
    if !found {
        let message = format!("{name} is missing; {install}, or run scripts/test, which installs it");
        assert!(std::env::var_os("CI").is_none(), "{message}");
        eprintln!("SKIPPED: {message}");
    }
    found
}

/// Returns whether a file exists, with the same consequences as [`is_installed`].
#[must_use]
pub fn is_file_installed(path: &Path, install: &str) -> bool {
    is_installed(path.exists(), &path.display().to_string(), install)
}

/// Asserts that a program succeeded; the panic message contains its output.
///
/// # Panics
/// If the program failed.
#[track_caller]
pub fn assert_success(description: &str, output: &Output) {
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(
        output.status.success(),
        "{description}: {}\n{stdout}\n{stderr}",
        output.status
    );
}

/// Instructions to install the Python environment.
pub const INSTALL_PYTHON: &str = "create a virtual environment in target/python with the requirements of tests/clients/python \
                                  and tests/schemathesis";

/// Returns the root folder of the repository.
///
/// # Panics
/// If the repository was moved after the build.
#[must_use]
pub fn repository_root() -> PathBuf {
    std::fs::canonicalize(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap()
}

/// Returns the path of the Python interpreter in the environment that `scripts/install-test-tools` creates. The file may be
/// missing.
#[must_use]
pub fn python() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    repository_root().join(target).join("python/bin/python")
}

/// Paths where packages install libfaketime.
const LIBFAKETIME_PATHS: &[&str] = &[
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/faketime/libfaketimeMT.so.1",
    "/usr/lib64/faketime/libfaketimeMT.so.1",
    "/usr/local/lib/faketime/libfaketimeMT.so.1",
];

/// Returns the environment variables of a program whose system time libfaketime changes. Only the time of day is changed: waits last as long
/// as they should.
///
/// # Panics
/// If the path of the library is not Unicode.
#[must_use]
pub fn faketime_environment(library: &Path) -> [(&'static str, &str); 3] {
    [
        ("LD_PRELOAD", library.to_str().unwrap()),
        // Two versions of the library read different names.
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ("DONT_FAKE_MONOTONIC", "1"),
    ]
}

/// Returns the library that changes the system time which a program sees, with the same consequences as [`is_installed`] if it is missing.
#[must_use]
pub fn find_libfaketime() -> Option<&'static Path> {
    let found = LIBFAKETIME_PATHS.iter().map(Path::new).find(|path| path.exists());
    let install = "install the package libfaketime (apt-get install libfaketime)";
    is_installed(found.is_some(), "libfaketime", install)
        .then_some(found)
        .flatten()
}
