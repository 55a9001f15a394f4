//! Malformed HTTP at the level of bytes.

use acceptance::{ServiceSetup, on_both_databases, raw_http};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::hostile::assert_unharmed;

on_both_databases![malformed_request_is_rejected, endless_body_is_closed];

async fn malformed_request_is_rejected(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let before = env.server.memory_kib();
    let body = |headers: &str, body: &str| {
        let key = env.operator.key();
        format!(
            "POST /api/v1/alerts HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\nContent-Type: application/json\r\n\
             Connection: close\r\n{headers}\r\n{body}"
        )
        .into_bytes()
    };
    let tls_hello = [
        &[0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03],
        &[7; 300][..],
    ]
    .concat();
    for (description, bytes) in [
        ("two lengths", body("Content-Length: 2\r\nContent-Length: 3\r\n", "{}x")),
        ("a negative length", body("Content-Length: -1\r\n", "{}")),
        ("a length that is not a number", body("Content-Length: two\r\n", "{}")),
        (
            "a length out of range",
            body("Content-Length: 99999999999999999999999\r\n", "{}"),
        ),
        (
            "a chunk size that is not a number",
            body("Transfer-Encoding: chunked\r\n", "zz\r\n{}\r\n0\r\n\r\n"),
        ),
        (
            "a chunk size out of range",
            body("Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\n{}"),
        ),
        (
            "an unknown transfer encoding",
            body("Transfer-Encoding: rot13\r\n", "{}"),
        ),
        (
            "a header without a name",
            body(": nothing\r\nContent-Length: 2\r\n", "{}"),
        ),
        ("a header with a space", body("X Y: 1\r\nContent-Length: 2\r\n", "{}")),
        ("a NUL in a header", body("X-Y: \0\r\nContent-Length: 2\r\n", "{}")),
        ("TLS", tls_hello),
        ("no version", b"GET /api/v1/alerts\r\n\r\n".to_vec()),
        ("HTTP/9.9", b"GET /api/v1/alerts HTTP/9.9\r\nHost: x\r\n\r\n".to_vec()),
        ("only line ends", b"\r\n\r\n\r\n\r\n\r\n\r\nx\r\n\r\n".to_vec()),
        (
            "an unknown method",
            b"BREW /api/v1/alerts HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".to_vec(),
        ),
        (
            "noise",
            (0..4000_u32)
                .map(|byte| u8::try_from(byte * 7 % 251).unwrap())
                .chain(*b"\r\n\r\n")
                .collect(),
        ),
    ] {
        let mut stream = TcpStream::connect(env.server.address()).await.unwrap();
        let _ = stream.write_all(&bytes).await;
        // The closed write side shows the service that no more bytes follow.
        let _ = stream.shutdown().await;
        let response = raw_http::read_response(&mut stream).await;
        let status = raw_http::status_code(&response);
        assert!(status == 0 || (400..500).contains(&status), "{description}: {response}");
    }
    assert_unharmed(&env, before).await;
}

async fn endless_body_is_closed(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let before = env.server.memory_kib();
    for path in ["/api/v1/alerts", "/api/v1/market/ingest"] {
        let mut stream = TcpStream::connect(env.server.address()).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nX-API-Key: {}\r\nContent-Type: application/json\r\n\
             Transfer-Encoding: chunked\r\n\r\n",
            env.operator.key()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let (mut reading, mut writing) = stream.into_split();
        let response = async {
            use tokio::io::AsyncReadExt;
            let mut received = vec![0; 4096];
            let count = reading.read(&mut received).await.unwrap_or(0);
            String::from_utf8_lossy(&received[..count]).into_owned()
        };
        let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
        let flood = async {
            // 256 MiB, unless the service closes the connection before.
            for _ in 0..4096 {
                if writing.write_all(chunk.as_bytes()).await.is_err() {
                    break;
                }
            }
            std::future::pending::<()>().await;
        };
        let response = tokio::select! { response = response => response, () = flood => String::new() };
        let status = raw_http::status_code(&response);
        assert!(matches!(status, 0 | 413), "{path}: {response}");
    }
    assert_unharmed(&env, before).await;
}
