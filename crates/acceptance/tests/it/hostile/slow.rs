//! Slow clients: idle connections, and request heads and bodies that arrive byte by byte.

use std::time::Duration;

use acceptance::clock::HANG_LIMIT;
use acceptance::{ServiceSetup, on_both_databases, raw_http};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::hostile::assert_unharmed;

on_both_databases![
    slow_request_head_is_closed,
    slow_request_body_is_closed,
    thousand_idle_connections_do_not_block_others,
    unread_response_is_aborted,
];

/// Interval between two bytes; well below the service's timeout for a single byte.
const BYTE_INTERVAL: Duration = Duration::from_millis(100);

/// Sends bytes one by one until the service closes the connection; returns the response.
async fn send_slowly(address: &str, head: &[u8], bytes: impl Iterator<Item = u8> + Send) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(head).await.unwrap();
    let (mut reading, mut writing) = stream.into_split();
    let mut tick = tokio::time::interval(BYTE_INTERVAL);
    let sending = async {
        for byte in bytes {
            tick.tick().await;
            if writing.write_all(&[byte]).await.is_err() {
                break;
            }
        }
        std::future::pending::<()>().await;
    };
    let reading = async {
        let mut received = Vec::new();
        let _ = reading.read_to_end(&mut received).await;
        String::from_utf8_lossy(&received).into_owned()
    };
    let ended = async {
        tokio::select! { received = reading => received, () = sending => String::new() }
    };
    let in_time = tokio::time::timeout(HANG_LIMIT, ended).await;
    in_time.expect("the service never closes a slow connection")
}

async fn slow_request_head_is_closed(setup: ServiceSetup) {
    let setup = setup
        .set("server.header_timeout", "1s")
        .set("server.idle_timeout", "1s");
    let env = setup.start_environment().await;
    let before = env.server.memory_kib();
    let head = b"GET /api/v1/alerts HTTP/1.1\r\nHost: x\r\nX-Drip: ";
    let response = send_slowly(env.server.address(), head, std::iter::repeat(b'x')).await;
    let status = raw_http::status_code(&response);
    assert!(status == 0 || status == 408 || status == 503, "{response}");
    // A connection that sends nothing at all.
    let response = send_slowly(env.server.address(), b"", std::iter::empty()).await;
    assert!(matches!(raw_http::status_code(&response), 0 | 408 | 503), "{response}");
    assert_unharmed(&env, before).await;
}

async fn slow_request_body_is_closed(setup: ServiceSetup) {
    let setup = setup.set("server.body_timeout", "1s");
    let env = setup.start_environment().await;
    let before = env.server.memory_kib();
    for length in ["Content-Length: 100000", "Transfer-Encoding: chunked"] {
        let head = format!(
            "POST /api/v1/alerts HTTP/1.1\r\nHost: x\r\nX-API-Key: {}\r\nContent-Type: application/json\r\n\
             {length}\r\n\r\n",
            env.operator.key()
        );
        let response = send_slowly(
            env.server.address(),
            head.as_bytes(),
            b"1\r\n{\r\n".iter().copied().cycle(),
        )
        .await;
        let status = raw_http::status_code(&response);
        assert!(matches!(status, 0 | 400 | 408 | 503), "{length}: {response}");
    }
    assert_unharmed(&env, before).await;
}

async fn thousand_idle_connections_do_not_block_others(setup: ServiceSetup) {
    let setup = setup
        .set("server.header_timeout", "60s")
        .set("server.max_connections_per_address", "2000");
    let env = setup.start_environment().await;
    let before = env.server.memory_kib();
    let mut idle = Vec::new();
    for _ in 0..1000 {
        let mut stream = TcpStream::connect(env.server.address()).await.unwrap();
        stream
            .write_all(b"GET /api/v1/alerts HTTP/1.1\r\nHost: x\r\n")
            .await
            .unwrap();
        idle.push(stream);
    }
    assert_unharmed(&env, before).await;
    drop(idle);
    assert_unharmed(&env, before).await;
}

async fn unread_response_is_aborted(setup: ServiceSetup) {
    let env = setup.set("server.write_timeout", "1s").start_environment().await;
    let before = env.server.memory_kib();
    let mut silent = Vec::new();
    for _ in 0..20 {
        let mut stream = TcpStream::connect(env.server.address()).await.unwrap();
        let request = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(200);
        silent.push(tokio::spawn(async move {
            // More requests than fit into the buffers: writing ends only when the connection is closed.
            while stream.write_all(&request).await.is_ok() {}
        }));
    }
    for closed in silent {
        tokio::time::timeout(testkit::HANG_LIMIT, closed)
            .await
            .unwrap()
            .unwrap();
    }
    assert_unharmed(&env, before).await;
}
