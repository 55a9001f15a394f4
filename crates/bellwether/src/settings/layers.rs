//! Layers of settings: defaults, a file and the environment. A later layer overrides an earlier one.
//!
//! A layer is flattened to `section.key` (`section.part.key` if a section has parts), so that the origin of each
//! value is known. The defaults are the first layer and contain all settings: a key that is not among them is
//! unknown.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use super::error::{SettingOrigin, SettingProblem, SettingsError};
use super::value::Setting;

/// The prefix of environment variables.
const VARIABLE_PREFIX: &str = "BELLWETHER_";
/// The separator in variable names; it stands for a dot in the key.
const VARIABLE_SEPARATOR: &str = "__";

/// A value before it is parsed into its type.
#[derive(Clone, Debug)]
enum RawValue {
    /// A value from a TOML file.
    Toml(Value),
    /// The text of an environment variable.
    Text(String),
}

/// Returns the section of a key.
fn section_of(key: &str) -> &str {
    key.rsplit_once('.').map_or("", |(section, _)| section)
}

/// The latest value of every setting, and the problems so far.
#[derive(Debug)]
pub(super) struct Layers {
    found: BTreeMap<String, (RawValue, SettingOrigin)>,
    problems: Vec<SettingProblem>,
}

impl Layers {
    pub(super) fn new() -> Self {
        Self {
            found: BTreeMap::new(),
            problems: Vec::new(),
        }
    }

    /// Applies the settings of a file.
    pub(super) fn add_toml(&mut self, origin: SettingOrigin, text: &str) {
        let table: Table = match text.parse() {
            Ok(table) => table,
            Err(error) => {
                let error: toml::de::Error = error;
                let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
                let line = before.matches('\n').count() + 1;
                self.problem(
                    "",
                    &origin,
                    format!("line {line} is not valid TOML: {}", error.message()),
                );
                return;
            }
        };
        for (section, value) in table {
            match value {
                Value::Table(entries) => self.add_section(&section, entries, &origin),
                _ => {
                    let message = self.unknown_setting_message(&section);
                    self.problem(&section, &origin, message);
                }
            }
        }
    }

    /// Applies the settings of a section and its parts.
    fn add_section(&mut self, section: &str, entries: Table, origin: &SettingOrigin) {
        for (key, value) in entries {
            let key = format!("{section}.{key}");
            match value {
                // No setting is a table, so a table is a part.
                Value::Table(entries) => self.add_section(&key, entries, origin),
                value => self.insert_known(key, RawValue::Toml(value), origin.clone()),
            }
        }
    }

    /// Applies the variables that are settings. An empty variable counts as not set.
    pub(super) fn add_variables(&mut self, variables: impl IntoIterator<Item = (String, String)>) {
        let mut variables: Vec<_> = variables.into_iter().collect();
        variables.sort();
        for (name, text) in variables {
            let Some(key) = name.strip_prefix(VARIABLE_PREFIX).filter(|_| !text.is_empty()) else {
                continue;
            };
            let origin = SettingOrigin::Variable(name.clone());
            let dotted = key.replace(VARIABLE_SEPARATOR, ".").to_ascii_lowercase();
            match self.setting_with_missing_underscores(&dotted) {
                Some(intended) => {
                    let name =
                        format!("{VARIABLE_PREFIX}{}", intended.replace('.', VARIABLE_SEPARATOR)).to_ascii_uppercase();
                    self.problem(&intended, &origin, format!("the variable must be called {name}"));
                }
                // Other programs may use such names: an orchestrator describes a service named `bellwether` with
                // variables like `BELLWETHER_PORT`. Only names with the separator are certainly settings and are
                // rejected.
                None if !key.contains(VARIABLE_SEPARATOR) => {}
                None => self.insert_known(dotted, RawValue::Text(text), origin),
            }
        }
    }

    /// Returns the setting for a variable that has one underscore instead of two.
    fn setting_with_missing_underscores(&self, dotted: &str) -> Option<String> {
        if self.found.contains_key(dotted) {
            return None;
        }
        let name = dotted.replace('.', "_");
        self.found.keys().find(|key| key.replace('.', "_") == name).cloned()
    }

    fn insert_known(&mut self, key: String, found: RawValue, origin: SettingOrigin) {
        if origin == SettingOrigin::Default || self.found.contains_key(&key) {
            self.found.insert(key, (found, origin));
        } else {
            let message = self.unknown_setting_message(section_of(&key));
            self.problem(&key, &origin, message);
        }
    }

    /// Returns the message for an unknown setting, with the known ones.
    fn unknown_setting_message(&self, section: &str) -> String {
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
        format!("there is no such setting; the sections are {}", sections.join(", "))
    }

    fn problem(&mut self, key: &str, origin: &SettingOrigin, message: String) {
        self.problems.push(SettingProblem {
            key: key.to_owned(),
            origin: origin.clone(),
            message,
        });
    }

    /// Returns the value of a setting. An invalid value is recorded as a problem, and the result is `None`.
    pub(super) fn get<T: Setting>(&mut self, key: &str) -> Option<T> {
        let Some((found, origin)) = self.found.get(key) else {
            // A test checks that the defaults contain every setting.
            self.problem(key, &SettingOrigin::Default, "is missing".to_owned());
            return None;
        };
        let value = match found {
            RawValue::Toml(value) => T::from_toml(value),
            RawValue::Text(text) => T::from_text(text.trim()),
        };
        if value.is_none() {
            let origin = origin.clone();
            self.problem(key, &origin, format!("must be {}", T::allowed()));
        }
        value
    }

    /// Records that a value is not allowed in combination with others.
    pub(super) fn refuse(&mut self, key: &str, message: &str) {
        let origin = self
            .found
            .get(key)
            .map_or(SettingOrigin::Default, |(_, origin)| origin.clone());
        self.problem(key, &origin, message.to_owned());
    }

    /// Returns the settings, or all problems if there are any.
    pub(super) fn finish<T>(self, read: Option<T>) -> Result<T, SettingsError> {
        match read {
            Some(read) if self.problems.is_empty() => Ok(read),
            _ => Err(SettingsError::Invalid(self.problems)),
        }
    }

    /// Returns the keys of all settings.
    #[cfg(test)]
    pub(super) fn keys(&self) -> Vec<String> {
        self.found.keys().cloned().collect()
    }
}
