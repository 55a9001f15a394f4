//! An HTTP stub server with scripted responses, including faulty ones.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A scripted response.
#[derive(Debug, Clone)]
pub enum StubResponse {
    /// A status, further header lines and a body.
    Whole(u16, String, String),
    /// A body with status 200 that is cut off after this many bytes.
    Truncated(String, usize),
    /// A body of unlimited length, without a `Content-Length`.
    Endless,
    /// No response; the connection stays open.
    Silence,
}

impl StubResponse {
    pub fn ok(body: impl Into<String>) -> Self {
        Self::Whole(200, String::new(), body.into())
    }

    pub fn status(status: u16) -> Self {
        Self::Whole(status, String::new(), r#"{"message":"no"}"#.to_owned())
    }

    pub fn with_header(status: u16, header: &str) -> Self {
        Self::Whole(status, format!("{header}\r\n"), "{}".to_owned())
    }
}

/// A route. If several routes match, the one with the longest pattern responds.
#[derive(Debug, Clone)]
struct Route {
    /// The parts that the request target must contain.
    parts: Vec<String>,
    body: String,
}

/// The scripted responses and the received requests.
#[derive(Debug, Default)]
struct Script {
    /// Responses to the next requests, before any route.
    first: VecDeque<StubResponse>,
    routes: Vec<Route>,
    request_heads: Vec<String>,
}

/// A stub server on loopback. It ends with the test's runtime.
#[derive(Debug, Clone)]
pub struct StubServer {
    pub url: String,
    script: Arc<Mutex<Script>>,
}

impl StubServer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let script = Arc::new(Mutex::new(Script::default()));
        let shared = Arc::clone(&script);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Self { url, script }
    }

    /// Adds a route: requests whose target contains all of `parts` (separated by spaces) get `body`.
    pub fn route(&self, parts: &str, body: &str) {
        self.script.lock().unwrap().routes.push(Route {
            parts: parts.split(' ').map(str::to_owned).collect(),
            body: body.to_owned(),
        });
    }

    /// Adds responses to the next requests, before any route.
    pub fn first(&self, replies: impl IntoIterator<Item = StubResponse>) {
        self.script.lock().unwrap().first.extend(replies);
    }

    /// Returns the heads of all requests so far.
    pub fn request_heads(&self) -> Vec<String> {
        self.script.lock().unwrap().request_heads.clone()
    }

    pub fn requests(&self) -> usize {
        self.request_heads().len()
    }
}

async fn serve(mut stream: TcpStream, script: Arc<Mutex<Script>>) {
    while let Some(head) = read_head(&mut stream).await {
        let reply = choose_response(&mut script.lock().unwrap(), head);
        if !respond(&mut stream, reply).await {
            return;
        }
    }
}

async fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    String::from_utf8(head).ok()
}

fn choose_response(script: &mut Script, head: String) -> StubResponse {
    let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
    script.request_heads.push(head);
    if let Some(reply) = script.first.pop_front() {
        return reply;
    }
    let fits = |route: &&Route| route.parts.iter().all(|part| target.contains(part.as_str()));
    let length = |route: &&Route| route.parts.iter().map(String::len).sum::<usize>();
    match script.routes.iter().filter(fits).max_by_key(length) {
        Some(route) => StubResponse::ok(route.body.clone()),
        None => StubResponse::status(404),
    }
}

/// Sends the response and returns whether the connection stays open.
async fn respond(stream: &mut TcpStream, reply: StubResponse) -> bool {
    let date = "Date: Fri, 08 Mar 2024 15:30:07 GMT";
    match reply {
        StubResponse::Whole(status, headers, body) => {
            let length = body.len();
            let text = format!("HTTP/1.1 {status} Word\r\n{date}\r\n{headers}Content-Length: {length}\r\n\r\n{body}");
            stream.write_all(text.as_bytes()).await.is_ok()
        }
        StubResponse::Truncated(body, bytes) => {
            let length = body.len();
            let body = &body.as_bytes()[..bytes];
            let head = format!("HTTP/1.1 200 OK\r\n{date}\r\nContent-Length: {length}\r\n\r\n");
            let _ = stream.write_all(&[head.as_bytes(), body].concat()).await;
            false
        }
        StubResponse::Endless => {
            let head = format!("HTTP/1.1 200 OK\r\n{date}\r\nTransfer-Encoding: chunked\r\n\r\n");
            let chunk = format!("{:x}\r\n{}\r\n", 4_096, " ".repeat(4_096));
            let _ = stream.write_all(head.as_bytes()).await;
            while stream.write_all(chunk.as_bytes()).await.is_ok() {}
            false
        }
        StubResponse::Silence => {
            // Waits until the client gives up.
            let _ = stream.read_u8().await;
            false
        }
    }
}
