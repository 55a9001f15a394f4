//! The error of the bus.

use crate::subject::SUBJECT_RULES;

/// The reasons why the bus refuses something. None of them ends the bus.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BusError {
    /// The node is not connected to any server. Nothing was sent, and nothing will be sent later.
    #[error("not connected to the message bus; check that a server of cluster.nats_urls runs and can be reached")]
    Disconnected,
    /// The payload is larger than the servers accept.
    #[error(
        "the payload has {size} bytes, but the message bus accepts {max}; split it or raise max_payload of the NATS servers"
    )]
    PayloadTooLarge {
        /// The size of the payload in bytes.
        size: usize,
        /// The maximum size in bytes.
        max: usize,
    },
    /// The subject is malformed, or has a wildcard where none is allowed.
    #[error("{subject:?} is not a subject; {SUBJECT_RULES}")]
    InvalidSubject {
        /// The refused subject.
        subject: String,
    },
    /// The URL of a NATS server is malformed. The message does not contain the URL, which may have a password.
    #[error("a NATS server must have a URL like nats://HOST:4222 or tls://USER:PASSWORD@HOST:4222, without a path")]
    InvalidServerUrl,
    /// There is no URL.
    #[error("at least one NATS server is needed")]
    NoServers,
    /// The URLs have different users, passwords or tokens. A client uses one for all servers.
    #[error("the URLs of all NATS servers must have the same user and password, or the same token")]
    DifferentCredentials,
}
