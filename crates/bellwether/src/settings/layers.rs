//! Layers of settings: defaults, a file, the environment, the later one winning.
//!
//! A layer is flattened to `section.key` (`section.part.key` where a section has parts), so that each value can be traced
//! to where it was found. The defaults are the first layer and hold every setting there is: what is not among them is
//! unknown.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use super::error::{Origin, Problem, SettingsError};
use super::value::Setting;

/// What variables begin with.
const PREFIX: &str = "BELLWETHER_";
/// What stands in the name of a variable where a dot stands in a key.
const BETWEEN: &str = "__";

/// A value as it was found.
#[derive(Clone, Debug)]
enum Found {
    /// In TOML.
    Toml(Value),
    /// As the text of a variable.
    Text(String),
}

/// What a key stands in.
fn section_of(key: &str) -> &str {
    key.rsplit_once('.').map_or("", |(section, _)| section)
}

/// Every setting as it was found last, and what was wrong on the way.
#[derive(Debug)]
pub(super) struct Layers {
    found: BTreeMap<String, (Found, Origin)>,
    problems: Vec<Problem>,
}

impl Layers {
    pub(super) fn new() -> Self {
        Self {
            found: BTreeMap::new(),
            problems: Vec::new(),
        }
    }

    /// Lays a file's settings over what there is.
    pub(super) fn add_toml(&mut self, origin: Origin, text: &str) {
        let table: Table = match text.parse() {
            Ok(table) => table,
            Err(error) => {
                let error: toml::de::Error = error;
                let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
                let line = before.matches('\n').count() + 1;
                self.problem("", &origin, format!("line {line} is no TOML: {}", error.message()));
                return;
            }
        };
        for (section, value) in table {
            match value {
                Value::Table(entries) => self.add_section(&section, entries, &origin),
                _ => {
                    let what = self.known_are(&section);
                    self.problem(&section, &origin, what);
                }
            }
        }
    }

    /// Lays a section's settings over what there is, and those of its parts.
    fn add_section(&mut self, section: &str, entries: Table, origin: &Origin) {
        for (key, value) in entries {
            let key = format!("{section}.{key}");
            match value {
                // No setting is a table.
                Value::Table(entries) => self.add_section(&key, entries, origin),
                value => self.put(key, Found::Toml(value), origin.clone()),
            }
        }
    }

    /// Lays those variables over what there is that are settings. An empty one counts as not given.
    pub(super) fn add_variables(&mut self, variables: impl IntoIterator<Item = (String, String)>) {
        let mut variables: Vec<_> = variables.into_iter().collect();
        variables.sort();
        for (name, text) in variables {
            let Some(key) = name.strip_prefix(PREFIX).filter(|_| !text.is_empty()) else {
                continue;
            };
            let origin = Origin::Variable(name.clone());
            let dotted = key.replace(BETWEEN, ".").to_ascii_lowercase();
            match self.with_one_underscore(&dotted) {
                Some(meant) => {
                    let name = format!("{PREFIX}{}", meant.replace('.', BETWEEN)).to_ascii_uppercase();
                    self.problem(&meant, &origin, format!("the variable must be called {name}"));
                }
                // Others may name their variables so: an orchestrator describes a service of our name with
                // BELLWETHER_PORT and the like. Only what was clearly meant for us is refused.
                None if !key.contains(BETWEEN) => {}
                None => self.put(dotted, Found::Text(text), origin),
            }
        }
    }

    /// The setting that was meant by a variable with one underscore where two belong.
    fn with_one_underscore(&self, dotted: &str) -> Option<String> {
        if self.found.contains_key(dotted) {
            return None;
        }
        let name = dotted.replace('.', "_");
        self.found.keys().find(|key| key.replace('.', "_") == name).cloned()
    }

    fn put(&mut self, key: String, found: Found, origin: Origin) {
        if origin == Origin::Default || self.found.contains_key(&key) {
            self.found.insert(key, (found, origin));
        } else {
            let what = self.known_are(section_of(&key));
            self.problem(&key, &origin, what);
        }
    }

    /// What to write instead of a setting that there is not.
    fn known_are(&self, section: &str) -> String {
        let of_section: Vec<_> = self
            .found
            .keys()
            .filter_map(|key| key.rsplit_once('.'))
            .filter_map(|(of, key)| (of == section).then_some(key))
            .collect();
        if !of_section.is_empty() {
            return format!(
                "there is no such setting; those of [{section}] are {}",
                of_section.join(", ")
            );
        }
        let sections: BTreeSet<_> = self.found.keys().map(|key| section_of(key)).collect();
        let sections: Vec<_> = sections.into_iter().collect();
        format!(
            "there is no such setting; settings stand in the sections {}",
            sections.join(", ")
        )
    }

    fn problem(&mut self, key: &str, origin: &Origin, what: String) {
        self.problems.push(Problem {
            key: key.to_owned(),
            origin: origin.clone(),
            what,
        });
    }

    /// The value of a setting. If it is not allowed, that is noted, and there is none.
    pub(super) fn get<T: Setting>(&mut self, key: &str) -> Option<T> {
        let Some((found, origin)) = self.found.get(key) else {
            // A test sees to it that the defaults hold every setting.
            self.problem(key, &Origin::Default, "is missing".to_owned());
            return None;
        };
        let value = match found {
            Found::Toml(value) => T::from_toml(value),
            Found::Text(text) => T::from_text(text.trim()),
        };
        if value.is_none() {
            let origin = origin.clone();
            self.problem(key, &origin, format!("must be {}", T::allowed()));
        }
        value
    }

    /// Notes that a value is allowed, but not together with another one.
    pub(super) fn refuse(&mut self, key: &str, what: &str) {
        let origin = self
            .found
            .get(key)
            .map_or(Origin::Default, |(_, origin)| origin.clone());
        self.problem(key, &origin, what.to_owned());
    }

    /// What was read, unless something was wrong.
    pub(super) fn finish<T>(self, read: Option<T>) -> Result<T, SettingsError> {
        match read {
            Some(read) if self.problems.is_empty() => Ok(read),
            _ => Err(SettingsError::Wrong(self.problems)),
        }
    }

    /// The keys of all settings.
    #[cfg(test)]
    pub(super) fn keys(&self) -> Vec<String> {
        self.found.keys().cloned().collect()
    }
}
