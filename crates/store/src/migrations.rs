//! The migrations of both databases, embedded in the program.
//!
//! They are listed here and not read by sqlx's macro: the macro is built with both database drivers for the build machine, which
//! takes a minute more. An applied migration never changes, because its checksum is stored.

use std::borrow::Cow;

use sqlx::SqlStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};

/// Lists the migrations of a folder: version, description and SQL text.
macro_rules! migrations {
    ($folder:literal: $($version:literal $description:literal),* $(,)?) => {
        &[$(($version, $description, include_str!(concat!("../migrations/", $folder, "/", $version, "_", $description, ".sql")))),*]
    };
}

/// Lists the migrations of both databases, which have the same versions.
macro_rules! on_both {
    ($($list:tt)*) => {
        const SQLITE: &[(&str, &str, &str)] = migrations!("sqlite": $($list)*);
        const POSTGRES: &[(&str, &str, &str)] = migrations!("postgres": $($list)*);
    };
}

on_both! {
    "0001" "accounts_alerts_market",
    "0002" "repeated_requests",
    "0003" "webhooks",
    "0004" "people",
    "0005" "watchlists",
    "0006" "oauth",
    "0007" "approvals",
    "0008" "blindness",
    "0009" "threshold_set_at",
    "0010" "key_check",
    "0011" "webhook_former_secrets",
    "0012" "observed_bars",
    "0014" "alerts_without_initial_price",
    "0017" "anonymous_requests",
    "0018" "quote_times",
    "0019" "alert_notes",
    "0020" "rules",
    "0021" "scopes",
    "0022" "undo",
    "0023" "seen_firings",
    "0024" "bid_and_ask",
    "0025" "vwap",
    "0026" "extended_prices",
    "0027" "alert_totals",
    "0028" "session_clients",
    "0029" "intraday_bars",
    "0030" "list_positions",
    "0031" "alert_revisions",
    "0032" "admitted_messages",
    "0033" "notification_channels",
    "0034" "firing_times",
    "0035" "notification_routes",
    "0036" "channel_templates",
    "0037" "folded_messages",
    "0038" "web_push_key",
    "0039" "unreached_firings",
    "0040" "linked_chats",
    "0041" "alert_templates",
    "0042" "job_leases",
    "0043" "shared_limits",
    "0044" "cluster",
    "0045" "written_requests",
    "0046" "managed_alerts",
    "0047" "firings_change_no_index",
}

/// Returns the migrations of SQLite.
pub(crate) fn sqlite() -> Migrator {
    migrator(SQLITE)
}

/// Returns the migrations of PostgreSQL.
pub(crate) fn postgres() -> Migrator {
    migrator(POSTGRES)
}

/// The newest version that this program knows.
pub(crate) fn newest_version() -> i64 {
    SQLITE.last().map_or(0, |(version, ..)| number(version))
}

fn number(version: &str) -> i64 {
    version.parse().unwrap_or_default()
}

fn migrator(list: &'static [(&str, &str, &str)]) -> Migrator {
    let migrations = list.iter().map(|(version, description, sql)| {
        let description = Cow::Owned(description.replace('_', " "));
        let sql = SqlStr::from_static(sql);
        Migration::new(number(version), description, MigrationType::Simple, sql, false)
    });
    Migrator::with_migrations(migrations.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folders_is_listed() {
        for (folder, list) in [("sqlite", SQLITE), ("postgres", POSTGRES)] {
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("migrations")
                .join(folder);
            let mut files: Vec<String> = std::fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            files.sort();
            let listed = list
                .iter()
                .map(|(version, description, _)| format!("{version}_{description}.sql"));
            assert_eq!(files, listed.collect::<Vec<_>>());
        }
    }

    #[test]
    fn migrations_have_rising_versions() {
        for migrator in [sqlite(), postgres()] {
            let versions: Vec<i64> = migrator.iter().map(|migration| migration.version).collect();
            assert!(versions.is_sorted() && versions[0] == 1, "{versions:?}");
        }
    }
}
