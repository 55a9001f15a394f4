//! The API key is sent to the endpoint and disclosed nowhere else.

use std::io::Write;
use std::sync::{Arc, Mutex};

use testkit::stub_server::StubResponse;
use tracing_subscriber::fmt::MakeWriter;

use crate::analyst::fixture::{Fixture, KEY, chat_completion, valid_answer};

/// The log.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// On one thread, so that the log is complete.
#[tokio::test]
async fn key_is_sent_in_the_header_and_not_disclosed() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_ansi(false)
        .with_writer(log.clone())
        .finish();
    let _heard = tracing::subscriber::set_default(subscriber);
    let fixture = Fixture::new(chat_completion(&valid_answer())).await;
    let mut said = format!("{:?}", fixture.advise().await);
    assert_eq!(
        fixture.endpoint.next_request().await.headers["authorization"],
        format!("Bearer {KEY}")
    );
    // An endpoint that returns the key is handled like any other error.
    for say in [
        StubResponse::complete("401 Unauthorized", "", &format!("{{\"error\": \"bad key {KEY}\"}}")),
        StubResponse::complete("200 OK", "", KEY),
        StubResponse::complete("302 Found", &format!("Location: http://127.0.0.1:1/?{KEY}\r\n"), ""),
        StubResponse::Bytes(format!("{KEY}\r\n").into_bytes()),
        StubResponse::Bytes(Vec::new()),
    ] {
        fixture.endpoint.set_response(say);
        let advised = fixture.advise().await;
        let why = advised.fallback.clone().unwrap();
        said.push_str(&format!("{advised:?} {why} {}", why.name()));
    }
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("the language model is no help"), "{log}");
    let secret = KEY.strip_prefix("sk-").unwrap();
    assert!(!log.contains(secret), "{log}");
    assert!(!said.contains(secret), "{said}");
}
