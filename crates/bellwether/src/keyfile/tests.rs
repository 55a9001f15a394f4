//! Tests of key files on a real disk, and on a simulated disk with power cuts.

use std::collections::BTreeMap;
use std::fs;

use super::*;

const FILE: &str = "/data/bellwether.key";

/// A simulated file system. A power cut loses all names that were added, changed or removed since the folder was
/// synced. The content of written files is kept.
#[derive(Clone, Default)]
struct PowerCut {
    names: BTreeMap<PathBuf, String>,
    synced: BTreeMap<PathBuf, String>,
    /// The number of operations until the power cut; all later ones fail.
    left: usize,
}

impl PowerCut {
    fn after(&self, operations: usize) -> Self {
        Self {
            left: operations,
            ..self.clone()
        }
    }

    fn operation(&mut self) -> io::Result<()> {
        self.left = self.left.checked_sub(1).ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(())
    }

    /// Returns the state after a restart of the machine.
    fn restarted(self) -> Self {
        Self {
            names: self.synced.clone(),
            synced: self.synced,
            left: usize::MAX,
        }
    }

    fn found(&self, file: &Path) -> io::Result<String> {
        self.names.get(file).cloned().ok_or(io::ErrorKind::NotFound.into())
    }
}

impl Files for PowerCut {
    fn read(&self, file: &Path) -> io::Result<String> {
        self.found(file)
    }

    fn write_synced(&mut self, file: &Path, text: &str) -> io::Result<()> {
        let (half, _) = text.split_at(text.len() / 2);
        self.names.insert(file.to_owned(), half.to_owned());
        self.operation()?;
        self.names.insert(file.to_owned(), text.to_owned());
        Ok(())
    }

    fn link(&mut self, file: &Path, name: &Path) -> io::Result<()> {
        self.operation()?;
        if self.names.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let text = self.found(file)?;
        self.names.insert(name.to_owned(), text);
        Ok(())
    }

    fn rename(&mut self, file: &Path, name: &Path) -> io::Result<()> {
        self.operation()?;
        let text = self.found(file)?;
        self.names.remove(file);
        self.names.insert(name.to_owned(), text);
        Ok(())
    }

    fn remove(&mut self, file: &Path) -> io::Result<()> {
        self.operation()?;
        self.found(file)?;
        self.names.remove(file);
        Ok(())
    }

    fn sync_folder(&mut self, _: &Path) -> io::Result<()> {
        self.operation()?;
        self.synced = self.names.clone();
        Ok(())
    }
}

#[test]
fn created_key_survives_a_power_cut() {
    let mut disk = PowerCut::default().after(usize::MAX);
    create_with(&mut disk, Path::new(FILE), &[7; KEY_BYTES]).unwrap();
    let made = disk.read(Path::new(FILE)).unwrap();
    assert_eq!(disk.restarted().read(Path::new(FILE)).unwrap(), made);
}

#[test]
fn key_of_another_program_survives_a_power_cut() {
    let mut disk = PowerCut::default().after(usize::MAX);
    disk.names.insert(FILE.into(), "theirs".to_owned());
    create_with(&mut disk, Path::new(FILE), &[7; KEY_BYTES]).unwrap();
    assert_eq!(disk.restarted().read(Path::new(FILE)).unwrap(), "theirs");
}

#[test]
fn power_cut_during_creation_leaves_a_whole_key_or_none() {
    for operations in 0.. {
        let mut disk = PowerCut::default().after(operations);
        let made = create_with(&mut disk, Path::new(FILE), &[7; KEY_BYTES]);
        // After a power cut the machine may have either the written or the synced state.
        for found in [disk.clone(), disk.restarted()] {
            let found = found.read(Path::new(FILE));
            assert!(found.is_ok() || made.is_err());
            assert!(found.is_err() || found.unwrap().len() == 2 * KEY_BYTES + 1);
        }
        if made.is_ok() {
            return;
        }
    }
}

