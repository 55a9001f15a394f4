//! Errors of a document and of an exchange.

/// The document cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the OpenAPI document cannot be used: {0}")]
pub struct DocumentError(pub(crate) String);

/// An exchange that contradicts the document.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Violation {
    /// A route that the document does not name was answered with a success.
    #[error("the document has no such operation; document the route, or let it answer 404 or 405")]
    UndocumentedOperation,
    /// The operation does not list the status.
    #[error("{operation} does not document the status {status}; it documents {documented}")]
    UndocumentedStatus {
        /// Method and path.
        operation: String,
        /// The status of the response.
        status: u16,
        /// The documented ones.
        documented: String,
    },
    /// The response's content type is not listed for its status.
    #[error("{operation} does not document the content type {found:?} for {status}")]
    UndocumentedContentType {
        /// Method and path.
        operation: String,
        /// The status of the response.
        status: u16,
        /// The content type; empty if there is none.
        found: String,
    },
    /// The response body does not match its schema.
    #[error("{operation} answered {status} with a body that its schema forbids: {errors}")]
    InvalidResponse {
        /// Method and path.
        operation: String,
        /// The status of the response.
        status: u16,
        /// The schema's errors.
        errors: String,
    },
    /// A request body that the document forbids was accepted.
    #[error("{operation} accepted a request body that its schema forbids; refuse it, or correct the schema: {errors}")]
    AcceptedForbiddenBody {
        /// Method and path.
        operation: String,
        /// The schema's errors.
        errors: String,
    },
    /// A request body that the document allows was refused for its shape.
    #[error(
        "{operation} refused a request body that its schema allows ({message}); correct the schema, or add the reason to \
         contract::beyond_schema"
    )]
    RefusedAllowedBody {
        /// Method and path.
        operation: String,
        /// The refusal's message.
        message: String,
    },
    /// The document itself is unusable there.
    #[error(transparent)]
    Document(#[from] DocumentError),
}
