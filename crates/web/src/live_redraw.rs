//! The rule of live redraws, which tests check in all templates.
//!
//! An event fetches a part of a page again and morphs it, so that its elements keep the focus, an open menu, a selection and typed
//! text (`assets/live-redraw.js`). Rows have ids that name their object, so that a control never becomes that of another row.

use std::path::{Path, PathBuf};

fn templates(folder: &Path) -> Vec<PathBuf> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| if path.is_dir() { templates(&path) } else { vec![path] })
        .collect()
}

/// Returns the tags of the templates that an event redraws, with their files.
fn live_tags() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for path in templates(&Path::new(env!("CARGO_MANIFEST_DIR")).join("templates")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_live = |line: &&str| line.contains("from:document") || line.contains("hx-trigger=\"every");
        let tags = text.lines().filter(is_live);
        found.extend(tags.map(|tag| (name.clone(), tag.to_owned())));
    }
    found
}

/// Returns the value of an attribute.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, value) = tag.split_once(&format!(" {name}=\""))?;
    value.split_once('"').map(|(value, _)| value)
}

#[test]
fn live_parts_are_morphed_in_their_place() {
    let tags = live_tags();
    assert!(tags.len() >= 8, "{tags:?}");
    for (file, tag) in tags {
        let id = attribute(&tag, "id").unwrap_or_else(|| panic!("{file}: the live part has no id: {tag}"));
        assert!(tag.contains(" data-live"), "{file}: #{id} has no data-live");
        assert_eq!(attribute(&tag, "hx-swap"), Some("outerMorph"), "{file}: #{id}");
        assert_eq!(attribute(&tag, "hx-target"), Some(format!("#{id}").as_str()), "{file}");
    }
}

#[test]
fn no_id_is_the_place_in_a_list() {
    for path in templates(&Path::new(env!("CARGO_MANIFEST_DIR")).join("templates")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let tags = text
            .split('<')
            .filter_map(|part| part.split_once('>').map(|(tag, _)| tag));
        for tag in tags {
            let id = attribute(tag, "id").unwrap_or_default();
            assert!(!id.contains("loop.index"), "{}: {tag}", path.display());
        }
    }
}

/// In a form with an input named `id`, the property `id` of the form is that input, so htmx does not recognize the form and replaces
/// it with all its controls.
#[test]
fn no_form_of_a_live_part_has_an_input_named_id() {
    let mut files: Vec<String> = live_tags().into_iter().map(|(file, _)| file).collect();
    files.extend(["mark_seen.html", "resend.html", "delivery_row.html"].map(str::to_owned));
    for path in templates(&Path::new(env!("CARGO_MANIFEST_DIR")).join("templates")) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!files.contains(&name) || !text.contains(" name=\"id\""), "{name}");
    }
}

#[test]
fn rows_with_controls_have_ids_in_live_parts() {
    const FILES: [&str; 6] = [
        "alerts_main.html",
        "fired_main.html",
        "firing_lines.html",
        "stock_alerts.html",
        "today_main.html",
        "today_near.html",
    ];
    for file in FILES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates").join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<_> = text.lines().collect();
        let is_row = |line: &str| ["<li", "<tr", "<article"].iter().any(|tag| line.starts_with(tag));
        let rows: Vec<_> = lines
            .windows(2)
            .filter(|pair| pair[0].contains("{%- for ") && is_row(pair[1]))
            .collect();
        assert!(!rows.is_empty(), "{file} has no rows");
        for row in rows {
            assert!(attribute(row[1], "id").is_some(), "{file}: {}", row[1]);
        }
    }
}
