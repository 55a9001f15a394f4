//! Query plans of SQLite and PostgreSQL as text.

use std::collections::HashMap;

use sqlx::{AssertSqlSafe, Connection, PgConnection, Row, SqliteConnection};
use testkit::Database;

/// Makes PostgreSQL's plans independent of statistics, and of the parameters' values.
const STABLE_PLANS: &str =
    "SET enable_seqscan = off; SET enable_bitmapscan = off; SET plan_cache_mode = force_generic_plan";

/// Parameter types for `PREPARE`: inferred, or those of each row of a list, where PostgreSQL would infer text.
const PARAMETER_TYPES: [&[&str]; 6] = [
    &["unknown"],
    &["bigint"],
    &["uuid"],
    &["bigint", "bigint", "uuid", "text", "bigint", "bigint"],
    &["bigint", "bigint", "text", "bigint", "bigint", "bigint"],
    &["bigint", "bigint", "bigint", "text", "bigint", "text"],
];

/// A connection that explains statements.
pub(crate) enum Explainer {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Explainer {
    pub(crate) async fn connect(database: &Database) -> Self {
        if database.is_postgres() {
            let mut connection = PgConnection::connect(database.url()).await.unwrap();
            sqlx::raw_sql(STABLE_PLANS).execute(&mut connection).await.unwrap();
            Self::Postgres(connection)
        } else {
            Self::Sqlite(SqliteConnection::connect(database.url()).await.unwrap())
        }
    }

    /// The plan of a statement, one line per step.
    pub(crate) async fn plan(&mut self, sql: &str) -> Vec<String> {
        match self {
            Self::Sqlite(connection) => sqlite_plan(connection, sql).await,
            Self::Postgres(connection) => postgres_plan(connection, sql).await,
        }
    }
}

async fn sqlite_plan(connection: &mut SqliteConnection, sql: &str) -> Vec<String> {
    let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
    let rows = sqlx::raw_sql(explain).fetch_all(connection).await.unwrap();
    let mut depths = HashMap::from([(0, 0)]);
    let mut lines = Vec::new();
    for row in rows {
        let (id, parent, detail): (i64, i64, String) = (row.get(0), row.get(1), row.get(3));
        let depth = depths.get(&parent).copied().unwrap_or(0);
        depths.insert(id, depth + 1);
        lines.push(format!("{}{detail}", "  ".repeat(depth)));
    }
    lines
}

/// Keeps the lines that say which tables and indexes are read: other lines differ between versions of PostgreSQL.
async fn postgres_plan(connection: &mut PgConnection, sql: &str) -> Vec<String> {
    let mut lines = whole_postgres_plan(connection, sql).await;
    lines.retain(|line| line.contains("Scan") || line.contains("Index Cond"));
    lines
        .iter()
        .map(|line| line.trim().trim_start_matches("-> ").trim().to_owned())
        .collect()
}

/// The plan of a statement on PostgreSQL for unknown values of its parameters, one line per step.
pub(crate) async fn whole_postgres_plan(connection: &mut PgConnection, sql: &str) -> Vec<String> {
    let parameters = (1..).take_while(|number| sql.contains(&format!("${number}"))).count();
    let mut failure = None;
    for row_types in PARAMETER_TYPES {
        let types: Vec<&str> = row_types.iter().copied().cycle().take(parameters).collect();
        let types = types.join(", ");
        let values = vec!["NULL"; parameters].join(", ");
        let (types, values) = match parameters {
            0 => (String::new(), String::new()),
            _ => (format!("({types})"), format!("({values})")),
        };
        let prepare = AssertSqlSafe(format!("PREPARE explained {types} AS {sql}"));
        if let Err(error) = sqlx::raw_sql(prepare).execute(&mut *connection).await {
            failure = Some(error);
            continue;
        }
        let explain = AssertSqlSafe(format!("EXPLAIN (COSTS OFF) EXECUTE explained {values}"));
        let rows = sqlx::raw_sql(explain).fetch_all(&mut *connection).await.unwrap();
        sqlx::raw_sql("DEALLOCATE explained").execute(connection).await.unwrap();
        return rows.iter().map(|row| row.get(0)).collect();
    }
    panic!("{sql}: {failure:?}");
}
