//! Seeds of failed property tests: kept in the repository, so that every run replays them first.

use std::process::Command;

use crate::architecture::sources::{root, rust_files};

#[test]
fn property_tests_keep_the_seeds_of_failures() {
    let files = rust_files("crates");
    let forgetful: Vec<_> = files
        .iter()
        .filter(|file| file.text.contains("\nproptest! {") && file.text.contains("failure_persistence: None"))
        .map(|file| &file.path)
        .collect();
    assert!(
        forgetful.is_empty(),
        "remove `failure_persistence: None`: {forgetful:#?}"
    );
}

#[test]
fn git_does_not_ignore_the_seeds_of_failures() {
    for path in [
        "crates/market/proptest-regressions/decimal.txt",
        "crates/market/tests/proptest-regressions/it.txt",
    ] {
        let mut git = Command::new("git");
        let checked = git.args(["check-ignore", "--quiet", path]).current_dir(root()).status();
        // 0: ignored; 1: not ignored; other codes: not a git repository.
        let is_ignored = checked.is_ok_and(|status| status.code() == Some(0));
        assert!(!is_ignored, "git ignores {path}: change .gitignore");
    }
}
