//! The tools as rmcp calls them.
//!
//! rmcp runs each call in a task of its own, and a tool that panics there would leave its client waiting for ever; so every
//! call has a net under it and an end to its time, and comes to an answer whatever happens inside.

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use http::request::Parts;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use service::Actor;

use super::origin::Places;
use super::prompts::{self, Prompt};
use super::resources::{self, Resource};
use super::tools::{self, Tool, ToolError};
use crate::app::App;
use crate::layers::guard::text_of;
use crate::settings::Settings;

/// The revisions of the protocol that are spoken. 2025-03-26 is not among them: it obliges servers to take batches.
pub(super) const SUPPORTED: [ProtocolVersion; 3] = [
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// How long clients may keep lists of tools, resources and prompts, in milliseconds.
const LIST_TTL_MS: u64 = 5 * 60 * 1000;

/// What agents are told of the service when they begin.
const INSTRUCTIONS: &str = "Stock alerts and a watchlist. An alert waits for one condition of one stock; when it fires, its \
    owner is notified by email, text message or webhook. Firings are not pushed to you: read list_alert_events (or the \
    resource bellwether://events) to see what fired and why. The resource bellwether://guide/conditions explains all 23 \
    conditions, bellwether://stocks/{symbol} shows a stock. Prices are US dollars, 5 means 5 %, times are RFC 3339 in UTC, \
    ids are UUIDs from the lists. Delete only what the person asked to delete. A refused call says how to correct it.";

/// Who called, with what there is to call.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    pub(super) app: App,
    pub(super) actor: Arc<Actor>,
}

type RmcpService = StreamableHttpService<Handler, NeverSessionManager>;

/// rmcp, and who may come to it from where.
pub(crate) struct Endpoint {
    service: RmcpService,
    places: Places,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint")
            .field("places", &self.places)
            .finish_non_exhaustive()
    }
}

impl Endpoint {
    pub(super) const fn service(&self) -> &RmcpService {
        &self.service
    }

    pub(super) const fn places(&self) -> &Places {
        &self.places
    }
}

/// The endpoint of a service that is reached under `public_url`.
pub(crate) fn endpoint(public_url: &str, settings: &Settings) -> Endpoint {
    let handler = Handler {
        time: settings.timeouts.request,
    };
    // The front has checked host, origin and size by then.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts()
        .with_max_request_body_bytes(settings.max_body_bytes);
    Endpoint {
        service: StreamableHttpService::new(move || Ok(handler), Arc::default(), config),
        places: Places::new(public_url, &settings.mcp.allowed_hosts, &settings.mcp.allowed_origins),
    }
}

/// Answers one request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handler {
    /// What a call may take.
    time: Duration,
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        let name = Implementation::new("bellwether", env!("CARGO_PKG_VERSION")).with_title("Bellwether");
        ServerConfig::new(capabilities)
            .with_server_info(name)
            .with_instructions(INSTRUCTIONS)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&SUPPORTED)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = tools::described(&caller(&context)?.actor);
        let list = ListToolsResult::with_all_items(tools);
        // The list depends on the caller's scopes.
        Ok(list.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Private))
    }

    fn get_tool(&self, name: &str) -> Option<rmcp::model::Tool> {
        Tool::from_name(name).map(|tool| tools::described_as(tool).clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = Tool::from_name(&request.name).ok_or_else(|| unknown(&request.name))?;
        let Caller { app, actor } = caller(&context)?;
        let arguments = request.arguments.unwrap_or_default();
        let called = contained(self.time, tools::call(tool, app, actor, arguments)).await?;
        answer(called).map(CallToolResponse::from)
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let list = ListResourcesResult::with_all_items(resources::entries(&caller(&context)?.actor));
        Ok(list.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Private))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let list = ListResourceTemplatesResult::with_all_items(resources::templates(&caller(&context)?.actor));
        Ok(list.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Private))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let resource = Resource::from_uri(&uri).ok_or_else(|| resources::unknown(&uri))?;
        let Caller { app, actor } = caller(&context)?;
        let read = contained(self.time, resource.read(app, actor, uri.clone())).await?;
        read.map(ReadResourceResponse::from)
            .map_err(|error| resources::read_error(error, &uri))
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let list = ListPromptsResult::with_all_items(prompts::entries(&caller(&context)?.actor));
        Ok(list.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Private))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let Some(prompt) = Prompt::from_name(&request.name) else {
            let text = format!("there is no such prompt; there are {}", prompts::names());
            return Err(ErrorData::invalid_params(text, None));
        };
        let messages = prompt.get(&request.arguments.unwrap_or_default());
        let messages = messages.map_err(|text| ErrorData::invalid_params(text, None))?;
        Ok(GetPromptResponse::from(messages))
    }
}

/// The caller, as the front identified them.
fn caller(context: &RequestContext<RoleServer>) -> Result<&Caller, ErrorData> {
    let parts = context.extensions.get::<Parts>();
    parts.and_then(|parts| parts.extensions.get()).ok_or_else(internal)
}

fn answer(called: Result<tools::Answer, ToolError>) -> Result<CallToolResult, ErrorData> {
    match called {
        Ok(answer) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(answer.text)]);
            result.structured_content = Some(answer.value);
            Ok(result)
        }
        Err(ToolError::Refused(text) | ToolError::NotFound(text)) => {
            Ok(CallToolResult::error(vec![ContentBlock::text(text)]))
        }
        Err(ToolError::Internal) => Err(internal()),
    }
}

/// What comes of a call, in time and whatever happens inside.
async fn contained<T>(time: Duration, call: impl Future<Output = T>) -> Result<T, ErrorData> {
    // What panicked is dropped with its future; what it shares with others is locked, and the locks say why they may
    // be taken again.
    match tokio::time::timeout(time, AssertUnwindSafe(call).catch_unwind()).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(panic)) => {
            tracing::error!(panic = text_of(&*panic), "a tool panicked");
            Err(internal())
        }
        Err(_) => {
            let seconds = time.as_secs();
            tracing::warn!(limit_s = seconds, "a tool took too long");
            let message = format!("this took longer than {seconds} s; look whether it was done, then try again");
            Err(ErrorData::internal_error(message, None))
        }
    }
}

pub(super) fn internal() -> ErrorData {
    ErrorData::internal_error(crate::error::INTERNAL, None)
}

fn unknown(tool: &str) -> ErrorData {
    let names: Vec<&str> = Tool::ALL.iter().map(|tool| tool.name()).collect();
    let shown: String = tool.chars().take(64).collect();
    ErrorData::invalid_params(
        format!("there is no tool {shown:?}; there are {}", names.join(", ")),
        None,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: Duration = Duration::from_secs(30);

    #[tokio::test]
    async fn a_tool_that_panics_is_answered_for_without_saying_why() {
        let error = contained(TIME, async { panic!("secret-{}", "state") as () })
            .await
            .unwrap_err();
        assert_eq!(error.code.0, -32603);
        assert!(!error.message.contains("secret"), "{error:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_tool_that_hangs_is_answered_for_after_its_time_and_not_before() {
        let after = |time| async move {
            tokio::time::sleep(time).await;
            "done"
        };
        let second = Duration::from_secs(1);
        assert_eq!(contained(TIME, after(TIME - second)).await, Ok("done"));
        let error = contained(TIME, after(TIME + second)).await.unwrap_err();
        assert_eq!(error.code.0, -32603);
        assert!(error.message.contains("30 s"), "{error:?}");
    }
}
