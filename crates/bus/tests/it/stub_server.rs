//! A stub of a NATS server with one client. It counts the client's pings.

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Starts the server and returns its URL and the number of pings that it has answered.
pub(crate) async fn start() -> (String, watch::Receiver<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("nats://{}", listener.local_addr().unwrap());
    let (pings, answered) = watch::channel(0);
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        serve(stream, &pings).await;
    });
    (url, answered)
}

/// Answers pings, and returns each message to the latest subscription.
async fn serve(stream: TcpStream, pings: &watch::Sender<usize>) {
    let mut stream = BufReader::new(stream);
    let info = b"INFO {\"server_id\":\"stub\",\"version\":\"2.9.10\",\"max_payload\":1048576,\"headers\":true}\r\n";
    stream.write_all(info).await.unwrap();
    let (mut line, mut subscription) = (String::new(), String::new());
    while stream.read_line(&mut line).await.is_ok_and(|length| length > 0) {
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
