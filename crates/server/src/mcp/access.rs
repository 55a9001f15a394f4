//! The scope that a message needs, and the rate limit group that it counts in.

use foundation::{Actor, Scope};

use super::message::Target;
use super::prompts::Prompt;
use super::resources::Resource;
use super::tools::Tool;
use crate::rate_limiter::RateLimitGroup;

/// The requirements of a message, which are checked before rmcp handles it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Access {
    /// The rate limit group.
    pub(super) group: RateLimitGroup,
    /// The scope that the caller must have, if any.
    pub(super) scope: Option<Scope>,
}

impl Access {
    /// Returns the access that a target needs. Unknown names need none: rmcp compares them with the headers, and then the
    /// handler rejects them.
    pub(super) fn of(target: Target<'_>, actor: &Actor) -> Self {
        // Requests without account data have a separate group, so that an agent cannot use up the requests that its owner
        // needs to revoke its access.
        let none = Self {
            group: RateLimitGroup::Mcp,
            scope: None,
        };
        match target {
            Target::Tool(name) => Tool::from_name(name).map_or(none, |tool| Self {
                group: tool.group(),
                scope: Some(tool.scope()),
            }),
            Target::Resource(uri) => Resource::from_uri(uri).map_or(none, |resource| Self {
                group: resource.group(),
                scope: resource.scope(actor),
            }),
            Target::Prompt(name) => Prompt::from_name(name).map_or(none, |prompt| Self {
                scope: Some(prompt.scope),
                ..none
            }),
            Target::Other => none,
        }
    }
}
