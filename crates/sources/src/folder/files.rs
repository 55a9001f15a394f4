//! Which files a data folder has, and how they are opened.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use super::error::FolderError;
use super::table::Table;

/// How much is read from disk, and decompressed, at a time.
const BUFFER_BYTES: usize = 64 * 1024;
/// How a gzip file begins.
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

/// How far the reading of a folder has come, in bytes on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The file that is being read.
    pub file: &'a Path,
    /// The bytes that have been read, of this file and those before it.
    pub bytes_read: u64,
    /// The bytes of all files together, as found at the start.
    pub bytes_total: u64,
}

/// A file with a table.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// Which table.
    pub(crate) table: Table,
    /// The file.
    pub(crate) path: PathBuf,
    /// Its size on disk.
    pub(crate) bytes: u64,
}

/// The files of the data folder `dir`, in the order in which they are to be read.
///
/// # Errors
/// [`FolderError`] when `dir` is no folder, holds no table, holds one twice, or cannot be looked through.
pub(crate) fn find(dir: &Path) -> Result<Vec<Source>, FolderError> {
    if !read_or_name(dir, fs::metadata(dir))?.is_dir() {
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

/// The files in `bars` without `.csv` or `.csv.gz`, by name, each once.
fn bar_stems(bars: &Path) -> Result<Vec<PathBuf>, FolderError> {
    if !exists(bars)? {
        return Ok(Vec::new());
    }
    let mut stems = Vec::new();
    for entry in read_or_name(bars, fs::read_dir(bars))? {
        let name = read_or_name(bars, entry)?.file_name();
        if let Some(stem) = stem(&name) {
            stems.push(bars.join(stem));
        }
    }
    stems.sort();
    stems.dedup();
    Ok(stems)
}

/// What stands before `.csv` or `.csv.gz`; `None` for other names and for hidden files, as for `*.csv` in a shell.
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

/// The table at `stem`, plain or compressed.
fn find_one(table: Table, stem: &Path) -> Result<Option<Source>, FolderError> {
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
    let bytes = read_or_name(&path, fs::metadata(&path))?.len();
    Ok(Some(Source { table, path, bytes }))
}

/// Whether there is something at `path`, be it a link that leads nowhere: that is a mistake to report, not a file
/// left out.
fn exists(path: &Path) -> Result<bool, FolderError> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        other => read_or_name(path, other).map(|_| true),
    }
}

/// The result, with `path` named in the error.
pub(crate) fn read_or_name<T>(path: &Path, result: io::Result<T>) -> Result<T, FolderError> {
    result.map_err(|cause| FolderError::Unreadable {
        path: path.to_owned(),
        cause,
    })
}

impl Source {
    /// The file's text, decompressed by the file's name; `on_read` is told the size of each piece that is read from
    /// disk.
    ///
    /// # Errors
    /// [`FolderError`] when the file cannot be read, or is compressed where its name says that it is not, or the
    /// reverse.
    pub(crate) fn open<'a>(&self, on_read: impl FnMut(u64) + 'a) -> Result<Box<dyn BufRead + 'a>, FolderError> {
        let file = read_or_name(&self.path, File::open(&self.path))?;
        let mut input = BufReader::with_capacity(BUFFER_BYTES, Metered { file, on_read });
        let gzip = read_or_name(&self.path, input.fill_buf())?.starts_with(GZIP_MAGIC);
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

/// A file that tells how much of it is read.
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
    fn bar_files_are_those_that_a_shell_finds() {
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
