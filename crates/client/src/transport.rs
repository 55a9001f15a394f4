//! Sends requests, repeats them, and reads the envelopes of responses.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Method, Response, StatusCode, header};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use url::Url;
use uuid::Uuid;

use crate::operation::ApiOperation;
use crate::{ClientError, ClientKey, RequestRefusal, RequestRetryPolicy};

/// The longest time for one attempt.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(60);
/// The longest silence of a server. A stream that is silent for longer is broken: servers send a comment every 15 seconds.
const MAX_SILENCE: Duration = ATTEMPT_TIMEOUT;
/// The largest response.
const MAX_RESPONSE_BYTES: usize = 64 << 20;
const API_PREFIX: &str = "api/v1";

/// Returns a new random id.
pub type NewId = Arc<dyn Fn() -> Uuid + Send + Sync>;

/// The settings of a client.
#[derive(Clone)]
pub struct ClientConfig {
    /// The address of the server, such as `https://alerts.example.com`, with or without a path.
    pub url: String,
    /// The API key.
    pub api_key: ClientKey,
    /// How often requests are repeated.
    pub retry: RequestRetryPolicy,
    /// Creates the `Idempotency-Key`s.
    pub new_id: NewId,
}

impl fmt::Debug for ClientConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientConfig")
            .field("url", &self.url)
            .field("retry", &self.retry)
            .finish_non_exhaustive()
    }
}

/// A request, apart from what all requests have.
#[derive(Debug)]
pub(crate) struct ApiRequest {
    operation: ApiOperation,
    id: Option<Uuid>,
    query: Vec<(&'static str, String)>,
    body: Option<Value>,
}

impl ApiRequest {
    pub(crate) const fn new(operation: ApiOperation) -> Self {
        Self {
            operation,
            id: None,
            query: Vec::new(),
            body: None,
        }
    }

    /// Sets the id in the path.
    pub(crate) fn of(mut self, id: Uuid) -> Self {
        self.id = Some(id);
        self
    }

    /// Adds a query parameter, if it has a value.
    pub(crate) fn query(mut self, name: &'static str, value: Option<impl ToString>) -> Self {
        debug_assert!(self.operation.query.contains(&name), "{name} is declared");
        self.query.extend(value.map(|value| (name, value.to_string())));
        self
    }

    pub(crate) fn json(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }

    fn is_write(&self) -> bool {
        self.operation.method != "GET"
    }

    fn name(&self) -> String {
        format!("{} {}", self.operation.method, self.operation.path)
    }
}

/// A successful response.
#[derive(Debug)]
pub(crate) struct ApiResponse<T> {
    pub(crate) status: StatusCode,
    pub(crate) data: T,
}

/// The envelope of a successful response.
#[derive(Deserialize)]
struct Envelope<T> {
    data: T,
}

/// The envelope of an error response.
#[derive(Deserialize)]
struct ErrorEnvelope {
    error: ErrorBody,
}

#[derive(Deserialize)]
struct ErrorBody {
    code: String,
    message: String,
    #[serde(default)]
    details: Map<String, Value>,
}

/// Sends requests to one server.
#[derive(Clone)]
pub(crate) struct Transport {
    http: reqwest::Client,
    url: Url,
    config: ClientConfig,
}

impl Transport {
    pub(crate) fn new(config: ClientConfig) -> Result<Self, ClientError> {
        let invalid = || ClientError::InvalidUrl(config.url.clone());
        let mut url: Url = config.url.trim_end_matches('/').parse().map_err(|_| invalid())?;
        let is_complete = matches!(url.scheme(), "http" | "https") && url.host_str().is_some();
        if !is_complete || !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
            return Err(invalid());
        }
        url.set_fragment(None);
        // A redirect could send the key to another server.
        let http = reqwest::Client::builder()
            .redirect(Policy::none())
            .read_timeout(MAX_SILENCE)
            .user_agent(concat!("bellwether/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| ClientError::Unreachable {
                url: url.to_string(),
                cause: innermost(&error),
            })?;
        Ok(Self { http, url, config })
    }

    /// Sends a request, and repeats it while it fails for a moment.
    pub(crate) async fn send<T: DeserializeOwned>(&self, request: ApiRequest) -> Result<ApiResponse<T>, ClientError> {
        // All attempts have the same key, so that the request counts once.
        let key = request.is_write().then(|| (self.config.new_id)().to_string());
        let mut attempt = 1;
        loop {
            let sent = self.prepared(&request, key.as_deref()).timeout(ATTEMPT_TIMEOUT).send();
            let error = match sent.await {
                Ok(response) if response.status().is_success() => return self.read(&request, response).await,
                Ok(response) => ClientError::Refused(Box::new(self.read_error(&request, response).await?)),
                Err(error) => self.unreachable(&error),
            };
            let Some(pause) = self.config.retry.pause(attempt, &error) else {
                return Err(error);
            };
            tokio::time::sleep(pause).await;
            attempt += 1;
        }
    }

