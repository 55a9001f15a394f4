//! The Rust files of the workspace.

use std::path::{Path, PathBuf};

/// A Rust file.
pub(crate) struct SourceFile {
    /// The path below the workspace's root, with `/` between its parts.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl SourceFile {
    /// The text before the unit tests, which stand at the end of a file.
    pub(crate) fn without_tests(&self) -> &str {
        self.text.split("\n#[cfg(test)]\nmod ").next().unwrap_or(&self.text)
    }
}

/// The workspace's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All Rust files below `folder`, which is a path below the root, sorted by path.
pub(crate) fn rust_files(folder: &str) -> Vec<SourceFile> {
    let mut folders = vec![root().join(folder)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let below_root = path.strip_prefix(root()).unwrap();
                files.push(SourceFile {
                    path: below_root.to_str().unwrap().replace('\\', "/"),
                    text: std::fs::read_to_string(&path).unwrap(),
                });
            }
        }
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    files
}

/// The folders of the crates, such as `crates/market`.
pub(crate) fn crate_folders() -> Vec<String> {
    let entries = std::fs::read_dir(root().join("crates")).unwrap();
    let mut folders: Vec<String> = entries
        .map(|entry| format!("crates/{}", entry.unwrap().file_name().to_str().unwrap()))
        .collect();
    folders.sort();
    folders
}
