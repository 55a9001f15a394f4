//! The baselines, each in a separate process: an axum server without database, keys, limits and logs, and a sender of signed requests.

use std::process::{Command, Stdio};

use axum::extract::Path;
use axum::routing::{get, post};
use axum::{Json, Router};
use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};

use crate::program::Program;

/// Starts this executable with arguments for a baseline.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// Starts the server in a process.
pub(crate) fn start() -> Program {
    Program::bare(command(&["bare"]))
}

/// Returns as many bytes as the path names.
async fn bytes(Path(count): Path<usize>) -> Bytes {
    static CONTENT: [u8; 1 << 16] = [b'x'; 1 << 16];
    Bytes::from_static(&CONTENT).slice(..count)
}

/// Reads an alert, and returns it in an envelope with as many fields as that of the program.
async fn alert(Json(asked): Json<Value>) -> (StatusCode, Json<Value>) {
    let stock = json!({"name": "AAPL", "last_price": 100, "high_52w": null, "low_52w": null, "rsi": null, "ma_50": null, "ma_200": null});
    let data = json!({
        "id": "00000000-0000-4000-8000-000000000000", "symbol": asked["symbol"], "condition": asked["condition"],
        "threshold": asked["threshold"], "notification": "email", "status": "active", "created_at": "2026-01-01T00:00:00.000Z",
        "triggered_at": null, "initial_price": 100, "created_by": {"kind": "api_key", "name": "bench"}, "parameters": null,
        "stock": stock, "stocks": stock, "evaluation": {"state": "ok", "reason": null, "since": "2026-01-01T00:00:00.000Z"},
    });
    let meta = json!({"rate_limit": {"limit": 100, "remaining": 99, "reset": 0}});
    (
        StatusCode::CREATED,
        Json(json!({"success": true, "data": data, "meta": meta})),
    )
}

/// Runs the server in this process.
pub(crate) fn serve() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let app = Router::new()
            .route("/bytes/{count}", get(bytes))
            .route("/alerts", post(alert));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("listening on http://{}", listener.local_addr().unwrap());
        axum::serve(listener, app).await.unwrap();
    });
}
