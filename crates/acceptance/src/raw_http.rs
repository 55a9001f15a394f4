//! Raw TCP exchanges: arbitrary bytes that no correct HTTP client sends.

use testkit::HANG_LIMIT;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Connects, sends bytes and reads until the service closes the connection or a complete response has arrived.
///
/// # Panics
/// If the connection fails, or the response takes too long.
pub async fn exchange(address: &str, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The service may close the connection before it has read everything.
    let _ = stream.write_all(bytes).await;
    read_response(&mut stream).await
}

/// Reads until the service closes the connection or a complete response has arrived.
///
/// # Panics
/// If the response takes too long.
pub async fn read_response(stream: &mut TcpStream) -> String {
    let mut received = Vec::new();
    let reading = async {
        let mut piece = [0; 16 * 1024];
        while let Ok(count @ 1..) = stream.read(&mut piece).await {
            received.extend_from_slice(&piece[..count]);
            if is_complete(&String::from_utf8_lossy(&received)) {
                break;
            }
        }
    };
    let in_time = tokio::time::timeout(HANG_LIMIT, reading).await;
    let text = String::from_utf8_lossy(&received).into_owned();
    assert!(in_time.is_ok(), "no complete response within {HANG_LIMIT:?}: {text:?}");
    text
}

/// Returns whether the text is a response head with a body of the length that the head declares.
fn is_complete(text: &str) -> bool {
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

/// Returns the status code of a response; 0 if there is no response.
#[must_use]
pub fn status_code(response: &str) -> u16 {
    let code = response.split_whitespace().nth(1);
    code.and_then(|code| code.parse().ok()).unwrap_or(0)
}
