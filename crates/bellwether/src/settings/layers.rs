//! Layers of settings: defaults, a file, the environment and the command line. A later layer overrides an earlier one.
//!
//! A layer is flattened to `section.key`, so that the origin of each value is known. The defaults are the first layer
//! and contain all settings: a key that is not among them is unknown.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use toml::{Table, Value};

use super::section::key_in;
use super::value::Setting;
use super::{CommandLineOption, SettingsError};

/// The prefix of environment variables.
const VARIABLE_PREFIX: &str = "BELLWETHER_";
/// The separator in variable names; it stands for a dot in the key.
const VARIABLE_SEPARATOR: &str = "__";

/// The origin of a setting's value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    Default,
    File(PathBuf),
    /// An environment variable.
    Variable(String),
    /// An option of the command line.
    CommandLine(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("by default"),
            Self::File(path) => write!(f, "in {}", path.display()),
            Self::Variable(name) => write!(f, "from the environment, {name}"),
            Self::CommandLine(option) => write!(f, "from the command line, {option}"),
        }
    }
}

/// The latest value of every setting, and the problems so far.
#[derive(Default, Debug)]
pub(super) struct Layers {
    found: BTreeMap<String, (Value, Origin)>,
    problems: Vec<String>,
}

impl Layers {
    /// Applies the settings of a file.
    pub(super) fn add_toml(&mut self, origin: &Origin, text: &str) {
        match text.parse() {
            Ok(table) => self.add_section("", table, origin),
            Err(error) => {
                let error: toml::de::Error = error;
                let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
                let line = before.matches('\n').count() + 1;
                let message = error.message();
                self.problems
                    .push(format!("{origin}: line {line} is not valid TOML: {message}"));
            }
        }
    }

    fn add_section(&mut self, section: &str, entries: Table, origin: &Origin) {
        for (name, value) in entries {
            let key = key_in(section, &name);
            match value {
                // No setting is a table, so a table is a section.
                Value::Table(entries) => self.add_section(&key, entries, origin),
                value => self.insert_known(key, value, origin.clone()),
            }
        }
    }

    /// Applies the variables that are settings. An empty variable counts as not set.
    pub(super) fn add_variables(&mut self, variables: impl IntoIterator<Item = (String, String)>) {
        let variables: BTreeMap<_, _> = variables.into_iter().collect();
        for (name, text) in variables {
            let Some(key) = name.strip_prefix(VARIABLE_PREFIX).filter(|_| !text.is_empty()) else {
                continue;
            };
            let dotted = key.replace(VARIABLE_SEPARATOR, ".").to_ascii_lowercase();
            // Other programs may use such names: an orchestrator describes a service named `bellwether` with variables
            // like `BELLWETHER_PORT`. Only names with the separator are certainly settings and are rejected.
            let is_setting = key.contains(VARIABLE_SEPARATOR);
            let intended = self.setting_with_missing_underscores(&dotted);
            let origin = Origin::Variable(name);
            if let Some(intended) = intended {
                let name = intended.replace('.', VARIABLE_SEPARATOR).to_ascii_uppercase();
                let message = format!("the variable must be called {VARIABLE_PREFIX}{name}");
                self.problem(&intended, &origin, &message);
            } else if is_setting {
                self.insert_known(dotted, Value::String(text), origin);
            }
        }
    }

    /// Applies options of the command line.
    pub(super) fn add_options(&mut self, options: &[CommandLineOption<'_>]) {
        for option in options {
            let value = Value::String(option.value.to_owned());
            self.insert_known(option.key.to_owned(), value, Origin::CommandLine(option.name));
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

    fn insert_known(&mut self, key: String, value: Value, origin: Origin) {
        if origin == Origin::Default || self.found.contains_key(&key) {
            self.found.insert(key, (value, origin));
        } else {
            let message = self.unknown_setting_message(&key);
            self.problem(&key, &origin, &message);
        }
    }

    /// Returns the message for an unknown setting, with the known ones of its section or all sections.
    fn unknown_setting_message(&self, unknown: &str) -> String {
        let known = || self.found.keys().filter_map(|key| key.rsplit_once('.'));
        let section = unknown.rsplit_once('.').map_or("", |(section, _)| section);
        let names: Vec<_> = known().filter(|(of, _)| *of == section).map(|(_, name)| name).collect();
        if !names.is_empty() {
            let names = names.join(", ");
            return format!("there is no such setting; those of [{section}] are {names}");
        }
        let sections: BTreeSet<_> = known().map(|(section, _)| section).collect();
        let sections: Vec<_> = sections.into_iter().collect();
        format!("there is no such setting; the sections are {}", sections.join(", "))
    }

    fn problem(&mut self, key: &str, origin: &Origin, message: &str) {
        self.problems.push(format!("setting {key} ({origin}): {message}"));
    }

    /// Returns the value of a setting. An invalid value is recorded as a problem, and the result is `None`.
    pub(super) fn get<T: Setting>(&mut self, key: &str) -> Option<T> {
        let value = match self.found.get(key) {
            Some((Value::String(text), Origin::Variable(_) | Origin::CommandLine(_))) => T::from_text(text.trim()),
            Some((value, _)) => T::from_toml(value),
            // A test checks that the defaults contain every setting.
            None => None,
        };
        if value.is_none() {
            self.refuse(key, &format!("must be {}", T::allowed()));
        }
        value
    }

    /// Records that a value is not allowed.
    pub(super) fn refuse(&mut self, key: &str, message: &str) {
        let origin = self
            .found
            .get(key)
            .map_or(Origin::Default, |(_, origin)| origin.clone());
        self.problem(key, &origin, message);
    }

    /// Records that a value is not allowed in combination with others, unless `is_allowed`.
    pub(super) fn require(&mut self, is_allowed: bool, key: &str, message: &str) {
        if !is_allowed {
            self.refuse(key, message);
        }
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
    pub(super) fn keys(&self) -> Vec<&String> {
        self.found.keys().collect()
    }
}
