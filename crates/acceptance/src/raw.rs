//! Bytes instead of requests: what no well-behaved client would send.

use testkit::HANG_LIMIT;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Sends bytes and reads until the other side closes, or what came makes a whole answer.
///
/// # Panics
/// If nothing can be sent, or the answer takes too long.
pub async fn exchange(address: &str, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // Whoever refuses early may close before everything is sent.
    let _ = stream.write_all(bytes).await;
    answer(&mut stream).await
}

/// Reads until the other side closes, or what came makes a whole answer.
///
/// # Panics
/// If that takes too long.
pub async fn answer(stream: &mut TcpStream) -> String {
    let mut came = Vec::new();
    let reading = async {
        let mut piece = [0; 16 * 1024];
        while let Ok(count @ 1..) = stream.read(&mut piece).await {
            came.extend_from_slice(&piece[..count]);
            if is_whole(&String::from_utf8_lossy(&came)) {
                break;
            }
        }
    };
    let in_time = tokio::time::timeout(HANG_LIMIT, reading).await;
    let text = String::from_utf8_lossy(&came).into_owned();
    assert!(in_time.is_ok(), "no whole answer within {HANG_LIMIT:?}: {text:?}");
    text
}

/// Whether a text is a head and as much of a body as the head says.
fn is_whole(text: &str) -> bool {
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let is_length = name.eq_ignore_ascii_case("content-length");
        is_length.then(|| value.trim().parse::<usize>().ok()).flatten()
    });
    length.is_some_and(|length| body.len() >= length)
}

/// The status code of an answer; 0 if none came.
#[must_use]
pub fn status(answer: &str) -> u16 {
    let code = answer.split_whitespace().nth(1);
    code.and_then(|code| code.parse().ok()).unwrap_or(0)
}