#[test]
fn repeated_promotion_keeps_the_former_key() {
    let file = Path::new(FILE);
    let mut disk = PowerCut::default().after(usize::MAX);
    create_with(&mut disk, file, &[1; KEY_BYTES]).unwrap();
    create_with(&mut disk, &next(file), &[2; KEY_BYTES]).unwrap();
    let (old, new) = (disk.read(file).unwrap(), disk.read(&next(file)).unwrap());
    for _ in 0..2 {
        promote_with(&mut disk, file).unwrap();
        assert_eq!(
            (disk.read(file).unwrap(), disk.read(&former(file)).unwrap()),
            (new.clone(), old.clone())
        );
    }
}

#[test]
fn power_cut_during_promotion_keeps_the_new_key() {
    let file = Path::new(FILE);
    let mut before = PowerCut::default().after(usize::MAX);
    create_with(&mut before, file, &[1; KEY_BYTES]).unwrap();
    create_with(&mut before, &next(file), &[2; KEY_BYTES]).unwrap();
    let new = before.read(&next(file)).unwrap();
    for operations in 0.. {
        let mut disk = before.after(operations);
        let promoted = promote_with(&mut disk, file);
        // After a power cut the machine may have either the written or the synced state.
        for found in [disk.clone(), disk.restarted()] {
            let key = found.read(file).unwrap();
            assert!(key == new || found.read(&next(file)).unwrap() == new, "{operations}");
        }
        if promoted.is_ok() {
            return;
        }
    }
}

#[test]
fn promotion_keeps_the_former_key_for_backups() {
    let file = Path::new(FILE);
    let mut disk = PowerCut::default().after(usize::MAX);
    for (round, name) in [(1, file.to_owned()), (2, next(file))] {
        create_with(&mut disk, &name, &[round; KEY_BYTES]).unwrap();
    }
    let (old, new) = (disk.read(file).unwrap(), disk.read(&next(file)).unwrap());
    promote_with(&mut disk, file).unwrap();
    assert_eq!(disk.read(file).unwrap(), new);
    assert_eq!(disk.read(&former(file)).unwrap(), old);
    assert!(disk.read(&next(file)).is_err());
}

#[test]
fn key_file_is_beside_the_database_file() {
    for (url, expected) in [
        (
            "sqlite:///var/lib/bellwether/bw.db",
            "/var/lib/bellwether/bellwether.key",
        ),
        ("sqlite://bellwether.db", "bellwether.key"),
        ("sqlite://data/bw.db?mode=rwc", "data/bellwether.key"),
        ("postgres://bw:secret@db/bw", "bellwether.key"),
    ] {
        assert_eq!(path_for(url), std::path::absolute(expected).unwrap(), "{url}");
    }
}

#[test]
fn key_is_created_once_and_readable_by_its_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(FILE_NAME);
    assert_eq!(read(&file).unwrap(), None);
    let made = create(&file, &[7; KEY_BYTES]).unwrap();
    assert_eq!(made.len(), 64);
    assert_eq!(read(&file).unwrap(), Some(made.clone()));
    assert_eq!(create(&file, &[8; KEY_BYTES]).unwrap(), made);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn staged_key_replaces_an_unused_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(FILE_NAME);
    create(&file, &[1; KEY_BYTES]).unwrap();
    let first = stage(&file, &[2; KEY_BYTES]).unwrap();
    let second = stage(&file, &[3; KEY_BYTES]).unwrap();
    assert_ne!(first, second);
    promote(&file).unwrap();
    assert_eq!(read(&file).unwrap(), Some(second));
    assert_eq!(read(&former(&file)).unwrap(), Some("01".repeat(32)));
}

#[test]
fn invalid_key_file_is_rejected_with_the_fix() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(FILE_NAME);
    fs::write(&file, "letmein").unwrap();
    let refusal = read(&file).unwrap_err().to_string();
    assert!(
        refusal.contains("auth.secret_key") && !refusal.contains("letmein"),
        "{refusal}"
    );
}
