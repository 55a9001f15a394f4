//! The market data that tests run on.
//!
//! Recorded data of real stocks may not be published, so it lies beside the repository, and most checkouts do not have it. Tests
//! then run on a sample of invented stocks that has the same files (`tests/data/README.md`).

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

/// A folder of market data.
#[derive(Clone, Debug)]
pub struct TestMarketData {
    /// The folder.
    pub folder: PathBuf,
    /// Whether the data was recorded, with the stocks and figures of the market. Otherwise it is the sample.
    pub is_recorded: bool,
}

impl TestMarketData {
    /// Returns the recorded data if it is there, otherwise the sample. `BELLWETHER_TEST_DATA=sample` chooses the sample.
    ///
    /// # Panics
    /// If `BELLWETHER_TEST_DATA` has another value.
    #[must_use]
    pub fn find() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let recorded = root.join("../shared/data");
        let is_recorded = match std::env::var("BELLWETHER_TEST_DATA").as_deref() {
            Ok("sample") => false,
            Ok(other) => panic!("BELLWETHER_TEST_DATA={other}: the only allowed value is sample"),
            Err(_) => recorded.is_dir(),
        };
        let folder = if is_recorded {
            recorded
        } else {
            root.join("tests/data/sample")
        };
        println!("market data: {}", folder.display());
        Self { folder, is_recorded }
    }

    /// Returns the recorded data. If it is not there, prints so and returns `None`: for tests of facts about real stocks.
    #[must_use]
    pub fn recorded() -> Option<Self> {
        let found = Self::find();
        if !found.is_recorded {
            println!("skipped: this test is about recorded data of real stocks");
        }
        found.is_recorded.then_some(found)
    }

    /// Returns the path of a file.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Reads a file as text and decompresses it if its name ends in `.gz`.
    ///
    /// # Panics
    /// If the file cannot be read.
    #[must_use]
    pub fn text(&self, name: &str) -> String {
        read(&self.path(name))
    }

    /// Returns `recorded` for recorded data, otherwise `sample`.
    pub fn pick<T>(&self, recorded: T, sample: T) -> T {
        if self.is_recorded { recorded } else { sample }
    }
}

/// Reads a file as text and decompresses it if its name ends in `.gz`.
///
/// # Panics
/// If the file cannot be read.
#[must_use]
pub fn read(path: &Path) -> String {
    let mut text = String::new();
    let mut open = || {
        let mut file = File::open(path)?;
        if path.extension().is_some_and(|extension| extension == "gz") {
            GzDecoder::new(file).read_to_string(&mut text)
        } else {
            file.read_to_string(&mut text)
        }
    };
    if let Err(error) = open() {
        panic!("cannot read {}: {error}", path.display());
    }
    text
}
