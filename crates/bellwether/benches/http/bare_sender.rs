//! The baseline of deliveries: bare hyper that signs and posts, in a separate process.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use jiff::Timestamp;
use notify::message::ALERT_TRIGGERED;
use notify::signature::{HeaderStyle, SignatureFormat, SigningInput, SigningSecret, SigningSecrets};
use tokio::net::TcpStream;
use uuid::Uuid;

use crate::bare;

const CONNECTIONS: usize = 16;

/// Returns the processor time of a delivery in microseconds.
pub(crate) fn micros_per_delivery(port: u16, body_bytes: usize, count: usize) -> f64 {
    let arguments = [
        "send".to_owned(),
        port.to_string(),
        body_bytes.to_string(),
        count.to_string(),
    ];
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut child = bare::command(&arguments).spawn().unwrap();
    let mut micros = String::new();
    child.stdout.take().unwrap().read_to_string(&mut micros).unwrap();
    child.wait().unwrap();
    micros.trim().parse::<f64>().unwrap() / count as f64
}

/// Sends from this process, and prints its processor time in microseconds.
pub(crate) fn send(port: &str, body_bytes: &str, count: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let port: u16 = port.parse().unwrap();
    let body = Bytes::from(vec![b'x'; body_bytes.parse().unwrap()]);
    let count: usize = count.parse().unwrap();
    runtime.block_on(async {
        let next = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..CONNECTIONS)
            .map(|_| tokio::spawn(send_all(port, body.clone(), Arc::clone(&next), count)))
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    let time: Duration = testkit::thread_times("self").values().sum();
    println!("{}", time.as_secs_f64() * 1e6);
}

async fn send_all(port: u16, body: Bytes, next: Arc<AtomicUsize>, count: usize) {
    let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let style = HeaderStyle::default();
    let secrets = SigningSecrets::from(SigningSecret::from_random([7; 32]));
    let at = Timestamp::UNIX_EPOCH;
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= count {
            return;
        }
        let headers = style.headers(&SigningInput {
            id: Uuid::from_u128(number as u128),
            event: ALERT_TRIGGERED,
            generated_at: at,
            attempted_at: at,
            body: &body,
            secrets: &secrets,
            format: SignatureFormat::default(),
        });
        let mut request = Request::new(Full::new(body.clone()));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = "/hook".parse().unwrap();
        *request.headers_mut() = headers;
        request.headers_mut().insert("host", "127.0.0.1".parse().unwrap());
        sender.ready().await.unwrap();
        let response = sender.send_request(request).await.unwrap();
        assert!(response.status().is_success());
        response.into_body().collect().await.unwrap();
    }
}
