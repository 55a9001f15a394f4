//! The rmcp handler for tools, resources and prompts.
//!
//! rmcp runs each call in a separate task. If a tool panics there, its client waits forever. So each call has panic handling
//! and a time limit, and always returns a response.

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use foundation::Actor;
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
use serde_json::Value;

use super::prompts::{self, Prompt};
use super::resources::{self, Resource};
use super::tools::{self, Tool, ToolCatalog, ToolError};
use crate::layers::guard::panic_message;
use crate::settings::HttpConfig;
use crate::state::App;

/// The supported protocol revisions. 2025-03-26 is not supported, because it requires batches.
pub(super) const SUPPORTED_VERSIONS: [ProtocolVersion; 3] = [
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// The time that clients may cache lists of tools, resources and prompts, in milliseconds.
const LIST_TTL_MS: u64 = 5 * 60 * 1000;

/// The instructions for agents, sent at initialization.
const INSTRUCTIONS: &str = "Stock alerts and a watchlist. An alert waits for one condition of one stock; when it fires, its \
    owner is notified by email, text message or webhook. Firings are not pushed to you: read list_alert_events (or the \
    resource bellwether://events) to see what fired and why. The resource bellwether://guide/conditions explains all 23 \
    conditions, bellwether://stocks/{symbol} shows a stock. Prices are US dollars, 5 means 5 %, times are RFC 3339 in UTC, \
    ids are UUIDs from the lists. Delete only what the person asked to delete. An error says how to correct the call.";

/// The caller of a request, and the application state.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    pub(super) app: App,
    pub(super) actor: Arc<Actor>,
}

type RmcpService = StreamableHttpService<McpHandler, NeverSessionManager>;

/// The rmcp service.
pub(crate) struct McpEndpoint(RmcpService);

impl std::fmt::Debug for McpEndpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("McpEndpoint").finish_non_exhaustive()
    }
}

impl McpEndpoint {
    /// Creates the endpoint. `schemas` returns the schemas of the OpenAPI document's components, by name.
    pub(crate) fn new(settings: &HttpConfig, schemas: fn() -> Value) -> Self {
        let handler = McpHandler {
            timeout: settings.timeouts.request,
            schemas,
            catalog: Arc::default(),
        };
        // The module `request` has already checked host, origin and size.
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .disable_allowed_hosts()
            .with_max_request_body_bytes(settings.max_body_bytes);
        Self(StreamableHttpService::new(
            move || Ok(handler.clone()),
            Arc::default(),
            config,
        ))
    }

    pub(super) const fn service(&self) -> &RmcpService {
        &self.0
    }
}

/// Handles requests of rmcp.
#[derive(Clone, Debug)]
pub(crate) struct McpHandler {
    /// The time limit of a call.
    timeout: Duration,
    /// Returns the schemas of the OpenAPI document's components.
    schemas: fn() -> Value,
    catalog: Arc<OnceLock<ToolCatalog>>,
}

impl McpHandler {
    /// Returns the tools with their schemas, which are generated on first use.
    fn catalog(&self) -> &ToolCatalog {
        self.catalog.get_or_init(|| ToolCatalog::new(&(self.schemas)()))
    }
}

impl ServerHandler for McpHandler {
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
        Cow::Borrowed(&SUPPORTED_VERSIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.catalog().allowed(&caller(&context)?.actor);
        let list = ListToolsResult::with_all_items(tools);
        // The list depends on the caller's scopes.
        Ok(list.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Private))
    }

    fn get_tool(&self, name: &str) -> Option<rmcp::model::Tool> {
        Tool::from_name(name).map(|tool| self.catalog().description(tool).clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = Tool::from_name(&request.name).ok_or_else(|| unknown(&request.name))?;
        let Caller { app, actor } = caller(&context)?;
        let arguments = request.arguments.unwrap_or_default();
        let called = run_isolated(self.timeout, tools::call(self.catalog(), tool, app, actor, arguments)).await?;
        call_result(called).map(CallToolResponse::from)
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
        let read = run_isolated(self.timeout, resource.read(app, actor, uri.clone())).await?;
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
            let text = format!("unknown prompt; the prompts are {}", prompts::names());
            return Err(ErrorData::invalid_params(text, None));
        };
        let messages = prompt.get(&request.arguments.unwrap_or_default());
        let messages = messages.map_err(|text| ErrorData::invalid_params(text, None))?;
        Ok(GetPromptResponse::from(messages))
    }
}

/// Returns the authenticated caller.
fn caller(context: &RequestContext<RoleServer>) -> Result<&Caller, ErrorData> {
    let parts = context.extensions.get::<Parts>();
    parts.and_then(|parts| parts.extensions.get()).ok_or_else(internal)
}

fn call_result(called: Result<tools::ToolOutput, ToolError>) -> Result<CallToolResult, ErrorData> {
    match called {
        Ok(output) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(output.text)]);
            result.structured_content = Some(output.value);
            Ok(result)
        }
        Err(ToolError::Refused(text) | ToolError::NotFound(text)) => {
            Ok(CallToolResult::error(vec![ContentBlock::text(text)]))
        }
        Err(ToolError::Internal) => Err(internal()),
    }
}

/// Runs a call with panic handling and a time limit.
async fn run_isolated<T>(time: Duration, call: impl Future<Output = T>) -> Result<T, ErrorData> {
    // The future is dropped after a panic. Shared state is behind locks, whose comments say why poisoning is harmless.
    match tokio::time::timeout(time, AssertUnwindSafe(call).catch_unwind()).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(panic)) => {
            tracing::error!(panic = panic_message(&*panic), "a tool panicked");
            Err(internal())
        }
        Err(_) => {
            let seconds = time.as_secs();
            tracing::warn!(limit_s = seconds, "a tool took too long");
            let message = format!("this took longer than {seconds} s; check whether it took effect, then try again");
            Err(ErrorData::internal_error(message, None))
        }
    }
}

pub(super) fn internal() -> ErrorData {
    ErrorData::internal_error(crate::error::INTERNAL_ERROR_MESSAGE, None)
}

fn unknown(tool: &str) -> ErrorData {
    let names: Vec<&str> = Tool::ALL.iter().map(|tool| tool.name()).collect();
    let shown: String = tool.chars().take(64).collect();
    ErrorData::invalid_params(
        format!("unknown tool {shown:?}; the tools are {}", names.join(", ")),
        None,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME_LIMIT: Duration = Duration::from_secs(30);

    #[tokio::test]
    async fn panicking_tool_is_an_internal_error_without_its_cause() {
        let error = run_isolated(TIME_LIMIT, async { panic!("secret-{}", "state") as () })
            .await
            .unwrap_err();
        assert_eq!(error.code.0, -32603);
        assert!(!error.message.contains("secret"), "{error:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn tool_call_fails_after_the_time_limit() {
        let after = |time| async move {
            tokio::time::sleep(time).await;
            "done"
        };
        let second = Duration::from_secs(1);
        assert_eq!(run_isolated(TIME_LIMIT, after(TIME_LIMIT - second)).await, Ok("done"));
        let error = run_isolated(TIME_LIMIT, after(TIME_LIMIT + second)).await.unwrap_err();
        assert_eq!(error.code.0, -32603);
        assert!(error.message.contains("30 s"), "{error:?}");
    }
}
