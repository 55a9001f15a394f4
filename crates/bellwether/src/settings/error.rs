//! Errors in the settings, with the fix.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// The reasons why settings cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file cannot be read.
    #[error("cannot read the settings file {}: {source}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Some settings are unknown or invalid.
    #[error("{}", join_lines(.0))]
    Invalid(Vec<SettingProblem>),
}

fn join_lines(problems: &[SettingProblem]) -> String {
    let lines: Vec<_> = problems.iter().map(SettingProblem::to_string).collect();
    lines.join("\n")
}

/// A problem with one setting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettingProblem {
    /// The setting as `section.key`; empty if a whole file cannot be parsed.
    pub key: String,
    /// The origin of the value.
    pub origin: SettingOrigin,
    /// The problem, and the allowed values.
    pub message: String,
}

impl fmt::Display for SettingProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, origin, message } = self;
        match key.as_str() {
            "" => write!(f, "{origin}: {message}"),
            key => write!(f, "setting {key} ({origin}): {message}"),
        }
    }
}

/// The origin of a setting's value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SettingOrigin {
    /// The defaults.
    Default,
    /// A settings file.
    File(PathBuf),
    /// An environment variable.
    Variable(String),
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("by default"),
            Self::File(path) => write!(f, "in {}", path.display()),
            Self::Variable(name) => write!(f, "from the environment, {name}"),
        }
    }
}
