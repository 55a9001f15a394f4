//! The key file: the key for encrypting stored secrets if `auth.secret_key` is not set.
//!
//! It is stored beside the database file, or in the working directory if the database is a server, and only its owner
//! can read it. A key is on disk under its final name before anything is sealed with it: the whole file is written
//! under a temporary name, linked to its final name, and the folder is synced, so that the name survives a power cut.
//! If two programs start at the same time, one creates the file and both read it.
//!
//! A rotation writes the new key under [`next`], seals the database with it, and only then renames the file ([`promote`]). The
//! key check value in the database shows which file has its key, so the next start finishes an interrupted rotation.

mod files;

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;

use files::{Disk, Files};

/// The name of the key file.
const FILE_NAME: &str = "bellwether.key";
/// The number of random bytes in it, as hexadecimal digits.
pub const KEY_BYTES: usize = 32;

/// Returns the path of a database's key file. It is absolute, so that messages show the right folder.
#[must_use]
pub fn path_for(database_url: &str) -> PathBuf {
    let file = database_url.strip_prefix("sqlite://");
    let file = file.map(|file| Path::new(file.split('?').next().unwrap_or(file)));
    let file = file.and_then(Path::parent).unwrap_or(Path::new("")).join(FILE_NAME);
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
/// If the file cannot be read, or is not a key.
pub fn read(file: &Path) -> anyhow::Result<Option<String>> {
    let key = match Disk.read(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read.with_context(|| format!("cannot read the key file {}", file.display()))?,
    };
    let key = key.trim();
    anyhow::ensure!(
        key.len() == 2 * KEY_BYTES && key.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "the key file {} is invalid: it must have {} hexadecimal digits; restore it from a backup, or set auth.secret_key",
        file.display(),
        2 * KEY_BYTES,
    );
    warn_if_others_can_read(file);
    Ok(Some(key.to_owned()))
}

/// Creates a key file from the random bytes, unless another program has just created it, and reads it.
///
/// # Errors
/// If the file cannot be created or read.
pub fn create(file: &Path, random: &[u8; KEY_BYTES]) -> anyhow::Result<String> {
    create_with(&mut Disk, file, random).with_context(|| format!("cannot create the key file {}", file.display()))?;
    tracing::info!(file = %file.display(), "created a key for stored secrets; keep a copy with your backups");
    read(file)?.with_context(|| format!("the key file {} has disappeared", file.display()))
}

/// Writes the key of a rotation under its staging name, and replaces one that was never used.
///
/// # Errors
/// If the file cannot be written.
pub fn stage(file: &Path, random: &[u8; KEY_BYTES]) -> anyhow::Result<String> {
    let next = next(file);
    remove_staged(file)?;
    create_with(&mut Disk, &next, random).with_context(|| format!("cannot write {}", next.display()))?;
    read(&next)?.with_context(|| format!("{} has disappeared", next.display()))
}

/// Removes the staged key of a rotation that was not completed.
///
/// # Errors
/// If the file cannot be removed.
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

fn create_with(files: &mut impl Files, file: &Path, random: &[u8; KEY_BYTES]) -> io::Result<()> {
    let key = random.iter().fold(String::new(), |mut key, byte| {
        use std::fmt::Write as _;
        // Writing to a string cannot fail.
        let _ = write!(key, "{byte:02x}");
        key
    });
    // The temporary name has random digits, so that two programs never write to one file. The digits reveal nothing
    // about the rest of the key.
    let draft = file.with_extension(format!("key.{}", &key[..8]));
    let key = format!("{}{}\n", &key[8..], &key[..8]);
    let made = files.write_synced(&draft, &key);
    // Linking fails if the name is in use.
    let named = made.and_then(|()| match files.link(&draft, file) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        // Another program may have created the file without having synced the folder yet.
        _ => files.sync_folder(file),
    });
    let removed = files.remove(&draft);
    named?;
    removed
}

fn promote_with(files: &mut impl Files, file: &Path) -> io::Result<()> {
    match files.read(&next(file)) {
        // Another program has completed the rotation.
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
        tracing::warn!(file = %file.display(), "other users can read the key file; make it readable by its owner only (chmod 600)");
    }
}

#[cfg(not(unix))]
fn warn_if_others_can_read(_: &Path) {}

#[cfg(test)]
mod tests;
