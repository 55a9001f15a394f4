//! Sets of files of alerts.

mod alert;
mod keys;
mod valid;

use std::collections::HashMap;

use uuid::Uuid;

use crate::error::{ErrorCollector, FileError, FileErrors};
use crate::suggestion::did_you_mean;
use crate::syntax::{self, FileFormat, FilePosition, Node, NodeKind};
pub use alert::DeclaredAlert;
pub(crate) use keys::EXPECT_KEYS;
#[cfg(test)]
pub(crate) use keys::{ALERT_KEYS, DEFAULT_KEYS, NOTIFY_KEYS};
pub use valid::ValidAlert;
pub(crate) use valid::{long_ago, read_alert};

/// The version of the format.
const VERSION: u64 = 1;
pub(crate) const FILE_KEYS: &[&str] = &["version", "defaults", "alerts"];

/// A file of alerts.
#[derive(Clone, Copy, Debug)]
pub struct SourceFile<'a> {
    /// Its name, for messages.
    pub name: &'a str,
    /// Its content.
    pub text: &'a str,
    /// Its format.
    pub format: FileFormat,
}

/// Returns the value of a variable of the environment.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The ids of the account's notification channels, by their names.
pub type ChannelIds = HashMap<String, Vec<Uuid>>;

/// The alerts of a set of files.
#[derive(Clone, Debug, Default)]
pub struct FileSet {
    /// The alerts, in the order of the files.
    pub alerts: Vec<DeclaredAlert>,
}

impl FileSet {
    /// Reads files. Their alerts are not validated yet ([`Self::validate`](FileSet::validate)).
    ///
    /// # Errors
    /// All errors of the files: syntax, variables, unknown and missing keys, and names that occur twice.
    pub fn read(files: &[SourceFile<'_>], variables: Variables<'_>) -> Result<Self, FileErrors> {
        let mut set = Self::default();
        let mut errors = Vec::new();
        for file in files {
            match syntax::read(file.name, file.text, file.format, variables) {
                Ok(node) => {
                    let mut collector = ErrorCollector::new(file.name);
                    read_file(&node, file.name, &mut set, &mut collector);
                    errors.extend(collector.errors);
                }
                Err(found) => errors.extend(found.0),
            }
        }
        errors.extend(set.repeated_names());
        if errors.is_empty() {
            Ok(set)
        } else {
            Err(FileErrors(errors))
        }
    }

    /// Whether an alert names a notification channel, so that [`Self::validate`](FileSet::validate) needs the ids.
    #[must_use]
    pub fn names_channels(&self) -> bool {
        self.alerts.iter().any(DeclaredAlert::names_channels)
    }

    fn repeated_names(&self) -> Vec<FileError> {
        let mut first: HashMap<&str, &DeclaredAlert> = HashMap::new();
        let mut errors = Vec::new();
        for alert in &self.alerts {
            let known = *first.entry(alert.name.as_str()).or_insert(alert);
            if !std::ptr::eq(known, alert) {
                let message = format!(
                    "the name `{}` is also that of the alert at {}:{}; give each alert its own name",
                    alert.name,
                    known.file,
                    known.position().line
                );
                errors.push(alert.error("name", message));
            }
        }
        errors
    }
}

fn read_file(node: &Node, file: &str, set: &mut FileSet, errors: &mut ErrorCollector<'_>) {
    let Some(members) = node.members() else {
        let message = "a file of alerts begins with `version: 1` and has a list `alerts`";
        errors.add(node.position, message);
        return;
    };
    for (key, _) in members
        .iter()
        .filter(|(key, _)| !FILE_KEYS.contains(&key.name.as_str()))
    {
        let hint = did_you_mean(&key.name, FILE_KEYS);
        errors.add(key.position, format!("unknown key `{}`; {hint}", key.name));
    }
    match node.get("version") {
        None => errors.add(
            FilePosition::START,
            "`version` is missing; begin the file with `version: 1`",
        ),
        Some(version) if version.to_json() == VERSION => {}
        Some(version) => {
            let message =
                format!("this program reads version {VERSION}; write `version: {VERSION}`, or use a newer program");
            errors.add(version.position, message);
        }
    }
    let nothing = Node {
        position: FilePosition::START,
        kind: NodeKind::Null,
    };
    let defaults = node.get("defaults").unwrap_or(&nothing);
    keys::check_defaults(defaults, errors);
    match node.get("alerts") {
        None => errors.add(
            FilePosition::START,
            "`alerts` is missing; add a list of alerts, which may be empty: `alerts: []`",
        ),
        Some(alerts) => match alerts.items() {
            Some(items) => {
                let alerts = items
                    .iter()
                    .filter_map(|item| DeclaredAlert::read(item, defaults, file, errors));
                set.alerts.extend(alerts);
            }
            None if alerts.kind == NodeKind::Null => {}
            None => {
                let message = format!("`alerts` must be a list, not {}", alerts.kind_name());
                errors.add(alerts.position, message);
            }
        },
    }
}
