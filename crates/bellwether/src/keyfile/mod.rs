//! The key file: the key of secrets at rest if `auth.secret_key` is not set.
//!
//! It lies beside the database's file, or in the working directory if the database is a server, and only its owner can
//! read it. A key is on disk under its final name before anything is sealed with it: the file is written whole under a draft
//! name, linked to its final name, and the folder is synced, so that the name survives a power cut. If two programs start at
//! the same time, one makes the file and both read it.
//!
//! A rotation writes the new key under [`next`], seals the database with it, and only then renames the file ([`promote`]). The
//! key check value in the database shows which file has its key, so the next start finishes an interrupted rotation.

mod files;

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;

use files::{Disk, Files};

/// The name of the key file.
const NAME: &str = "bellwether.key";
/// The number of random bytes in it, as hexadecimal digits.
pub const KEY_BYTES: usize = 32;

/// Returns the path of a database's key file. It is absolute, so that a message with it shows which folder is meant.
#[must_use]
pub fn place(database_url: &str) -> PathBuf {
    let file = database_url.strip_prefix("sqlite://");
    let file = file.map(|file| Path::new(file.split('?').next().unwrap_or(file)));
    let file = file.and_then(Path::parent).unwrap_or(Path::new("")).join(NAME);
    std::path::absolute(&file).unwrap_or(file)
}

/// Returns the path of a rotation's new key until the database is sealed with it.
#[must_use]
pub fn next(file: &Path) -> PathBuf {
    file.with_extension("key.next")
}

/// Returns the path of the former key after a rotation. Backups from before the rotation need it.
#[must_use]
pub fn former(file: &Path) -> PathBuf {
    file.with_extension("key.former")
}

/// Reads a key file; `None` if there is none.
///
/// # Errors
/// If it cannot be read, or is not a key.
pub fn read(file: &Path) -> anyhow::Result<Option<String>> {
    let key = match Disk.read(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read.with_context(|| format!("cannot read the key file {}", file.display()))?,
    };
    let key = key.trim();
    anyhow::ensure!(
        key.len() == 2 * KEY_BYTES && key.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "the key file {} is not one: it must have {} hexadecimal digits; restore it from a backup, or set auth.secret_key",
        file.display(),
        2 * KEY_BYTES,
    );
    warn_if_others_can_read(file);
    Ok(Some(key.to_owned()))
}

/// Makes a key file of these random bytes, unless another program has just done so, and reads it.
///
/// # Errors
/// If it can be neither made nor read.
pub fn make(file: &Path, chance: &[u8; KEY_BYTES]) -> anyhow::Result<String> {
    make_with(&mut Disk, file, chance).with_context(|| format!("cannot make the key file {}", file.display()))?;
    tracing::info!(file = %file.display(), "made a key for secrets at rest; keep a copy where you keep your backups");
    read(file)?.with_context(|| format!("the key file {} has gone away again", file.display()))
}

/// Writes the key of a rotation under its staging name, and replaces one that was never used.
///
/// # Errors
/// If it cannot be written.
pub fn stage(file: &Path, chance: &[u8; KEY_BYTES]) -> anyhow::Result<String> {
    let next = next(file);
    remove_staged(file)?;
    make_with(&mut Disk, &next, chance).with_context(|| format!("cannot write {}", next.display()))?;
    read(&next)?.with_context(|| format!("{} has gone away again", next.display()))
}

/// Removes the staged key of a rotation that was not completed.
///
/// # Errors
/// If it cannot be removed.
pub fn remove_staged(file: &Path) -> anyhow::Result<()> {
    let next = next(file);
    match Disk.remove(&next) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", next.display()))
        }
        _ => Ok(()),
    }
}

/// Renames the staged key to the key file. The former key is kept under [`former`].
///
/// # Errors
/// If the files cannot be renamed.
pub fn promote(file: &Path) -> anyhow::Result<()> {
    promote_with(&mut Disk, file).with_context(|| {
        let next = next(file);
        format!(
            "cannot rename {} to {}; the database is sealed with it",
            next.display(),
            file.display()
        )
    })
}

fn make_with(files: &mut impl Files, file: &Path, chance: &[u8; KEY_BYTES]) -> io::Result<()> {
    let key = chance.iter().fold(String::new(), |mut key, byte| {
        use std::fmt::Write as _;
        // Writing to a text cannot fail.
        let _ = write!(key, "{byte:02x}");
        key
    });
    // The name has random digits, so that no two programs write to one file; they reveal nothing of the other digits.
    let draft = file.with_extension(format!("key.{}", &key[..8]));
    let key = format!("{}{}\n", &key[8..], &key[..8]);
    let made = files.write_synced(&draft, &key);
    // The link is only made if the name is free.
    let named = made.and_then(|()| match files.link(&draft, file) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        // Another program may have made it, and not have synced it yet.
        _ => files.sync_folder(file),
    });
    let removed = files.remove(&draft);
    named?;
    removed
}

fn promote_with(files: &mut impl Files, file: &Path) -> io::Result<()> {
    match files.read(&next(file)) {
        // Another program has completed this rotation.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        _ => {}
    }
    let former = former(file);
    match files.remove(&former) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    match files.link(file, &former) {
        // The former key file is lost, which may be the reason for the rotation.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        linked => linked?,
    }
    files.rename(&next(file), file)?;
    files.sync_folder(file)
}

#[cfg(unix)]
fn warn_if_others_can_read(file: &Path) {
    use std::os::unix::fs::PermissionsExt;
    if std::fs::metadata(file).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0) {
        tracing::warn!(file = %file.display(), "others can read the key file; make it readable for its owner only (chmod 600)");
    }
}

#[cfg(not(unix))]
fn warn_if_others_can_read(_: &Path) {}

#[cfg(test)]
mod tests;
