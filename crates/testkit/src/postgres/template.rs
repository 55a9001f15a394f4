//! The database that tests copy: it has the tables of this checkout, so that not each test applies the migrations.
//!
//! Its name contains a hash of the migrations. The first test that misses it creates it. It stays on the server.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::OnceLock;

use sqlx::migrate::Migrator;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

const MIGRATIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../store/migrations/postgres");
/// The advisory lock of the process that creates the template ("BWTEMPL" in ASCII).
const LOCK: i64 = 0x42_5754_454d_504c;

/// Returns the name of the template.
pub(super) fn name() -> String {
    static NAME: OnceLock<String> = OnceLock::new();
    let name = NAME.get_or_init(|| {
        let mut files: Vec<_> = std::fs::read_dir(MIGRATIONS)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        let mut hasher = DefaultHasher::new();
        for file in files {
            file.file_name().hash(&mut hasher);
            std::fs::read(file).unwrap().hash(&mut hasher);
        }
        format!("bellwether_template_{:016x}", hasher.finish())
    });
    name.clone()
}

/// Creates the template, unless another process has created it meanwhile.
pub(super) async fn create(name: String, server: PgConnectOptions) {
    let mut connection = server.connect().await.unwrap();
    let lock = sqlx::query("SELECT pg_advisory_lock($1)").bind(LOCK);
    lock.execute(&mut connection).await.unwrap();
    let existing = sqlx::query("SELECT 1 FROM pg_database WHERE datname = $1").bind(&name);
    if existing.fetch_optional(&mut connection).await.unwrap().is_none() {
        // It gets its name when it is complete. A process that was killed may have left an incomplete one.
        let new = format!("{name}_new");
        for statement in [
            format!("DROP DATABASE IF EXISTS {new} WITH (FORCE)"),
            format!("CREATE DATABASE {new} TEMPLATE template0"),
        ] {
            sqlx::query(AssertSqlSafe(statement))
                .execute(&mut connection)
                .await
                .unwrap();
        }
        let mut migrated = server.database(&new).connect().await.unwrap();
        let migrations = Migrator::new(Path::new(MIGRATIONS)).await.unwrap();
        migrations.run(&mut migrated).await.unwrap();
        migrated.close().await.unwrap();
        let rename = format!("ALTER DATABASE {new} RENAME TO {name}");
        sqlx::query(AssertSqlSafe(rename))
            .execute(&mut connection)
            .await
            .unwrap();
    }
    connection.close().await.unwrap();
}
