//! Finds and opens the files of a data folder.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use super::error::FolderError;
use super::table::Table;

/// The buffer size for reading and for decompression, in bytes.
const BUFFER_BYTES: usize = 64 * 1024;
/// The first bytes of a gzip file.
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

/// The progress of reading a folder, in bytes on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadProgress<'a> {
    /// The file that is being read.
    pub file: &'a Path,
    /// The bytes that have been read, of this file and those before it.
    pub bytes_read: u64,
    /// The size of all files, as found at the start.
    pub bytes_total: u64,
}

/// The file of a table.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TableFile {
    /// The table.
    pub(crate) table: Table,
    /// The file.
    pub(crate) path: PathBuf,
    /// The size on disk, in bytes.
    pub(crate) bytes: u64,
}

/// Finds the files of the data folder `dir`, in the order in which they are read.
///
/// # Errors
/// [`FolderError`] if `dir` is not a folder, has no table, has a table twice, or cannot be listed.
pub(crate) fn find(dir: &Path) -> Result<Vec<TableFile>, FolderError> {
    if !with_path(dir, fs::metadata(dir))?.is_dir() {
        return Err(FolderError::NotAFolder(dir.to_owned()));
    }
    let mut sources = Vec::new();
    for table in Table::ALL {
        let stems = match table {
            Table::Bars => bar_stems(&dir.join(table.name()))?,
            _ => vec![dir.join(table.name())],
        };
        for stem in stems {
            sources.extend(find_one(table, &stem)?);
        }
    }
    if sources.is_empty() {
        return Err(FolderError::NoData(dir.to_owned()));
    }
    Ok(sources)
}

/// Returns the files in `bars` without `.csv` or `.csv.gz`, sorted and without duplicates.
fn bar_stems(bars: &Path) -> Result<Vec<PathBuf>, FolderError> {
    if !exists(bars)? {
        return Ok(Vec::new());
    }
    let mut stems = Vec::new();
    for entry in with_path(bars, fs::read_dir(bars))? {
        let name = with_path(bars, entry)?.file_name();
        if let Some(stem) = stem(&name) {
            stems.push(bars.join(stem));
        }
    }
    stems.sort();
    stems.dedup();
    Ok(stems)
}

/// Returns the name before `.csv` or `.csv.gz`; `None` for other names and for hidden files, like `*.csv` in a shell.
fn stem(name: &OsStr) -> Option<PathBuf> {
    let path = Path::new(name);
    let csv = match path.extension()?.to_str()? {
        "csv" => path,
        "gz" => Path::new(path.file_stem()?),
        _ => return None,
    };
    let visible = !name.as_encoded_bytes().starts_with(b".");
    (visible && csv.extension()? == "csv").then(|| csv.with_extension(""))
}

/// Finds the table at `stem`, plain or compressed.
fn find_one(table: Table, stem: &Path) -> Result<Option<TableFile>, FolderError> {
    let with = |ending: &str| {
        let mut path = stem.to_owned().into_os_string();
        path.push(ending);
        PathBuf::from(path)
    };
    let (plain, compressed) = (with(".csv"), with(".csv.gz"));
    let path = match (exists(&plain)?, exists(&compressed)?) {
        (false, false) => return Ok(None),
        (true, true) => return Err(FolderError::PlainAndCompressed { plain, compressed }),
        (true, false) => plain,
        (false, true) => compressed,
    };
    let bytes = with_path(&path, fs::metadata(&path))?.len();
    Ok(Some(TableFile { table, path, bytes }))
}

/// Whether `path` exists. A broken link counts as existing, so that it is reported as an error.
fn exists(path: &Path) -> Result<bool, FolderError> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        other => with_path(path, other).map(|_| true),
    }
}

/// Adds `path` to the error.
pub(crate) fn with_path<T>(path: &Path, result: io::Result<T>) -> Result<T, FolderError> {
    result.map_err(|cause| FolderError::Unreadable {
        path: path.to_owned(),
        cause,
    })
}

impl TableFile {
    /// Opens the file. A name that ends in `.gz` means gzip. Calls `on_read` with the size of each block that is read from
    /// disk.
    ///
    /// # Errors
    /// [`FolderError`] if the file cannot be read, or if its content and its name disagree about compression.
    pub(crate) fn open<'a>(&self, on_read: impl FnMut(u64) + 'a) -> Result<Box<dyn BufRead + 'a>, FolderError> {
        let file = with_path(&self.path, File::open(&self.path))?;
        let mut input = BufReader::with_capacity(BUFFER_BYTES, Metered { file, on_read });
        let gzip = with_path(&self.path, input.fill_buf())?.starts_with(GZIP_MAGIC);
        match (self.path.extension().is_some_and(|ending| ending == "gz"), gzip) {
            (true, true) => Ok(Box::new(BufReader::with_capacity(
                BUFFER_BYTES,
                MultiGzDecoder::new(input),
            ))),
            (false, false) => Ok(Box::new(input)),
            (true, false) => Err(FolderError::NotGzip(self.path.clone())),
            (false, true) => Err(FolderError::NotPlain(self.path.clone())),
        }
    }
}

/// A file that reports each block that is read.
struct Metered<F> {
    file: File,
    on_read: F,
}

impl<F: FnMut(u64)> Read for Metered<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.file.read(buffer)?;
        (self.on_read)(bytes as u64);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bar_files_match_the_shell_pattern() {
        for (name, expected) in [
            ("a.csv", Some("a")),
            ("a.csv.gz", Some("a")),
            ("a.2024.csv", Some("a.2024")),
            ("A.CSV", None),
            (".csv", None),
            (".a.csv", None),
            ("a.gz", None),
            ("a.csv.bak", None),
            ("csv", None),
            ("csv.gz", None),
        ] {
            assert_eq!(stem(OsStr::new(name)), expected.map(PathBuf::from), "{name}");
        }
    }
}
