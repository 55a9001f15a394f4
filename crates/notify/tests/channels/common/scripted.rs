//! A server that says what a script says, whatever it hears: for what no sound SMTP server does.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// A step of a conversation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// Says this.
    Says(&'static str),
    /// Waits until it has heard this.
    Hears(&'static str),
    /// Says nothing more, and tells the test.
    Hangs,
    /// Closes the connection.
    Closes,
}

pub(crate) struct Scripted {
    pub(crate) address: SocketAddr,
    told: mpsc::UnboundedReceiver<()>,
}

impl Scripted {
    /// The first connection goes by the first script, the next one by the next, and all others by the last.
    pub(crate) async fn start(scripts: &[&[Step]]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, told) = mpsc::unbounded_channel();
        let scripts: Vec<Vec<Step>> = scripts.iter().map(|script| script.to_vec()).collect();
        tokio::spawn(async move {
            let mut next = 0;
            while let Ok((mut stream, _)) = listener.accept().await {
                let script = scripts[next.min(scripts.len() - 1)].clone();
                next += 1;
                let tell = tell.clone();
                tokio::spawn(async move {
                    let mut heard = Vec::new();
                    for step in script {
                        match step {
                            Step::Says(text) => stream.write_all(text.as_bytes()).await.unwrap(),
                            Step::Hears(text) => {
                                while !contains(&heard, text.as_bytes()) {
                                    let mut buffer = [0; 4_096];
                                    let read = stream.read(&mut buffer).await.unwrap_or_default();
                                    if read == 0 {
                                        return;
                                    }
                                    heard.extend_from_slice(&buffer[..read]);
                                }
                                heard.clear();
                            }
                            Step::Hangs => {
                                let _ = tell.send(());
                                std::future::pending::<()>().await;
                            }
                            Step::Closes => return,
                        }
                    }
                    let _ = tell.send(());
                    // Whoever is done with the script waits for the other to go.
                    let _ = stream.read_to_end(&mut heard).await;
                });
            }
        });
        Self { address, told }
    }

    /// Waits until a script hangs or is at its end.
    pub(crate) async fn is_silent(&mut self) {
        self.told.recv().await.unwrap();
    }
}

fn contains(heard: &[u8], text: &[u8]) -> bool {
    heard.windows(text.len()).any(|window| window == text)
}
