//! Snapshots of a collection: a folder with one file for each part.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

/// Compares each named part with its file in a folder of `tests/it`. Fails for a missing, a different and a superfluous file.
pub(crate) fn assert_snapshot_folder<'a>(folder: &str, parts: impl IntoIterator<Item = (impl AsRef<str>, &'a Value)>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(folder);
    let mut names = BTreeSet::new();
    insta::with_settings!({snapshot_path => &folder, prepend_module_to_snapshot => false, omit_expression => true}, {
        for (name, part) in parts {
            let name = file_name(name.as_ref());
            insta::assert_snapshot!(name.as_str(), yaml_serde::to_string(part).unwrap());
            assert!(names.insert(format!("{name}.snap")), "two parts have the snapshot {name}");
        }
    });
    let files = std::fs::read_dir(folder).unwrap();
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let superfluous: Vec<_> = files
        .filter(|file| file.ends_with(".snap") && !names.contains(file))
        .collect();
    assert!(superfluous.is_empty(), "delete these snapshots: {superfluous:?}");
}

/// Returns the file name of a part: `alerts_id_history` for the path `alerts/{id}/history`.
fn file_name(part: &str) -> String {
    let words = part.split(|character: char| !(character.is_ascii_alphanumeric() || "-_".contains(character)));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
}
