//! The baseline: `reqwest`, which signs and posts and does nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use clock::Clock;
use notify::message::ALERT_TRIGGERED;
use notify::signature::{HeaderStyle, SignatureFormat, SigningInput, SigningSecret, SigningSecrets};
use rustls::pki_types::CertificateDer;
use uuid::Uuid;

use crate::database;
use crate::system::{RealClock, stopwatch};

/// Posts `count` deliveries with `concurrency` loops, and returns the time that took.
pub(crate) async fn run(
    urls: Vec<String>,
    root: Option<&CertificateDer<'static>>,
    count: usize,
    concurrency: usize,
) -> Duration {
    let client = reqwest::Client::builder().no_proxy();
    let client = match root {
        Some(root) => client.tls_certs_only([reqwest::Certificate::from_der(root).unwrap()]),
        None => client,
    };
    let shared = Arc::new(Shared {
        client: client.build().unwrap(),
        urls,
        next: AtomicUsize::new(0),
        count,
    });
    let began = stopwatch();
    let loops: Vec<_> = (0..concurrency)
        .map(|_| tokio::spawn(post_all(Arc::clone(&shared))))
        .collect();
    for task in loops {
        task.await.unwrap();
    }
    began.elapsed()
}

struct Shared {
    client: reqwest::Client,
    urls: Vec<String>,
    next: AtomicUsize,
    count: usize,
}

async fn post_all(shared: Arc<Shared>) {
    let style = HeaderStyle::default();
    let secrets = SigningSecrets::from(SigningSecret::from_random([7; 32]));
    let body = database::any_body();
    let at = Clock::now(&RealClock);
    loop {
        let number = shared.next.fetch_add(1, Ordering::Relaxed);
        if number >= shared.count {
            return;
        }
        let headers = style.headers(&SigningInput {
            id: Uuid::from_u128(number as u128),
            event: ALERT_TRIGGERED,
            generated_at: at,
            attempted_at: Clock::now(&RealClock),
            body: &body,
            secrets: &secrets,
            format: SignatureFormat::default(),
        });
        let url = &shared.urls[number % shared.urls.len()];
        let request = shared.client.post(url).headers(headers).body(body.clone());
        let answer = request.send().await.unwrap().error_for_status().unwrap();
        answer.bytes().await.unwrap();
    }
}
