//! A server that answers what it is told to, and can do what servers should not.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// An answer.
#[derive(Debug, Clone)]
pub enum Reply {
    /// A status, further header lines and a body.
    Whole(u16, String, String),
    /// The same, of which the connection is closed after so many bytes of the body.
    Cut(String, usize),
    /// A body without an announced length that goes on and on.
    Endless,
    /// Nothing at all, and the connection stays.
    Silence,
}

impl Reply {
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

/// A path and what is answered there. Of several that fit, the one with the longest pattern answers.
#[derive(Debug, Clone)]
struct Route {
    /// What the request's target must contain, each part.
    parts: Vec<String>,
    body: String,
}

/// What it has to do and what it was asked.
#[derive(Debug, Default)]
struct Script {
    /// Answers to the next requests, whatever they are.
    first: VecDeque<Reply>,
    routes: Vec<Route>,
    heads: Vec<String>,
}

/// A server on loopback. It ends with the test's runtime.
#[derive(Debug, Clone)]
pub struct Server {
    pub url: String,
    script: Arc<Mutex<Script>>,
}

impl Server {
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

    /// Answers requests whose target contains all of `parts` (separated by spaces) with `body`.
    pub fn route(&self, parts: &str, body: &str) {
        self.script.lock().unwrap().routes.push(Route {
            parts: parts.split(' ').map(str::to_owned).collect(),
            body: body.to_owned(),
        });
    }

    /// Answers the next requests with these, before any route.
    pub fn first(&self, replies: impl IntoIterator<Item = Reply>) {
        self.script.lock().unwrap().first.extend(replies);
    }

    /// The heads of the requests so far.
    pub fn heads(&self) -> Vec<String> {
        self.script.lock().unwrap().heads.clone()
    }

    pub fn requests(&self) -> usize {
        self.heads().len()
    }
}

async fn serve(mut stream: TcpStream, script: Arc<Mutex<Script>>) {
    while let Some(head) = read_head(&mut stream).await {
        let reply = choose(&mut script.lock().unwrap(), head);
        if !answer(&mut stream, reply).await {
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

fn choose(script: &mut Script, head: String) -> Reply {
    let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
    script.heads.push(head);
    if let Some(reply) = script.first.pop_front() {
        return reply;
    }
    let fits = |route: &&Route| route.parts.iter().all(|part| target.contains(part.as_str()));
    let length = |route: &&Route| route.parts.iter().map(String::len).sum::<usize>();
    match script.routes.iter().filter(fits).max_by_key(length) {
        Some(route) => Reply::ok(route.body.clone()),
        None => Reply::status(404),
    }
}

/// Whether the connection goes on.
async fn answer(stream: &mut TcpStream, reply: Reply) -> bool {
    let date = "Date: Fri, 08 Mar 2024 15:30:07 GMT";
    match reply {
        Reply::Whole(status, headers, body) => {
            let length = body.len();
            let text = format!("HTTP/1.1 {status} Word\r\n{date}\r\n{headers}Content-Length: {length}\r\n\r\n{body}");
            stream.write_all(text.as_bytes()).await.is_ok()
        }
        Reply::Cut(body, bytes) => {
            let length = body.len();
            let body = &body.as_bytes()[..bytes];
            let head = format!("HTTP/1.1 200 OK\r\n{date}\r\nContent-Length: {length}\r\n\r\n");
            let _ = stream.write_all(&[head.as_bytes(), body].concat()).await;
            false
        }
        Reply::Endless => {
            let head = format!("HTTP/1.1 200 OK\r\n{date}\r\nTransfer-Encoding: chunked\r\n\r\n");
            let chunk = format!("{:x}\r\n{}\r\n", 4_096, " ".repeat(4_096));
            let _ = stream.write_all(head.as_bytes()).await;
            while stream.write_all(chunk.as_bytes()).await.is_ok() {}
            false
        }
        Reply::Silence => {
            // Until the other side gives up.
            let _ = stream.read_u8().await;
            false
        }
    }
}
