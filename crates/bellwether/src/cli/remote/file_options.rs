//! The files of alerts that a command reads.

use std::fs;
use std::path::{Path, PathBuf};

use alert_files::{FileFormat, FileSet, SourceFile};
use anyhow::Context;
use clap::Args;

use super::super::CommandError;
use super::connection::variable;

/// Files of alerts.
#[derive(Args, Debug)]
pub(in crate::cli) struct FileArgs {
    /// A file of alerts (.yaml, .toml, .json), or a folder whose files are all read; may be repeated
    #[arg(short = 'f', long = "file", value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

/// The name of the file set, under which the server knows its alerts.
#[derive(Args, Debug)]
pub(super) struct SourceArgs {
    /// The name under which the server knows the alerts of these files; default: the name of the repository's folder
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
}

impl FileArgs {
    /// Reads the files.
    pub(in crate::cli) fn read(&self) -> Result<FileSet, CommandError> {
        let mut texts = Vec::new();
        for path in self.paths()? {
            let name = path.display().to_string();
            let format = FileFormat::of_name(&name).with_context(|| {
                format!("{name} is no file of alerts; its name must end in .yaml, .yml, .toml or .json")
            })?;
            let text = fs::read_to_string(&path).with_context(|| format!("cannot read {name}"))?;
            texts.push((name, text, format));
        }
        let files: Vec<SourceFile<'_>> = texts
            .iter()
            .map(|(name, text, format)| SourceFile {
                name,
                text,
                format: *format,
            })
            .collect();
        FileSet::read(&files, &|name| std::env::var(name).ok()).map_err(|errors| CommandError::Failed(errors.into()))
    }

    /// Returns the files, and those of the folders in the order of their names.
    fn paths(&self) -> anyhow::Result<Vec<PathBuf>> {
        let mut paths = Vec::new();
        for path in &self.files {
            if !path.is_dir() {
                paths.push(path.clone());
                continue;
            }
            let entries = fs::read_dir(path).with_context(|| format!("cannot read the folder {}", path.display()))?;
            let mut found = Vec::new();
            for entry in entries {
                let file = entry?.path();
                let is_hidden = file
                    .file_name()
                    .is_some_and(|name| name.to_string_lossy().starts_with('.'));
                if !is_hidden && file.is_file() && FileFormat::of_name(&file.to_string_lossy()).is_some() {
                    found.push(file);
                }
            }
            anyhow::ensure!(
                !found.is_empty(),
                "the folder {} has no files of alerts",
                path.display()
            );
            found.sort();
            paths.extend(found);
        }
        Ok(paths)
    }
}

impl SourceArgs {
    /// Returns the name of the file set: the option, the variable `BELLWETHER_SOURCE`, or the name of the repository's folder.
    pub(super) fn name(&self, files: &FileArgs) -> Result<String, CommandError> {
        let given = self.source.clone().or_else(|| variable("BELLWETHER_SOURCE"));
        let name = given.or_else(|| repository_name(files.files.first()?));
        let name = name.ok_or_else(|| {
            CommandError::Usage("these files are in no folder with a name; give one with --source NAME".to_owned())
        })?;
        alerts::check_managed_name(&name).map_err(|error| CommandError::Usage(format!("--source {error}")))?;
        Ok(name)
    }
}

/// Returns the name of the repository's folder, or of the folder of the file outside of a repository.
fn repository_name(file: &Path) -> Option<String> {
    let file = fs::canonicalize(file).ok()?;
    let folder = if file.is_dir() { file.as_path() } else { file.parent()? };
    let repository = folder.ancestors().find(|folder| folder.join(".git").exists());
    let name = repository.unwrap_or(folder).file_name()?;
    Some(name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_is_the_folder_of_the_repository() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("trading/alerts");
        fs::create_dir_all(&inner).unwrap();
        let file = inner.join("a.yaml");
        fs::write(&file, "").unwrap();
        assert_eq!(repository_name(&file).as_deref(), Some("alerts"));
        fs::create_dir(folder.path().join("trading/.git")).unwrap();
        assert_eq!(repository_name(&file).as_deref(), Some("trading"));
        assert_eq!(repository_name(&inner).as_deref(), Some("trading"));
    }

    #[test]
    fn folder_stands_for_its_files() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.yaml", "a.toml", "readme.md", ".hidden.yaml"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let args = FileArgs {
            files: vec![folder.path().to_owned()],
        };
        let names: Vec<_> = args
            .paths()
            .unwrap()
            .iter()
            .filter_map(|path| path.file_name().map(ToOwned::to_owned))
            .collect();
        assert_eq!(names, ["a.toml", "b.yaml"]);
    }
}
