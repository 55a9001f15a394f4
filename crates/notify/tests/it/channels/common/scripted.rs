//! A TCP server that follows a script, to simulate misbehaving SMTP servers.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// A step of a script.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// Sends this text.
    Sends(&'static str),
    /// Waits until this text was received.
    Expects(&'static str),
    /// Sends nothing more, and notifies the test.
    Hangs,
    /// Closes the connection.
    Closes,
}

pub(crate) struct ScriptedServer {
    pub(crate) address: SocketAddr,
    silent: mpsc::UnboundedReceiver<()>,
}

impl ScriptedServer {
    /// Starts a server with one script per connection. Later connections repeat the last one.
    pub(crate) async fn start(scripts: &[&[Step]]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (notify, silent) = mpsc::unbounded_channel();
        let scripts: Vec<Vec<Step>> = scripts.iter().map(|script| script.to_vec()).collect();
        tokio::spawn(async move {
            let mut next = 0;
            while let Ok((mut stream, _)) = listener.accept().await {
                let script = scripts[next.min(scripts.len() - 1)].clone();
                next += 1;
                let notify = notify.clone();
                tokio::spawn(async move {
                    let mut received = Vec::new();
                    for step in script {
                        match step {
                            Step::Sends(text) => stream.write_all(text.as_bytes()).await.unwrap(),
                            Step::Expects(text) => {
                                while !contains(&received, text.as_bytes()) {
                                    let mut buffer = [0; 4_096];
                                    let read = stream.read(&mut buffer).await.unwrap_or_default();
                                    if read == 0 {
                                        return;
                                    }
                                    received.extend_from_slice(&buffer[..read]);
                                }
                                received.clear();
                            }
                            Step::Hangs => {
                                let _ = notify.send(());
                                std::future::pending::<()>().await;
                            }
                            Step::Closes => return,
                        }
                    }
                    let _ = notify.send(());
                    // After the script, the server waits until the client closes.
                    let _ = stream.read_to_end(&mut received).await;
                });
            }
        });
        Self { address, silent }
    }

    /// Waits until a script hangs or is at its end.
    pub(crate) async fn is_silent(&mut self) {
        self.silent.recv().await.unwrap();
    }
}

fn contains(received: &[u8], text: &[u8]) -> bool {
    received.windows(text.len()).any(|window| window == text)
}
