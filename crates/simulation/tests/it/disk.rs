//! SQLite on the simulated disk.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rusqlite::Connection;
use simulation::disk::{self, DiskFault, DiskFaultKind, DiskImage, Ending};

const FILE: &str = "/simulated/test.db";
const ROWS: i64 = 6;

fn open(synchronous: &str) -> rusqlite::Result<Connection> {
    let connection = Connection::open(FILE)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", synchronous)?;
    Ok(connection)
}

/// Inserts rows, one transaction each, until one fails. Returns the number of those that were committed.
fn insert_rows(synchronous: &str) -> i64 {
    let Ok(connection) = open(synchronous) else { return 0 };
    if connection
        .execute_batch("CREATE TABLE IF NOT EXISTS t (a INTEGER, b TEXT)")
        .is_err()
    {
        return 0;
    }
    let text = "x".repeat(3_000);
    let insert = |row: i64| connection.execute("INSERT INTO t VALUES (?1, ?2)", (row, text.as_str()));
    (0..ROWS)
        .take_while(|row| insert(*row).is_ok())
        .count()
        .try_into()
        .unwrap()
}

/// Returns the number of rows, of a file that must not be damaged.
fn count_rows() -> i64 {
    let connection = open("FULL").unwrap();
    let check: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(check, "ok");
    let count = connection.query_row("SELECT COUNT(*) FROM t", [], |row| row.get(0));
    count.unwrap_or_default()
}

fn start() {
    disk::register();
    disk::load(&DiskImage::new());
}

/// Ends the process before each of its operations, and returns whether committed rows were lost.
fn are_committed_rows_lost(ending: Ending, synchronous: &str) -> bool {
    let mut is_lost = false;
    for operations in 0.. {
        start();
        disk::end_after(operations, || {});
        let committed = insert_rows(synchronous);
        let has_ended = disk::has_ended();
        disk::end_now();
        disk::restart(ending, &mut ChaCha8Rng::seed_from_u64(operations));
        let found = count_rows();
        is_lost |= found < committed;
        assert!(found <= committed + 1, "{found} rows after {committed} commits");
        if !has_ended {
            assert_eq!(committed, ROWS);
            return is_lost;
        }
    }
    unreachable!("the process makes a finite number of operations")
}

#[test]
fn kill_before_any_operation_keeps_committed_rows() {
    assert!(!are_committed_rows_lost(Ending::Kill, "FULL"));
    // The operating system keeps what a killed process has written.
    assert!(!are_committed_rows_lost(Ending::Kill, "OFF"));
}

#[test]
fn power_cut_before_any_operation_keeps_synced_commits_and_loses_others() {
    assert!(!are_committed_rows_lost(Ending::PowerCut, "FULL"));
    // In this mode SQLite syncs the log only at checkpoints.
    assert!(are_committed_rows_lost(Ending::PowerCut, "NORMAL"));
}

#[test]
fn fault_of_the_disk_goes_on_in_the_next_processes_until_it_is_over() {
    start();
    let kind = DiskFaultKind::Full;
    disk::fail(Some(DiskFault {
        after: 8,
        lasts: 20,
        kind,
    }));
    let failed = (0..20).take_while(|process| {
        let inserted = insert_rows("FULL");
        disk::end_now();
        disk::restart(Ending::Kill, &mut ChaCha8Rng::seed_from_u64(*process));
        inserted < ROWS
    });
    let failed = failed.count();
    assert!((2..20).contains(&failed), "{failed} processes failed");
}

#[test]
fn failing_and_full_disk_fail_commits_and_damage_nothing() {
    for kind in [DiskFaultKind::Failing, DiskFaultKind::Full] {
        for after in 0..30 {
            start();
            disk::fail(Some(DiskFault { after, lasts: 3, kind }));
            let committed = insert_rows("FULL");
            disk::fail(None);
            assert!(count_rows() >= committed, "{kind:?} after {after}");
        }
    }
}
