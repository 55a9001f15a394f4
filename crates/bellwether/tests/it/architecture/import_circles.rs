//! Circles of imports: files of one crate that import each other in a loop can only be understood together.
//!
//! An import is a `use` or a path that begins with `crate::` or `super::`. It leads to the file that defines the name: a module
//! that only re-exports the name with `pub use` is passed through. Unit tests do not count.

use std::collections::{BTreeMap, BTreeSet};

use crate::architecture::sources::{SourceFile, crate_folders, rust_files};

/// The largest circle that is allowed.
const MAX_FILES_PER_CIRCLE: usize = 8;

/// A path of module names below the crate's root; empty for the root.
type ModulePath = Vec<String>;

struct Module<'a> {
    file: &'a SourceFile,
    /// Names that this module re-exports, with the paths that it imports them from.
    reexports: BTreeMap<String, ModulePath>,
}

/// The module that a file below `src` defines.
fn module_path(path_below_src: &str) -> ModulePath {
    let path = path_below_src.trim_end_matches(".rs");
    let mut parts: ModulePath = path.split('/').map(str::to_owned).collect();
    if matches!(parts.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        parts.pop();
    }
    parts
}

/// The text without comments, and without the scopes of visibilities, which import nothing.
fn code(text: &str) -> String {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let code = lines.collect::<Vec<_>>().join("\n");
    let mut parts = code.split("pub(in ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + "pub" + part.split_once(')').map_or("", |(_, rest)| rest)
    })
}

/// Expands `a::{b, c::d}` to `a::b` and `a::c::d`.
fn expand(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else {
        let path = tree.split(" as ").next().unwrap_or_default().trim();
        return if path.is_empty() {
            Vec::new()
        } else {
            vec![path.to_owned()]
        };
    };
    let prefix = &tree[..open];
    let inner = tree[open + 1..].trim_end().trim_end_matches('}');
    let (mut depth, mut start, mut parts) = (0_i32, 0, Vec::new());
    for (at, letter) in inner.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[start..]);
    let paths = parts.iter().flat_map(|part| expand(part));
    paths
        .map(|path| {
            let path = path.trim_end_matches("self").trim_end_matches("::").to_owned();
            format!("{prefix}{path}").trim_end_matches("::").to_owned()
        })
        .collect()
}

/// A path as written in a module, from the crate's root; `None` for one that leads to another crate.
fn absolute(path: &str, module: &[String], children: &BTreeSet<String>) -> Option<ModulePath> {
    let mut parts = path.split("::").map(str::trim);
    let mut base = module.to_vec();
    let first = parts.next()?;
    match first {
        "crate" => base.clear(),
        "self" => {}
        "super" => {
            base.pop()?;
        }
        name if children.contains(name) => base.push(name.to_owned()),
        _ => return None,
    }
    for part in parts {
        match part {
            "super" => {
                base.pop()?;
            }
            name => base.push(name.to_owned()),
        }
    }
    Some(base)
}

/// All paths that a file uses: those of its `use` items, and those that begin with `crate::` or `super::` elsewhere.
fn paths_of(code: &str) -> (Vec<String>, Vec<String>) {
    let (mut used, mut reexported) = (Vec::new(), Vec::new());
    for statement in code.split(';') {
        let start = statement.rfind("\nuse ").map(|at| (at + 5, false));
        let public = ["\npub use ", "\npub(crate) use ", "\npub(super) use "];
        let public = public
            .iter()
            .find_map(|mark| statement.rfind(mark).map(|at| (at + mark.len(), true)));
        if let Some((at, is_public)) = start.or(public) {
            let paths = expand(&statement[at..]);
            if is_public {
                reexported.extend(paths.clone());
            }
            used.extend(paths);
        }
    }
    for mark in ["crate::", "super::"] {
        for (at, _) in code.match_indices(mark) {
            let path: String = code[at..]
                .chars()
                .take_while(|letter| letter.is_alphanumeric() || matches!(letter, '_' | ':'))
                .collect();
            used.push(path.trim_end_matches(':').to_owned());
        }
    }
    (used, reexported)
}