    /// Sends a request once. The response is a stream of events, which may last for days.
    pub(crate) async fn open(&self, request: &ApiRequest) -> Result<Response, ClientError> {
        let response = self.prepared(request, None).send().await;
        let response = response.map_err(|error| self.unreachable(&error))?;
        if !response.status().is_success() {
            let refusal = self.read_error(request, response).await?;
            return Err(ClientError::Refused(Box::new(refusal)));
        }
        let content_type = response.headers().get(header::CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok()).unwrap_or_default();
        if !content_type.starts_with("text/event-stream") {
            return Err(self.unexpected(request, format!("the content type is {content_type:?}")));
        }
        Ok(response)
    }

    fn prepared(&self, request: &ApiRequest, key: Option<&str>) -> reqwest::RequestBuilder {
        // The methods of operations are valid.
        let method = Method::from_bytes(request.operation.method.as_bytes()).unwrap_or(Method::GET);
        let mut sent = self
            .http
            .request(method, self.url_of(request))
            .header("X-API-Key", self.config.api_key.secret());
        if let Some(key) = key {
            sent = sent.header("Idempotency-Key", key);
        }
        if let Some(body) = &request.body {
            sent = sent.json(body);
        }
        sent
    }

    fn url_of(&self, request: &ApiRequest) -> Url {
        let id = request.id.map(|id| id.to_string()).unwrap_or_default();
        let path = request.operation.path.replace("{id}", &id);
        let mut url = self.url.clone();
        url.set_path(&format!("{}/{API_PREFIX}{path}", self.url.path().trim_end_matches('/')));
        if !request.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&request.query);
        }
        url
    }

    async fn read<T: DeserializeOwned>(
        &self,
        request: &ApiRequest,
        response: Response,
    ) -> Result<ApiResponse<T>, ClientError> {
        let status = response.status();
        let body = self.body(request, response).await?;
        let envelope: Envelope<T> =
            serde_json::from_slice(&body).map_err(|error| self.unexpected(request, error.to_string()))?;
        Ok(ApiResponse {
            status,
            data: envelope.data,
        })
    }

    /// Reads an error response. A proxy may respond with something else than JSON.
    async fn read_error(&self, request: &ApiRequest, response: Response) -> Result<RequestRefusal, ClientError> {
        let status = response.status();
        let retry_after = response.headers().get(header::RETRY_AFTER);
        let retry_after_s = retry_after.and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let body = self.body(request, response).await?;
        let error = match serde_json::from_slice::<ErrorEnvelope>(&body) {
            Ok(envelope) => envelope.error,
            Err(_) if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => ErrorBody {
                code: String::new(),
                message: format!("{} responded with {status}; try again later", self.url),
                details: Map::new(),
            },
            Err(_) => return Err(self.unexpected(request, format!("status {status}"))),
        };
        Ok(RequestRefusal {
            status: status.as_u16(),
            code: error.code,
            message: error.message,
            details: error.details,
            retry_after_s,
        })
    }

    async fn body(&self, request: &ApiRequest, mut response: Response) -> Result<Vec<u8>, ClientError> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.unreachable(&error))? {
            if body.len() + chunk.len() > MAX_RESPONSE_BYTES {
                return Err(self.unexpected(request, "the response is too large".to_owned()));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    fn unreachable(&self, error: &reqwest::Error) -> ClientError {
        if error.is_timeout() {
            let cause = format!("no response within {} s", ATTEMPT_TIMEOUT.as_secs());
            return self.no_response(cause);
        }
        self.broken(error)
    }

    /// Returns the error of a connection that is broken.
    pub(crate) fn broken(&self, error: &dyn std::error::Error) -> ClientError {
        self.no_response(innermost(error))
    }

    fn no_response(&self, cause: String) -> ClientError {
        ClientError::Unreachable {
            url: self.url.to_string(),
            cause,
        }
    }

    /// Returns the error of a stream that has ended.
    pub(crate) fn ended(&self) -> ClientError {
        self.no_response("the stream has ended".to_owned())
    }

    pub(crate) fn unexpected(&self, request: &ApiRequest, cause: String) -> ClientError {
        ClientError::UnexpectedResponse {
            url: self.url.to_string(),
            operation: request.name(),
            cause,
        }
    }
}

/// Returns the innermost cause: that of reqwest repeats the address.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
