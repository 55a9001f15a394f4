//! The patches of `crates/simulation/mutants`.

use std::path::Path;
use std::process::Command;

/// A patch that does not apply proves nothing. That a mutant is found is checked by `scripts/simulation-mutants`, which takes an hour.
#[test]
fn each_mutant_applies_to_this_checkout() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut patches: Vec<_> = std::fs::read_dir(root.join("crates/simulation/mutants"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    patches.sort();
    assert!(patches.len() >= 30, "{}", patches.len());
    for patch in patches {
        let checked = Command::new("git")
            .args(["apply", "--check"])
            .arg(&patch)
            .current_dir(&root)
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&checked.stderr);
        assert!(checked.status.success(), "{}: {message}", patch.display());
    }
}
