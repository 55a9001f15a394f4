//! Files as trees of nodes with positions.

mod json;
mod node;
mod toml;
mod variables;
mod yaml;

pub(crate) use node::{Key, Node, NodeKind};
pub(crate) use variables::expand;

use crate::error::{FileError, FileErrors};

/// A place in a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FilePosition {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl FilePosition {
    /// The beginning of a file.
    pub const START: Self = Self { line: 1, column: 1 };

    /// Returns the position of a byte in a text.
    pub(crate) fn of_byte(text: &str, byte: usize) -> Self {
        let before = text.get(..byte).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

/// The format of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileFormat {
    /// YAML 1.2
    Yaml,
    /// TOML
    Toml,
    /// JSON
    Json,
}

impl FileFormat {
    /// Returns the format of a file by the end of its name; `None` for an unknown one.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let (_, end) = name.rsplit_once('.')?;
        match end.to_ascii_lowercase().as_str() {
            "yaml" | "yml" => Some(Self::Yaml),
            "toml" => Some(Self::Toml),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}

/// Reads a file.
///
/// # Errors
/// The first syntax error, or all errors of variables.
pub(crate) fn read(
    file: &str,
    text: &str,
    format: FileFormat,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Node, FileErrors> {
    // Some editors begin a file with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let node = match format {
        FileFormat::Yaml => yaml::read(text),
        FileFormat::Toml => toml::read(text),
        FileFormat::Json => json::read(text),
    };
    let mut node = node.map_err(|(position, message)| FileError {
        file: file.to_owned(),
        position,
        message,
    })?;
    let mut errors = crate::error::ErrorCollector::new(file);
    expand(&mut node, variable, &mut errors);
    if errors.errors.is_empty() {
        Ok(node)
    } else {
        Err(FileErrors(errors.errors))
    }
}

/// The error of a syntax: its place and its message.
type SyntaxError = (FilePosition, String);
