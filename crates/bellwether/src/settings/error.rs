//! What can be wrong with settings, said so that it can be mended.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why there are no settings.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file cannot be read.
    #[error("cannot read the settings file {}: {source}", .path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Some settings are unknown or not allowed.
    #[error("{}", in_lines(.0))]
    Wrong(Vec<Problem>),
}

fn in_lines(problems: &[Problem]) -> String {
    let lines: Vec<_> = problems.iter().map(Problem::to_string).collect();
    lines.join("\n")
}

/// One thing that is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Which setting, as `section.key`; empty if a file cannot be understood at all.
    pub key: String,
    /// Where it was found.
    pub origin: Origin,
    /// What is wrong with it, and what is allowed.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, origin, what } = self;
        match key.as_str() {
            "" => write!(f, "{origin}: {what}"),
            key => write!(f, "setting {key} ({origin}): {what}"),
        }
    }
}

/// Where a setting was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// Among the defaults.
    Default,
    /// In a file.
    File(PathBuf),
    /// In a variable of the environment.
    Variable(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("by default"),
            Self::File(path) => write!(f, "in {}", path.display()),
            Self::Variable(name) => write!(f, "from the environment, {name}"),
        }
    }
}
