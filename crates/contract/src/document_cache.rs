//! The document of a program, kept beside it: each test is a process, and to generate the document takes longer than most tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde_json::{Value, json};

/// A file with the document of a program. It counts for one build of the program.
#[derive(Debug)]
pub struct DocumentCache {
    file: PathBuf,
    /// The size of the program and the time of its build.
    build: Value,
}

impl DocumentCache {
    /// Creates the cache of a program; `None` if the program cannot be found.
    #[must_use]
    pub fn of(program: &Path) -> Option<Self> {
        let metadata = fs::metadata(program).ok()?;
        let built_at = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let name = program.file_name()?.to_string_lossy().into_owned();
        Some(Self {
            file: program.with_file_name(format!("{name}.openapi.json")),
            build: json!([metadata.len(), built_at.as_secs(), built_at.subsec_nanos()]),
        })
    }

    /// Returns the document, if it was kept.
    #[must_use]
    pub fn read(&self) -> Option<Value> {
        let text = fs::read(&self.file).ok()?;
        let mut kept: Value = serde_json::from_slice(&text).ok()?;
        (kept["build"] == self.build).then(|| kept["document"].take())
    }

    /// Keeps the document. If it cannot be written, each test generates it.
    pub fn write(&self, document: &Value) {
        let text = json!({"build": self.build, "document": document}).to_string();
        // Another test may read it at the same time.
        let unfinished = self.file.with_extension(format!("{}.new", std::process::id()));
        if fs::write(&unfinished, text).is_err() || fs::rename(&unfinished, &self.file).is_err() {
            let _ = fs::remove_file(&unfinished);
        }
    }

    /// Returns the document of this test program, which is generated if it was not kept.
    pub fn of_this_program(generate: impl FnOnce() -> Value) -> Value {
        let cache = std::env::current_exe().ok().and_then(|program| Self::of(&program));
        if let Some(document) = cache.as_ref().and_then(Self::read) {
            return document;
        }
        let document = generate();
        if let Some(cache) = cache {
            cache.write(&document);
        }
        document
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn document_counts_for_one_build() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        assert!(DocumentCache::of(&program).is_none());
        fs::write(&program, "1").unwrap();
        let first = DocumentCache::of(&program).unwrap();
        assert_eq!(first.read(), None);
        first.write(&json!({"openapi": "3.1.0"}));
        assert_eq!(first.read(), Some(json!({"openapi": "3.1.0"})));
        fs::write(&program, "12").unwrap();
        assert_eq!(DocumentCache::of(&program).unwrap().read(), None);
    }
}
