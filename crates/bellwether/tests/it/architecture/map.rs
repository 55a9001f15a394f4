//! The map of the code in ARCHITECTURE.md names files that exist, and leads to the answers in docs/look-ups.md.

use crate::architecture::sources::root;

/// The table "Where do I find …?" has at least so many entries.
const MIN_ENTRIES: usize = 30;

/// The rows of the table: a question and the paths in its answer.
fn entries(document: &str) -> Vec<(String, Vec<String>)> {
    let section = document.split("## Where do I find").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ")).skip(1);
    rows.filter(|row| !row.starts_with("|---"))
        .map(|row| {
            let mut cells = row.trim_matches('|').split('|').map(str::trim);
            let question = cells.next().unwrap().to_owned();
            let answer = cells.next().unwrap_or_default();
            let paths = answer.split('`').skip(1).step_by(2).map(str::to_owned).collect();
            (question, paths)
        })
        .collect()
}

#[test]
fn every_entry_of_the_map_names_files_that_exist() {
    let document = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let entries = entries(&document);
    assert!(entries.len() >= MIN_ENTRIES, "the table has {} entries", entries.len());
    for (question, paths) in &entries {
        assert!(!paths.is_empty(), "{question:?} names no file");
        for path in paths {
            assert!(
                root().join(path).exists(),
                "{question:?} names {path}, which does not exist"
            );
        }
    }
}

#[test]
fn every_look_up_takes_two_steps_from_the_map() {
    let map = entries(&std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap());
    let look_ups = std::fs::read_to_string(root().join("docs/look-ups.md")).unwrap();
    let rows = look_ups.lines().filter(|line| line.starts_with("| ")).skip(1);
    let mut checked = 0;
    for row in rows {
        let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [_, question, file, name] = cells[..] else {
            panic!("not four columns: {row}");
        };
        let (file, name) = (file.trim_matches('`'), name.trim_matches('`'));
        let entry = map.iter().find(|(entry, _)| entry == question);
        let (_, paths) = entry.unwrap_or_else(|| panic!("ARCHITECTURE.md has no row {question:?}"));
        assert!(
            paths.iter().any(|path| path == file),
            "{question:?} does not name {file}"
        );
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        assert!(text.contains(name), "{file} does not contain {name}");
        checked += 1;
    }
    assert_eq!(checked, 12);
}
