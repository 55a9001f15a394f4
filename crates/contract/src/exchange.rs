//! A request and its response, compared with the document.

use serde_json::Value;

use crate::operations::{self, Operation, Route, escape};
use crate::{Contract, Violation, beyond_schema};

const JSON: &str = "application/json";

/// A request and its response.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    /// The method.
    pub method: &'a str,
    /// The path, with the query if there is one.
    pub path: &'a str,
    /// The `Content-Type` of the request.
    pub request_type: Option<&'a str>,
    /// The request's body.
    pub request_body: &'a [u8],
    /// Whether the test wrote the body's bytes itself: such a body may be refused for reasons that its parsed value does not
    /// show, such as a duplicate member.
    pub is_raw: bool,
    /// The status of the response.
    pub status: u16,
    /// The `Content-Type` of the response.
    pub response_type: Option<&'a str>,
    /// The response's body.
    pub response_body: &'a [u8],
}

impl Contract {
    /// Compares a request and its response with the document.
    ///
    /// # Errors
    /// The first [`Violation`] that is found.
    pub fn check(&self, exchange: &Exchange<'_>) -> Result<(), Violation> {
        let operation = match operations::find(self.operations(), exchange.method, exchange.path) {
            Route::Operation(operation) => operation,
            // HEAD and OPTIONS answer for every route.
            Route::OtherMethod if matches!(exchange.method, "HEAD" | "OPTIONS") => return Ok(()),
            _ if exchange.status >= 400 || exchange.method == "OPTIONS" => return Ok(()),
            _ => return Err(Violation::UndocumentedOperation),
        };
        self.check_response(operation, exchange)?;
        self.check_request(operation, exchange)
    }

    fn check_response(&self, operation: &Operation, exchange: &Exchange<'_>) -> Result<(), Violation> {
        let (status, pointer) = (exchange.status, operation.pointer());
        let responses = self.document().pointer(&format!("{pointer}/responses"));
        let responses = responses.and_then(Value::as_object);
        let Some(response) = responses.and_then(|responses| responses.get(&status.to_string())) else {
            let documented = responses.into_iter().flatten().map(|(status, _)| status.as_str());
            return Err(Violation::UndocumentedStatus {
                operation: operation.to_string(),
                status,
                documented: documented.collect::<Vec<_>>().join(", "),
            });
        };
        let found = essence(exchange.response_type);
        let undocumented = || Violation::UndocumentedContentType {
            operation: operation.to_string(),
            status,
            found: found.clone(),
        };
        let Some(content) = response["content"].as_object() else {
            return if exchange.response_body.is_empty() {
                Ok(())
            } else {
                Err(undocumented())
            };
        };
        if !content.contains_key(&found) {
            return Err(undocumented());
        }
        if found != JSON {
            return Ok(());
        }
        let schema = format!("{pointer}/responses/{status}/content/{}/schema", escape(JSON));
        let errors = match serde_json::from_slice(exchange.response_body) {
            Ok(value) => self.schema_errors(&schema, &value)?,
            Err(error) => vec![format!("not JSON: {error}")],
        };
        if errors.is_empty() {
            return Ok(());
        }
        Err(Violation::InvalidResponse {
            operation: operation.to_string(),
            status,
            errors: errors.join("; "),
        })
    }

    fn check_request(&self, operation: &Operation, exchange: &Exchange<'_>) -> Result<(), Violation> {
        let Some(errors) = self.request_errors(operation, exchange)? else {
            return Ok(());
        };
        match exchange.status {
            200..400
                if errors
                    .iter()
                    .any(|error| !beyond_schema::is_accepted_beyond_schema(operation, error)) =>
            {
                Err(Violation::AcceptedForbiddenBody {
                    operation: operation.to_string(),
                    errors: errors.join("; "),
                })
            }
            400 | 422 if errors.is_empty() && !exchange.is_raw => self.check_refusal(operation, exchange),
            _ => Ok(()),
        }
    }

    /// Returns why the document forbids the request's body, or `None` if it does not describe one as JSON.
    fn request_errors(&self, operation: &Operation, exchange: &Exchange<'_>) -> Result<Option<Vec<String>>, Violation> {
        let schema = format!("{}/requestBody/content/{}/schema", operation.pointer(), escape(JSON));
        if essence(exchange.request_type) != JSON || self.document().pointer(&schema).is_none() {
            return Ok(None);
        }
        Ok(Some(match serde_json::from_slice(exchange.request_body) {
            Ok(value) => self.schema_errors(&schema, &value)?,
            Err(error) => vec![format!("not JSON: {error}")],
        }))
    }

    /// Checks that the refusal of a valid body has a reason that the schema cannot express.
    fn check_refusal(&self, operation: &Operation, exchange: &Exchange<'_>) -> Result<(), Violation> {
        let response: Value = serde_json::from_slice(exchange.response_body).unwrap_or_default();
        let error = &response["error"];
        let message = error["message"].as_str().unwrap_or_default();
        let fields: Vec<&str> = error["details"]["fields"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name.as_str())
            .collect();
        let is_parameter = |field: &str| self.parameters(operation).any(|name| name == field);
        let is_about_parameters = !fields.is_empty() && fields.iter().all(|field| is_parameter(field));
        if is_about_parameters || beyond_schema::is_listed(operation, &fields, message) {
            return Ok(());
        }
        Err(Violation::RefusedAllowedBody {
            operation: operation.to_string(),
            message: message.to_owned(),
        })
    }

    /// Returns the names of an operation's path, query and header parameters.
    fn parameters(&self, operation: &Operation) -> impl Iterator<Item = &str> {
        let parameters = self.document().pointer(&format!("{}/parameters", operation.pointer()));
        let parameters = parameters.and_then(Value::as_array).into_iter().flatten();
        parameters.filter_map(|parameter| {
            let referenced = parameter["$ref"]
                .as_str()
                .and_then(|reference| reference.strip_prefix('#'));
            let parameter = referenced.map_or(Some(parameter), |pointer| self.document().pointer(pointer))?;
            parameter["name"].as_str()
        })
    }
}

/// Returns a content type without its parameters, in lower case.
fn essence(content_type: Option<&str>) -> String {
    let content_type = content_type.unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}
