//! The stored address and API key: a file in the user's config folder that only its owner can read.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use client::ClientKey;

/// The name of the file in the folder `bellwether`.
const FILE_NAME: &str = "credentials.toml";

/// An address and a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Credentials {
    pub(super) url: String,
    pub(super) api_key: ClientKey,
}

/// Returns the path of the file; `None` if the environment names no home folder.
pub(super) fn path(variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
    let folder = match variable("XDG_CONFIG_HOME") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(variable("HOME")?).join(".config"),
    };
    Some(folder.join("bellwether").join(FILE_NAME))
}

/// Reads the file; `None` if there is none.
pub(super) fn read(path: &Path) -> anyhow::Result<Option<Credentials>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let table: Option<toml::Table> = text.parse().ok();
    let text = |name: &str| table.as_ref()?.get(name)?.as_str().map(str::to_owned);
    let credentials = text("url").zip(text("api_key").and_then(|key| ClientKey::new(&key)));
    let (url, api_key) =
        credentials.with_context(|| format!("{} is damaged; run `bellwether login` again", path.display()))?;
    Ok(Some(Credentials { url, api_key }))
}

/// Writes the file, so that only its owner can read it.
pub(super) fn write(path: &Path, credentials: &Credentials) -> anyhow::Result<()> {
    let mut table = toml::Table::new();
    table.insert("url".to_owned(), credentials.url.as_str().into());
    table.insert("api_key".to_owned(), credentials.api_key.secret().into());
    write_private(path, &table.to_string()).with_context(|| format!("cannot write {}", path.display()))
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    // A new file in place of the old one, which may be readable for others.
    let new = path.with_extension("toml.new");
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut out = options.open(&new)?;
    out.write_all(text.as_bytes())?;
    out.sync_all()?;
    fs::rename(&new, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials() -> Credentials {
        Credentials {
            url: "https://alerts.example.com".to_owned(),
            api_key: ClientKey::new("sk_\"quoted\"").unwrap(),
        }
    }

    #[test]
    fn file_is_read_as_it_was_written_and_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bellwether/credentials.toml");
        assert_eq!(read(&path).unwrap(), None);
        for _ in 0..2 {
            write(&path, &credentials()).unwrap();
        }
        assert_eq!(read(&path).unwrap(), Some(credentials()));
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions());
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn damaged_file_is_an_error_that_names_the_fix() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("credentials.toml");
        fs::write(&path, "url = 1\n").unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("bellwether login"));
    }

    #[test]
    fn folder_follows_the_environment() {
        let home = |name: &str| (name == "HOME").then(|| "/home/ann".to_owned());
        assert_eq!(path(home), Some("/home/ann/.config/bellwether/credentials.toml".into()));
        let config = |name: &str| (name == "XDG_CONFIG_HOME").then(|| "/config".to_owned());
        assert_eq!(path(config), Some("/config/bellwether/credentials.toml".into()));
        assert_eq!(path(|_| None), None);
    }
}
