//! The file system operations of key files, behind a trait, so that a test can simulate a power cut.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// The file system operations that key files need.
pub(super) trait Files {
    /// Reads a text file.
    fn read(&self, file: &Path) -> io::Result<String>;

    /// Writes a new file that only its owner can read, and syncs its content, but not its name.
    fn write_synced(&mut self, file: &Path, text: &str) -> io::Result<()>;

    /// Creates a hard link to a file, unless the name is in use.
    fn link(&mut self, file: &Path, name: &Path) -> io::Result<()>;

    /// Renames a file, and replaces any file of that name.
    fn rename(&mut self, file: &Path, name: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove(&mut self, file: &Path) -> io::Result<()>;

    /// Syncs the directory entries of a file's folder.
    fn sync_folder(&mut self, file: &Path) -> io::Result<()>;
}

/// The machine's file system.
pub(super) struct Disk;

impl Files for Disk {
    fn read(&self, file: &Path) -> io::Result<String> {
        fs::read_to_string(file)
    }

    fn write_synced(&mut self, file: &Path, text: &str) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut out = options.open(file)?;
        out.write_all(text.as_bytes())?;
        out.sync_all()
    }

    fn link(&mut self, file: &Path, name: &Path) -> io::Result<()> {
        fs::hard_link(file, name)
    }

    fn rename(&mut self, file: &Path, name: &Path) -> io::Result<()> {
        fs::rename(file, name)
    }

    fn remove(&mut self, file: &Path) -> io::Result<()> {
        fs::remove_file(file)
    }

    fn sync_folder(&mut self, file: &Path) -> io::Result<()> {
        // Other systems cannot sync folders.
        if cfg!(unix) {
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
            File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        }
        Ok(())
    }
}
