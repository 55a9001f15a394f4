//! Opening databases: new ones, old ones, and those of other versions.

use store::{Store, StoreError, StoreOptions};
use testkit::{Database, on_both_databases};

use crate::support::{open, with_accounts};

async fn execute(database: &Database, sql: &'static str) {
    if database.is_postgres() {
        let pool = sqlx::PgPool::connect(database.url()).await.unwrap();
        sqlx::query(sql).execute(&pool).await.unwrap();
        pool.close().await;
    } else {
        let pool = sqlx::SqlitePool::connect(&format!("{}?mode=rwc", database.url()))
            .await
            .unwrap();
        sqlx::query(sql).execute(&pool).await.unwrap();
        pool.close().await;
    }
}

async fn reopen(database: &Database) -> StoreError {
    Store::open(StoreOptions::new(database.url())).await.err().unwrap()
}

on_both_databases! {
    async fn rejects_database_of_later_version(database) {
        with_accounts(database, 1).await.close().await;
        let later = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
                     SELECT 9999, 'later', success, checksum, 0 FROM _sqlx_migrations WHERE version = 1";
        execute(database, later).await;
        let refusal = reopen(database).await;
        assert!(matches!(refusal, StoreError::TooNew(9999)), "{refusal}");
        assert!(refusal.to_string().contains("use that version, or a later one"), "{refusal}");
    }

    async fn rejects_database_with_foreign_tables(database) {
        open(database).await.close().await;
        let other = if database.is_postgres() {
            "UPDATE _sqlx_migrations SET checksum = decode('00', 'hex')"
        } else {
            "UPDATE _sqlx_migrations SET checksum = x'00'"
        };
        execute(database, other).await;
        let refusal = reopen(database).await;
        assert!(matches!(refusal, StoreError::Migration(_)), "{refusal}");
    }

    async fn failed_migration_names_its_cause_and_what_to_do(database) {
        let empty = match database.is_postgres() {
            true => &Database::empty_postgres().await,
            false => database,
        };
        execute(empty, "CREATE TABLE alerts (id INTEGER)").await;
        let refusal = reopen(empty).await;
        assert!(matches!(refusal, StoreError::NotMigrated(_)), "{refusal}");
        let text = refusal.to_string();
        for part in ["alerts", "migration 1", "start the program again", "set database.url"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        execute(empty, "DROP TABLE alerts").await;
        Store::open(StoreOptions::new(empty.url())).await.unwrap().close().await;
    }

    async fn concurrent_programs_can_open_new_database(database) {
        let empty = match database.is_postgres() {
            true => &Database::empty_postgres().await,
            false => database,
        };
        let url = empty.url().to_owned();
        let opening = (0..6).map(|_| {
            let options = StoreOptions::new(url.clone());
            tokio::spawn(async move { Store::open(options).await.map(drop) })
        });
        for opened in futures_util::future::join_all(opening).await {
            opened.unwrap().unwrap();
        }
    }
}

#[test]
fn missing_database_error_hides_password() {
    testkit::run(async {
        let sqlite = Store::open(StoreOptions::new("sqlite:///no/such/folder/test.db"))
            .await
            .err()
            .unwrap();
        assert!(matches!(sqlite, StoreError::Open { .. }), "{sqlite}");
        assert!(sqlite.to_string().contains("/no/such/folder/test.db"), "{sqlite}");
        let postgres = Store::open(StoreOptions::new("postgres://ann:secret@127.0.0.1:1/test"))
            .await
            .err()
            .unwrap();
        assert!(matches!(postgres, StoreError::Open { .. }), "{postgres}");
        assert!(postgres.to_string().contains("127.0.0.1:1/test"), "{postgres}");
        assert!(!format!("{postgres} {postgres:?}").contains("secret"), "{postgres:?}");
    });
}

#[cfg(unix)]
#[test]
fn new_file_is_readable_by_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    testkit::run(async {
        let database = Database::sqlite();
        let _store = with_accounts(&database, 1).await;
        let file = database.file().unwrap();
        for name in ["test.db", "test.db-wal"] {
            let mode = std::fs::metadata(file.with_file_name(name))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
    });
}
