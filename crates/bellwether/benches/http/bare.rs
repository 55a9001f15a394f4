//! The baseline: a bare axum handler with the same queries, in a separate process.

use std::path::Path;
use std::process::{Command, Stdio};

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use serde::Serialize;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};

use crate::program::Program;

/// A row of the alert list, with plain column types.
#[derive(sqlx_macros::FromRow, Serialize)]
struct Row {
    id: Vec<u8>,
    symbol: String,
    condition: String,
    threshold: Option<i64>,
    notification: String,
    status: String,
    created_at: i64,
    triggered_at: Option<i64>,
    initial_price: Option<i64>,
    parameters: Option<String>,
}

#[derive(Serialize)]
struct ListResponse {
    data: Vec<Row>,
    total: i64,
}

const LIST: &str = "SELECT id, symbol, condition, threshold, notification, status, created_at, triggered_at,
                    initial_price, parameters FROM alerts
                    WHERE account_id = $1 AND deleted_at IS NULL ORDER BY created_at DESC, seq DESC LIMIT 50";
const COUNT: &str = "SELECT COUNT(*) FROM alerts WHERE account_id = $1 AND deleted_at IS NULL";

async fn list(State((pool, account)): State<(SqlitePool, Vec<u8>)>) -> Json<ListResponse> {
    let (total,): (i64,) = sqlx::query_as(COUNT).bind(&account).fetch_one(&pool).await.unwrap();
    let data = sqlx::query_as(LIST).bind(&account).fetch_all(&pool).await.unwrap();
    Json(ListResponse { data, total })
}

/// Starts the handler in a process.
pub(crate) async fn start(database: impl AsRef<Path>) -> Program {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg("bare").arg(database.as_ref()).stdout(Stdio::piped());
    Program::bare(command)
}

/// Runs the handler in this process.
pub(crate) fn serve(database: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let options = SqliteConnectOptions::new().filename(database).read_only(true);
        let pool = SqlitePoolOptions::new()
            .max_connections(8)
            .connect_with(options)
            .await
            .unwrap();
        let (account,): (Vec<u8>,) = sqlx::query_as("SELECT account_id FROM alerts LIMIT 1")
            .fetch_one(&pool)
            .await
            .unwrap();
        let app = Router::new().route("/alerts", get(list)).with_state((pool, account));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("listening on http://{}", listener.local_addr().unwrap());
        axum::serve(listener, app).await.unwrap();
    });
}
