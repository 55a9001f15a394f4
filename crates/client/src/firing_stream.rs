//! The firings of an account as they come: server-sent events.

use std::pin::Pin;

use futures_util::{Stream, StreamExt, stream};
use reqwest::Response;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sse_stream::{Sse, SseStream};

use crate::ClientError;
use crate::models::RemoteFiring;
use crate::operation::STREAM_FIRINGS;
use crate::transport::{ApiRequest, Transport};

/// An open stream of firings.
pub struct FiringStream {
    transport: Transport,
    position: i64,
    events: Pin<Box<dyn Stream<Item = Result<Sse, sse_stream::Error>> + Send>>,
}

/// The data of the first event.
#[derive(Deserialize)]
struct StreamOpen {
    position: i64,
}

impl FiringStream {
    /// Opens a stream of the firings after a position; `None` is the present one.
    pub(crate) async fn open(transport: Transport, after: Option<i64>) -> Result<Self, ClientError> {
        let request = ApiRequest::new(STREAM_FIRINGS).query("after", after);
        let response = transport.open(&request).await?;
        let chunks = stream::try_unfold(response, async |mut response: Response| {
            Ok::<_, reqwest::Error>(response.chunk().await?.map(|chunk| (chunk, response)))
        });
        let mut stream = Self {
            transport,
            position: 0,
            events: Box::pin(SseStream::from_bytes_stream(chunks)),
        };
        let first = stream.event().await?;
        let name = first.event.unwrap_or_default();
        if name != "open" {
            return Err(stream.unexpected(format!("the first event is {name:?}")));
        }
        let open: StreamOpen = stream.read(&first.data.unwrap_or_default())?;
        stream.position = open.position;
        Ok(stream)
    }

    /// Returns the position of the last firing, or of the start. A new stream after it continues this one.
    #[must_use]
    pub fn position(&self) -> i64 {
        self.position
    }

    /// Waits for the next firing.
    ///
    /// # Errors
    /// [`ClientError::Unreachable`] if the stream has ended; [`ClientError::UnexpectedResponse`]
    pub async fn next(&mut self) -> Result<RemoteFiring, ClientError> {
        loop {
            let event = self.event().await?;
            // Later versions of the server may have other events.
            if event.event.as_deref() != Some("firing") {
                continue;
            }
            let id = event.id.unwrap_or_default();
            let position = id.parse();
            let position = position.map_err(|_| self.unexpected(format!("a firing has the id {id:?}")))?;
            let firing = self.read(&event.data.unwrap_or_default())?;
            self.position = position;
            return Ok(firing);
        }
    }

    async fn event(&mut self) -> Result<Sse, ClientError> {
        match self.events.next().await {
            Some(Ok(event)) => Ok(event),
            Some(Err(sse_stream::Error::Body(error))) => Err(self.transport.broken(error.as_ref())),
            Some(Err(error)) => Err(self.unexpected(error.to_string())),
            None => Err(self.transport.ended()),
        }
    }

    fn read<T: DeserializeOwned>(&self, data: &str) -> Result<T, ClientError> {
        serde_json::from_str(data).map_err(|error| self.unexpected(error.to_string()))
    }

    fn unexpected(&self, cause: String) -> ClientError {
        self.transport.unexpected(&ApiRequest::new(STREAM_FIRINGS), cause)
    }
}