/// The modules of a crate, and which of them import which.
fn imports(files: &[SourceFile], folder: &str) -> BTreeMap<String, BTreeSet<String>> {
    let src = format!("{folder}/src/");
    let of_module: BTreeMap<ModulePath, &SourceFile> = files
        .iter()
        .filter_map(|file| Some((module_path(file.path.strip_prefix(&src)?), file)))
        .collect();
    let children = |module: &[String]| -> BTreeSet<String> {
        let below = of_module.keys().filter(|path| path.len() == module.len() + 1);
        below
            .filter(|path| path.starts_with(module))
            .filter_map(|path| path.last().cloned())
            .collect()
    };
    let mut modules: BTreeMap<ModulePath, (Module<'_>, Vec<ModulePath>)> = BTreeMap::new();
    for (path, file) in &of_module {
        let (used, reexported) = paths_of(&code(file.without_tests()));
        let children = children(path);
        let reexports: BTreeMap<String, ModulePath> = reexported
            .iter()
            .filter_map(|reexport| absolute(reexport, path, &children))
            .filter_map(|path| Some((path.last()?.clone(), path)))
            .collect();
        let used = used
            .iter()
            .filter_map(|used| absolute(used, path, &children))
            // A re-export by itself needs no understanding of the other file.
            .filter(|used| !reexports.values().any(|reexported| reexported == used));
        modules.insert(
            path.clone(),
            (
                Module {
                    file,
                    reexports: reexports.clone(),
                },
                used.collect(),
            ),
        );
    }
    let file_of = |path: &ModulePath| -> Option<String> {
        let mut path = path.clone();
        for _ in 0..8 {
            let known = (0..=path.len())
                .rev()
                .find(|length| modules.contains_key(&path[..*length]))?;
            let (module, _) = &modules[&path[..known]];
            match path.get(known).and_then(|name| module.reexports.get(name)) {
                Some(target) if target[..] != path[..=known] => {
                    let rest = path.split_off(known + 1);
                    path = target.iter().cloned().chain(rest).collect();
                }
                _ => return Some(module.file.path.clone()),
            }
        }
        None
    };
    modules
        .values()
        .map(|(module, used)| {
            let targets = used.iter().filter_map(&file_of);
            let others = targets.filter(|target| *target != module.file.path);
            (module.file.path.clone(), others.collect())
        })
        .collect()
}

/// The files that `from` leads to, directly or by way of others.
fn reachable(from: &str, imports: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(file) = open.pop() {
        for next in imports.get(&file).into_iter().flatten() {
            if found.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    found
}

/// The circles of more than one file, the largest first.
fn circles(imports: &BTreeMap<String, BTreeSet<String>>) -> Vec<BTreeSet<String>> {
    let reach: BTreeMap<&String, BTreeSet<String>> =
        imports.keys().map(|file| (file, reachable(file, imports))).collect();
    let mut circles: BTreeSet<BTreeSet<String>> = BTreeSet::new();
    for (file, reached) in &reach {
        let mut circle: BTreeSet<String> = reached
            .iter()
            .filter(|other| reach.get(other).is_some_and(|back| back.contains(*file)))
            .cloned()
            .collect();
        circle.insert((*file).clone());
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    let mut circles: Vec<_> = circles.into_iter().collect();
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    circles
}

#[test]
fn no_circle_of_imports_has_more_than_8_files() {
    let mut large = Vec::new();
    for folder in crate_folders() {
        let files = rust_files(&folder);
        let imports = imports(&files, &folder);
        for circle in circles(&imports) {
            if circle.len() > MAX_FILES_PER_CIRCLE {
                let inner: Vec<String> = circle
                    .iter()
                    .map(|file| {
                        let to = imports[file].iter().filter(|to| circle.contains(*to));
                        format!("{file} -> {}", to.cloned().collect::<Vec<_>>().join(", "))
                    })
                    .collect();
                large.push(format!("{} files: {inner:#?}", circle.len()));
            }
        }
    }
    assert!(large.is_empty(), "these circles are too large: {}", large.join("\n"));
}

#[test]
fn a_circle_of_two_files_is_found() {
    let file = |path: &str, text: &str| SourceFile {
        path: format!("crates/a/src/{path}"),
        text: text.to_owned(),
    };
    let files = [
        file("lib.rs", "mod one;\nmod two;\n"),
        file("one.rs", "//! One.\n\nuse crate::two::Two;\n"),
        file("two/mod.rs", "//! Two.\n\nmod inner;\n\npub use inner::Two;\n"),
        file("two/inner.rs", "//! Inner.\n\nuse crate::one;\n"),
    ];
    let found = circles(&imports(&files, "crates/a"));
    let expected = ["crates/a/src/one.rs", "crates/a/src/two/inner.rs"];
    assert_eq!(found, [expected.map(str::to_owned).into()]);
}
