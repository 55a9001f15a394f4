//! A private Redis server: a child process, reached over a unix socket, and ended with the bench.

use std::fmt::Display;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStdout, Command, Stdio};

use super::market::Level;
use tempfile::TempDir;

/// The number of commands that are sent before their replies are read.
pub(crate) const PIPELINE: usize = 1000;

pub(crate) struct Redis {
    child: Child,
    stream: UnixStream,
    answers: Vec<u8>,
    _output: BufReader<ChildStdout>,
    _directory: TempDir,
}

/// Commands in the Redis protocol, divided into pipelines.
#[derive(Default)]
pub(crate) struct Commands {
    /// The bytes and the number of commands of each pipeline.
    batches: Vec<(Vec<u8>, usize)>,
}

impl Commands {
    fn push(&mut self, parts: &[&dyn Display]) {
        if self.batches.last().is_none_or(|batch| batch.1 == PIPELINE) {
            self.batches.push((Vec::new(), 0));
        }
        let (bytes, count) = self.batches.last_mut().expect("there is one");
        *count += 1;
        write!(bytes, "*{}\r\n", parts.len()).expect("memory");
        for part in parts {
            let text = part.to_string();
            write!(bytes, "${}\r\n{text}\r\n", text.len()).expect("memory");
        }
    }

    /// Creates the commands that find, for each stock, the levels that its `price` reaches: the lowest entry above and the
    /// highest below.
    pub(crate) fn for_prices(prices: &[i64]) -> Self {
        let mut commands = Self::default();
        for (stock, price) in prices.iter().enumerate() {
            let (above, below) = (format!("a{stock}"), format!("b{stock}"));
            let z = "ZRANGEBYSCORE";
            commands.push(&[&z, &above, &"-inf", price, &"LIMIT", &0, &1]);
            commands.push(&[&z, &below, price, &"+inf", &"LIMIT", &0, &1]);
        }
        commands
    }
}

impl Redis {
    /// Starts the server. If redis-server is not installed, prints so and returns `None`.
    pub(crate) fn start() -> Option<Self> {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let socket = directory.path().join("redis.sock");
        let started = Command::new("redis-server")
            .args(["--port", "0", "--save", "", "--appendonly", "no"])
            .arg("--unixsocket")
            .arg(&socket)
            .arg("--dir")
            .arg(directory.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = match started {
            Ok(child) => child,
            Err(error) => {
                println!("redis-server is not installed ({error}): no comparison with Redis");
                return None;
            }
        };
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut line = String::new();
        while !line.contains("eady to accept connections") {
            line.clear();
            let read = output.read_line(&mut line).expect("what it says is text");
            assert!(read > 0, "redis-server ended before it was ready");
        }
        Some(Self {
            stream: UnixStream::connect(socket).expect("it is ready"),
            child,
            answers: Vec::new(),
            _output: output,
            _directory: directory,
        })
    }

    /// Creates one sorted set for each stock and side, with the price as the score.
    pub(crate) fn fill(&mut self, levels: &[Level]) {
        for (chunk_at, chunk) in levels.chunks(PIPELINE * 50).enumerate() {
            let mut commands = Commands::default();
            for (at, level) in chunk.iter().enumerate() {
                let set = format!("{}{}", level.side.pick('a', 'b'), level.stock);
                let member = chunk_at * PIPELINE * 50 + at;
                commands.push(&[&"ZADD", &set, &level.price, &member]);
            }
            self.send(&commands);
        }
        let beyond_all = Commands::for_prices(&[market::price::MAX_PRICE_MICROS]);
        assert_eq!(self.send(&beyond_all), 1, "what is stored is found");
    }

    /// Sends the commands pipeline by pipeline and reads all replies. Returns the number of entries found.
    pub(crate) fn send(&mut self, commands: &Commands) -> usize {
        let mut found = 0;
        for (request, count) in &commands.batches {
            self.stream.write_all(request).expect("Redis listens");
            found += self.read(*count);
        }
        found
    }

    /// Reads `count` replies: one line each (`*0`, `:1`), and two more lines after a `*1`.
    fn read(&mut self, count: usize) -> usize {
        self.answers.resize(64 * 1024, 0);
        let (mut lines_left, mut found, mut before) = (count, 0, b'\n');
        while lines_left > 0 {
            let read = self.stream.read(&mut self.answers).expect("Redis answers");
            assert!(read > 0, "Redis hung up");
            for &byte in &self.answers[..read] {
                if before == b'*' {
                    let entries = usize::from(byte - b'0');
                    found += entries;
                    lines_left += 2 * entries;
                }
                lines_left -= usize::from(byte == b'\n');
                before = byte;
            }
        }
        found
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        // The server has no persistent data, so killing it is a clean end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
