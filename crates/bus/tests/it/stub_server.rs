//! A stub of a NATS server for one client. It counts the client's pings, and can stop reading.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};

/// The interval of the server's own pings once it reads nothing.
const PING_INTERVAL: Duration = Duration::from_millis(50);

pub(crate) struct StubServer {
    pub(crate) url: String,
    /// The number of pings that it has answered.
    pub(crate) answered: watch::Receiver<usize>,
    reading_stops: Arc<Notify>,
}

impl StubServer {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("nats://{}", listener.local_addr().unwrap());
        let (pings, answered) = watch::channel(0);
        let reading_stops = Arc::new(Notify::new());
        let notified = Arc::clone(&reading_stops);
        tokio::spawn(async move {
            // The client closes a connection when it has the next one.
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, pings.clone(), Arc::clone(&notified)));
            }
        });
        Self {
            url,
            answered,
            reading_stops,
        }
    }

    /// Lets the server read nothing more from its present connection, while it goes on sending.
    pub(crate) fn stop_reading(&self) {
        self.reading_stops.notify_one();
    }
}

/// Answers pings, and returns each message to the latest subscription, until the connection ends.
async fn serve(stream: TcpStream, pings: watch::Sender<usize>, reading_stops: Arc<Notify>) {
    let mut stream = BufReader::new(stream);
    let info = b"INFO {\"server_id\":\"stub\",\"version\":\"2.9.10\",\"max_payload\":1048576,\"headers\":true}\r\n";
    stream.write_all(info).await.unwrap();
    let (mut line, mut subscription) = (String::new(), String::new());
    loop {
        let is_open = tokio::select! {
            read = stream.read_line(&mut line) => read.is_ok_and(|length| length > 0),
            () = reading_stops.notified() => {
                while stream.write_all(b"PING\r\n").await.is_ok() {
                    tokio::time::sleep(PING_INTERVAL).await;
                }
                false
            }
        };
        if !is_open {
            return;
        }
        let words: Vec<_> = line.split_whitespace().collect();
        match words[..] {
            ["PING"] => {
                stream.write_all(b"PONG\r\n").await.unwrap();
                pings.send_modify(|count| *count += 1);
            }
            ["SUB", _, id] => id.clone_into(&mut subscription),
            ["PUB", subject, length] => {
                let mut payload = vec![0; length.parse::<usize>().unwrap() + "\r\n".len()];
                stream.read_exact(&mut payload).await.unwrap();
                let head = format!("MSG {subject} {subscription} {length}\r\n");
                stream.write_all(&[head.as_bytes(), &payload].concat()).await.unwrap();
            }
            _ => {}
        }
        line.clear();
    }
}
