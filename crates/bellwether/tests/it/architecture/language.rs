//! Names and openings of documentation: the part of CONTRIBUTING.md's rules about language that a machine can check.

use std::collections::BTreeMap;

use crate::architecture::sources::{SourceFile, rust_files};

/// Documentation and comments begin with a noun phrase or a verb, never with one of these words.
const BANNED_OPENINGS: &[&str] = &[
    "Nobody", "So long", "So many", "So much", "So often", "What", "Whatever", "Who", "Whoever", "Whose",
];

/// Type names that say nothing, or something else than the field's term.
const BANNED_TYPE_NAMES: &[&str] = &[
    "Asked",
    "Beginning",
    "Begun",
    "Bell",
    "Bells",
    "Carried",
    "Carrier",
    "Chance",
    "Desk",
    "Diary",
    "Door",
    "Drawn",
    "Errand",
    "Familiar",
    "Fate",
    "Feeding",
    "Gate",
    "Guesser",
    "House",
    "Intake",
    "Judged",
    "Keeper",
    "Known",
    "Lane",
    "Letter",
    "Matter",
    "Memory",
    "Num",
    "Occasion",
    "One",
    "Own",
    "Parcel",
    "Patience",
    "Place",
    "Places",
    "Post",
    "Reception",
    "Reel",
    "Repeatable",
    "Said",
    "Seen",
    "Shown",
    "Since",
    "Sitting",
    "Standing",
    "Stranger",
    "Telling",
    "Told",
    "Trouble",
    "Turns",
    "Underway",
    "Unit",
    "Verdict",
    "Via",
    "WayBack",
    "Which",
    "Who",
    "Wish",
    "Wordless",
    "Words",
    "Work",
];

/// Constants that say neither of what they are the value nor in which unit.
const BANNED_CONSTANT_NAMES: &[&str] = &[
    "AFTER_YOU",
    "AT_ONCE",
    "BREATH",
    "DAY",
    "EACH",
    "LEAST",
    "LIFE",
    "LONG",
    "LOOKS",
    "MOST",
    "ONCE",
    "PIECE",
    "SHORT",
    "THINKING",
];

/// Names that are one concept at two layers, which the module path tells apart.
const SHARED_TYPE_NAMES: &[&str] = &[];

/// The word that a definition of one of these kinds names, if a line is one.
fn defined<'a>(line: &'a str, kinds: &[&str]) -> Option<&'a str> {
    let line = line.trim_start();
    let line = line.strip_prefix("pub").map_or(line, |rest| {
        let rest = rest
            .strip_prefix('(')
            .and_then(|rest| rest.split_once(')'))
            .map_or(rest, |(_, rest)| rest);
        rest.trim_start()
    });
    let rest = kinds.iter().find_map(|kind| line.strip_prefix(kind))?;
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_')?;
    Some(&rest[..end])
}

/// The first lines of comments and documentation, with their line numbers.
fn openings(file: &SourceFile) -> Vec<(usize, &str)> {
    let comment = |line: &'_ str| -> bool { line.trim_start().starts_with("//") };
    let lines: Vec<&str> = file.text.lines().collect();
    let first = |at: usize| at == 0 || !comment(lines[at - 1]);
    let begins = (0..lines.len()).filter(|at| comment(lines[*at]) && first(*at));
    begins
        .map(|at| {
            (
                at + 1,
                lines[at].trim_start().trim_start_matches(['/', '!']).trim_start(),
            )
        })
        .collect()
}

#[test]
fn comments_begin_with_a_noun_phrase_or_a_verb() {
    let files = rust_files("crates");
    let found: Vec<String> = files
        .iter()
        .flat_map(|file| openings(file).into_iter().map(move |opening| (file, opening)))
        .filter(|(_, (_, text))| {
            let banned = BANNED_OPENINGS.iter().filter_map(|word| text.strip_prefix(word));
            banned.into_iter().any(|rest| !rest.starts_with(char::is_alphanumeric))
        })
        .map(|(file, (line, text))| format!("{}:{line}: {text}", file.path))
        .collect();
    assert!(found.is_empty(), "{} comments: {found:#?}", found.len());
}

#[test]
fn types_and_constants_have_names_of_the_field() {
    let files = rust_files("crates");
    let mut found = Vec::new();
    for file in &files {
        for (at, line) in file.text.lines().enumerate() {
            let banned_type = defined(line, &["struct ", "enum ", "trait ", "type "]);
            let banned_type = banned_type.filter(|name| BANNED_TYPE_NAMES.contains(name));
            let banned_constant = defined(line, &["const ", "static "]);
            let banned_constant = banned_constant.filter(|name| BANNED_CONSTANT_NAMES.contains(name));
            if let Some(name) = banned_type.or(banned_constant) {
                found.push(format!("{}:{}: {name}", file.path, at + 1));
            }
        }
    }
    assert!(found.is_empty(), "{} names: {found:#?}", found.len());
}

#[test]
fn public_type_names_have_one_meaning() {
    let files = rust_files("crates");
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.path.contains("/src/")) {
        for line in file.text.lines().filter(|line| line.starts_with("pub ")) {
            if let Some(name) = defined(line, &["struct ", "enum ", "trait ", "type "]) {
                places.entry(name).or_default().push(&file.path);
            }
        }
    }
    places.retain(|name, files| files.len() > 1 && !SHARED_TYPE_NAMES.contains(name));
    assert!(places.is_empty(), "rename all but one of each: {places:#?}");
}
