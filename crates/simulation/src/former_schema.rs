//! The content of the database in the tables of a former version of the schema, which the next process updates. The values in them are those
//! of the present release.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context;
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::disk::{self, FileContents};

/// The folder of the store's migrations.
const MIGRATIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../store/migrations/sqlite");
/// The former versions of the schema from which simulations upgrade: some of each age, and the last ones. Versions before 17 have other
/// columns, which the present tables cannot fill.
pub(crate) const FORMER_VERSIONS: [i64; 11] = [17, 22, 26, 29, 33, 37, 38, 40, 44, 45, 46];

/// Databases with the tables of former versions, each without a row.
#[derive(Clone, Debug)]
pub(crate) struct FormerSchemas(BTreeMap<i64, FileContents>);

impl FormerSchemas {
    /// Makes the databases on the simulated disk, and leaves nothing there.
    pub(crate) fn make(url: &str) -> anyhow::Result<Self> {
        let path = former_path(url);
        let connection = Connection::open(&path)?;
        let mut made = BTreeMap::new();
        let migrations = migrations()?;
        let last = migrations.keys().rev().nth(1).copied();
        for (version, sql) in migrations {
            connection.execute_batch(&sql)?;
            if FORMER_VERSIONS.contains(&version) {
                let contents = disk::contents(&path).context("the database has no file")?;
                made.insert(version, contents);
            }
        }
        drop(connection);
        disk::delete(&path);
        anyhow::ensure!(
            made.keys().eq(&FORMER_VERSIONS) && last == FORMER_VERSIONS.last().copied(),
            "FORMER_VERSIONS must end with the version before the newest"
        );
        Ok(Self(made))
    }

    /// Moves the content of the database to the tables of a former version. What these have no place for is lost.
    pub(crate) fn downgrade(&self, url: &str, version: i64) -> anyhow::Result<()> {
        let empty = self.0.get(&version).context("not a former version")?;
        let (present, former) = (url.trim_start_matches("sqlite://"), former_path(url));
        disk::put(&former, empty.clone());
        let connection = Connection::open(&former)?;
        connection.pragma_update(None, "foreign_keys", false)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        // As after a crash, the next process has to recover the log first.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        connection.execute("ATTACH ?1 AS present", [present])?;
        copy(&connection, version)?;
        drop(connection);
        for file in ["", "-wal", "-shm"] {
            disk::rename(&format!("{former}{file}"), &format!("{present}{file}"));
        }
        Ok(())
    }
}

fn former_path(url: &str) -> String {
    format!("{}-former", url.trim_start_matches("sqlite://"))
}

/// Reads the migrations: their versions and SQL texts, in order.
fn migrations() -> anyhow::Result<BTreeMap<i64, String>> {
    let read = |path: &Path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let (version, _) = name.split_once('_').context("a migration has no version")?;
        Ok((version.parse()?, fs::read_to_string(path)?))
    };
    let files = fs::read_dir(MIGRATIONS).context("cannot read the migrations of the store")?;
    files.map(|file| read(&file?.path())).collect()
}

/// Copies all rows, and of the list of migrations those up to a version.
fn copy(connection: &Connection, version: i64) -> rusqlite::Result<()> {
    let transaction = connection.unchecked_transaction()?;
    let list: String = transaction.query_row(
        "SELECT sql FROM present.sqlite_schema WHERE name = '_sqlx_migrations'",
        [],
        |row| row.get(0),
    )?;
    transaction.execute_batch(&list)?;
    for table in tables(&transaction)? {
        let columns: String = transaction.query_row(
            "SELECT group_concat(name) FROM pragma_table_info(?1, 'main')
             WHERE name IN (SELECT name FROM pragma_table_info(?1, 'present'))",
            [&table],
            |row| row.get(0),
        )?;
        transaction.execute_batch(&format!(
            "DELETE FROM main.{table}; INSERT INTO main.{table} ({columns}) SELECT {columns} FROM present.{table}"
        ))?;
    }
    transaction.execute("DELETE FROM main._sqlx_migrations WHERE version > ?1", [version])?;
    transaction.commit()
}

fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut tables = connection.prepare("SELECT name FROM main.sqlite_schema WHERE type = 'table'")?;
    let tables = tables.query_map([], |row| row.get(0))?;
    tables.collect()
}
