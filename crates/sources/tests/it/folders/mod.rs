//! Temporary data folders.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

/// Creates a folder with these files; a name that ends in `.gz` is compressed.
pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let bytes = if name.ends_with(".gz") {
            gzip(text)
        } else {
            text.as_bytes().to_vec()
        };
        fs::write(path, bytes).unwrap();
    }
    dir
}

pub(crate) fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}
