//! Slowness: connections that say nothing, heads and bodies that drip.

use std::time::Duration;

use acceptance::clock::HANG_LIMIT;
use acceptance::{Setup, on_both_databases, raw};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::unharmed;

on_both_databases![
    a_head_that_drips_is_cut_off,
    a_body_that_drips_is_cut_off,
    a_thousand_idle_connections_hinder_nobody,
    an_answer_that_nobody_reads_is_given_up,
];

/// Between two drops: the experiment's variable, well within the program's patience for a single byte.
const DROP_EVERY: Duration = Duration::from_millis(100);

/// Sends bytes one by one until the other side has had enough; answers what it said.
async fn drip(address: &str, head: &[u8], drops: impl Iterator<Item = u8> + Send) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(head).await.unwrap();
    let (mut reading, mut writing) = stream.into_split();
    let mut tick = tokio::time::interval(DROP_EVERY);
    let dripping = async {
        for byte in drops {
            tick.tick().await;
            if writing.write_all(&[byte]).await.is_err() {
                break;
            }
        }
        std::future::pending::<()>().await;
    };
    let reading = async {
        let mut came = Vec::new();
        let _ = reading.read_to_end(&mut came).await;
        String::from_utf8_lossy(&came).into_owned()
    };
    let ended = async {
        tokio::select! { came = reading => came, () = dripping => String::new() }
    };
    let in_time = tokio::time::timeout(HANG_LIMIT, ended).await;
    in_time.expect("a connection that drips is never closed")
}

async fn a_head_that_drips_is_cut_off(setup: Setup) {
    let setup = setup
        .set("server.header_timeout", "1s")
        .set("server.idle_timeout", "1s");
    let world = setup.world().await;
    let before = world.server.memory_kib();
    let head = b"GET /api/v1/alerts HTTP/1.1\r\nHost: x\r\nX-Drip: ";
    let answer = drip(world.server.address(), head, std::iter::repeat(b'x')).await;
    let status = raw::status(&answer);
    assert!(status == 0 || status == 408 || status == 503, "{answer}");
    // And one that sends nothing at all.
    let answer = drip(world.server.address(), b"", std::iter::empty()).await;
    assert!(matches!(raw::status(&answer), 0 | 408 | 503), "{answer}");
    unharmed(&world, before).await;
}

async fn a_body_that_drips_is_cut_off(setup: Setup) {
    let setup = setup.set("server.body_timeout", "1s");
    let world = setup.world().await;
    let before = world.server.memory_kib();
    for length in ["Content-Length: 100000", "Transfer-Encoding: chunked"] {
        let head = format!(
            "POST /api/v1/alerts HTTP/1.1\r\nHost: x\r\nX-API-Key: {}\r\nContent-Type: application/json\r\n\
             {length}\r\n\r\n",
            world.me.key()
        );
        let answer = drip(
            world.server.address(),
            head.as_bytes(),
            b"1\r\n{\r\n".iter().copied().cycle(),
        )
        .await;
        let status = raw::status(&answer);
        assert!(matches!(status, 0 | 400 | 408 | 503), "{length}: {answer}");
    }
    unharmed(&world, before).await;
}

async fn a_thousand_idle_connections_hinder_nobody(setup: Setup) {
    let setup = setup
        .set("server.header_timeout", "60s")
        .set("server.max_connections_per_address", "2000");
    let world = setup.world().await;
    let before = world.server.memory_kib();
    let mut idle = Vec::new();
    for _ in 0..1000 {
        let mut stream = TcpStream::connect(world.server.address()).await.unwrap();
        stream
            .write_all(b"GET /api/v1/alerts HTTP/1.1\r\nHost: x\r\n")
            .await
            .unwrap();
        idle.push(stream);
    }
    unharmed(&world, before).await;
    drop(idle);
    unharmed(&world, before).await;
}

async fn an_answer_that_nobody_reads_is_given_up(setup: Setup) {
    let world = setup.set("server.write_timeout", "1s").world().await;
    let before = world.server.memory_kib();
    let mut silent = Vec::new();
    for _ in 0..20 {
        let mut stream = TcpStream::connect(world.server.address()).await.unwrap();
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
    unharmed(&world, before).await;
}
