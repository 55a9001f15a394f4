//! The wire: what is no request, or two at once.

use acceptance::{Setup, on_both_databases, raw};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::unharmed;

on_both_databases![what_is_no_request_is_refused, a_body_without_end_is_cut_off];

async fn what_is_no_request_is_refused(setup: Setup) {
    let world = setup.world().await;
    let before = world.server.memory_kib();
    let body = |headers: &str, body: &str| {
        let key = world.me.key();
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
    for (what, bytes) in [
        ("two lengths", body("Content-Length: 2\r\nContent-Length: 3\r\n", "{}x")),
        ("a negative length", body("Content-Length: -1\r\n", "{}")),
        ("a length that is none", body("Content-Length: two\r\n", "{}")),
        (
            "a length beyond numbers",
            body("Content-Length: 99999999999999999999999\r\n", "{}"),
        ),
        (
            "a chunk size that is none",
            body("Transfer-Encoding: chunked\r\n", "zz\r\n{}\r\n0\r\n\r\n"),
        ),
        (
            "a chunk size beyond numbers",
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
        let mut stream = TcpStream::connect(world.server.address()).await.unwrap();
        let _ = stream.write_all(&bytes).await;
        // Whoever waits for more is told that no more comes.
        let _ = stream.shutdown().await;
        let answer = raw::answer(&mut stream).await;
        let status = raw::status(&answer);
        assert!(status == 0 || (400..500).contains(&status), "{what}: {answer}");
    }
    unharmed(&world, before).await;
}

async fn a_body_without_end_is_cut_off(setup: Setup) {
    let world = setup.world().await;
    let before = world.server.memory_kib();
    for path in ["/api/v1/alerts", "/api/v1/market/ingest"] {
        let mut stream = TcpStream::connect(world.server.address()).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nX-API-Key: {}\r\nContent-Type: application/json\r\n\
             Transfer-Encoding: chunked\r\n\r\n",
            world.me.key()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let (mut reading, mut writing) = stream.into_split();
        let answer = async {
            use tokio::io::AsyncReadExt;
            let mut came = vec![0; 4096];
            let count = reading.read(&mut came).await.unwrap_or(0);
            String::from_utf8_lossy(&came[..count]).into_owned()
        };
        let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
        let flood = async {
            // 256 MiB, unless the other side has had enough before.
            for _ in 0..4096 {
                if writing.write_all(chunk.as_bytes()).await.is_err() {
                    break;
                }
            }
            std::future::pending::<()>().await;
        };
        let answer = tokio::select! { answer = answer => answer, () = flood => String::new() };
        let status = raw::status(&answer);
        assert!(matches!(status, 0 | 413), "{path}: {answer}");
    }
    unharmed(&world, before).await;
}
