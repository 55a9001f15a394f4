//! The key of secrets at rest, where the operator has set none: a file that the program makes for itself.
//!
//! It lies beside the database's file, or in the working directory if the database is a server, and only its owner can
//! read it. It is made whole under another name and then given its own, so that of two programs that start at once, one
//! makes it and both read the same.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

/// What the file is called.
const NAME: &str = "bellwether.key";
/// How many bytes of chance are in it, as hexadecimal digits.
const KEY_BYTES: usize = 32;

/// Where the key file of a database lies.
#[must_use]
pub fn place(database_url: &str) -> PathBuf {
    let file = database_url.strip_prefix("sqlite://");
    let file = file.map(|file| Path::new(file.split('?').next().unwrap_or(file)));
    file.and_then(Path::parent).unwrap_or(Path::new("")).join(NAME)
}

/// Reads the key file, and makes it if there is none, of these bytes of chance.
///
/// # Errors
/// If it can be neither read nor made, or is not a key.
pub fn read_or_make(file: &Path, chance: &[u8; KEY_BYTES]) -> anyhow::Result<String> {
    let key = match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make(file, chance).with_context(|| format!("cannot make the key file {}", file.display()))?;
            tracing::info!(file = %file.display(), "made a key for secrets at rest; keep a copy where you keep your backups");
            fs::read_to_string(file)
        }
        read => read,
    };
    let key = key.with_context(|| format!("cannot read the key file {}", file.display()))?;
    let key = key.trim();
    anyhow::ensure!(
        key.len() == 2 * KEY_BYTES && key.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "the key file {} is not one: it must have {} hexadecimal digits; restore it from a backup, or set auth.secret_key",
        file.display(),
        2 * KEY_BYTES,
    );
    warn_if_others_can_read(file);
    Ok(key.to_owned())
}

fn make(file: &Path, chance: &[u8; KEY_BYTES]) -> io::Result<()> {
    let key = chance.iter().fold(String::new(), |mut key, byte| {
        use std::fmt::Write as _;
        // Writing to a text cannot fail.
        let _ = write!(key, "{byte:02x}");
        key
    });
    // Its name has some of the key's digits, so that no two programs write to one file; they say nothing of the others.
    let draft = file.with_extension(format!("key.{}", &key[..8]));
    let key = format!("{}{}\n", &key[8..], &key[..8]);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let made = options.open(&draft).and_then(|mut out| {
        out.write_all(key.as_bytes())?;
        out.sync_all()
    });
    // A name is only given if nobody else has it.
    let named = made.and_then(|()| fs::hard_link(&draft, file));
    fs::remove_file(&draft)?;
    match named {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn warn_if_others_can_read(file: &Path) {
    use std::os::unix::fs::PermissionsExt;
    if fs::metadata(file).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0) {
        tracing::warn!(file = %file.display(), "others can read the key file; make it readable for its owner only (chmod 600)");
    }
}

#[cfg(not(unix))]
fn warn_if_others_can_read(_: &Path) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_lies_beside_the_databases_file() {
        for (url, expected) in [
            (
                "sqlite:///var/lib/bellwether/bw.db",
                "/var/lib/bellwether/bellwether.key",
            ),
            ("sqlite://bellwether.db", "bellwether.key"),
            ("sqlite://data/bw.db?mode=rwc", "data/bellwether.key"),
            ("postgres://bw:secret@db/bw", "bellwether.key"),
        ] {
            assert_eq!(place(url), Path::new(expected), "{url}");
        }
    }

    #[test]
    fn a_key_is_made_once_for_its_owner_only_and_then_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(NAME);
        let made = read_or_make(&file, &[7; KEY_BYTES]).unwrap();
        assert_eq!(made.len(), 64);
        assert_eq!(read_or_make(&file, &[8; KEY_BYTES]).unwrap(), made);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn of_two_who_make_a_key_at_once_both_read_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(NAME);
        make(&file, &[1; KEY_BYTES]).unwrap();
        make(&file, &[2; KEY_BYTES]).unwrap();
        assert_eq!(read_or_make(&file, &[3; KEY_BYTES]).unwrap(), "01".repeat(32));
    }

    #[test]
    fn what_is_no_key_is_refused_with_the_mend() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(NAME);
        fs::write(&file, "letmein").unwrap();
        let refusal = read_or_make(&file, &[1; KEY_BYTES]).unwrap_err().to_string();
        assert!(
            refusal.contains("auth.secret_key") && !refusal.contains("letmein"),
            "{refusal}"
        );
    }
}
