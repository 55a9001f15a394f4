//! The operations of a document, and the routing of requests to them.

use serde_json::Value;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// An operation of the document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operation {
    /// The method in lower case.
    pub method: String,
    /// The path template, such as `/api/v1/alerts/{id}`.
    pub path: String,
    /// Its `operationId`; empty if it has none.
    pub id: String,
}

/// The target of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Route<'a> {
    /// To an operation.
    Operation(&'a Operation),
    /// To a documented path, with a method that is not documented there.
    OtherMethod,
    /// To a path that is not documented.
    Unknown,
}

impl Operation {
    /// Returns the JSON pointer of the operation.
    #[must_use]
    pub fn pointer(&self) -> String {
        format!("/paths/{}/{}", escape(&self.path), self.method)
    }

    /// Returns how many segments of a path are literally those of the template, or `None` if the path does not match it.
    fn literal_segments(&self, path: &str) -> Option<usize> {
        let mut count = 0;
        let mut segments = path.split('/');
        for expected in self.path.split('/') {
            let segment = segments.next()?;
            if segment == expected {
                count += 1;
            } else if !expected.starts_with('{') || segment.is_empty() {
                return None;
            }
        }
        segments.next().is_none().then_some(count)
    }
}

impl std::fmt::Display for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method.to_uppercase(), self.path)
    }
}

/// Lists the operations of a document.
pub(crate) fn of(document: &Value) -> Vec<Operation> {
    let paths = document["paths"].as_object().into_iter().flatten();
    paths
        .flat_map(|(path, item)| {
            METHODS.iter().filter_map(move |method| {
                let operation = item.get(method)?;
                Some(Operation {
                    method: (*method).to_owned(),
                    path: path.clone(),
                    id: operation["operationId"].as_str().unwrap_or_default().to_owned(),
                })
            })
        })
        .collect()
}

/// Finds the operation of a request. The two prefixes of the API are the same.
pub(crate) fn find<'a>(operations: &'a [Operation], method: &str, path: &str) -> Route<'a> {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let path = match path.strip_prefix("/v1/") {
        Some(rest) => format!("/api/v1/{rest}"),
        None => path.to_owned(),
    };
    let matching = |operation: &&'a Operation| operation.literal_segments(&path).is_some();
    let best = operations
        .iter()
        .filter(|operation| operation.method.eq_ignore_ascii_case(method))
        .filter(matching)
        .max_by_key(|operation| operation.literal_segments(&path));
    match best {
        Some(operation) => Route::Operation(operation),
        None if operations.iter().any(|operation| matching(&operation)) => Route::OtherMethod,
        None => Route::Unknown,
    }
}

/// Escapes a name for a JSON pointer.
pub(crate) fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Writes a JSON pointer as the fragment of a URI.
pub(crate) fn uri_fragment(pointer: &str) -> String {
    let mut fragment = String::with_capacity(pointer.len());
    for character in pointer.chars() {
        match character {
            '{' => fragment.push_str("%7B"),
            '}' => fragment.push_str("%7D"),
            '%' => fragment.push_str("%25"),
            ' ' => fragment.push_str("%20"),
            other => fragment.push(other),
        }
    }
    fragment
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn literal_segment_wins_over_a_parameter_and_prefixes_are_equal() {
        let operations = of(&json!({"paths": {
            "/api/v1/watchlist/{id}": {"patch": {"operationId": "one"}, "put": {"operationId": "two"}},
            "/api/v1/watchlist/order": {"put": {"operationId": "three"}},
        }}));
        let id = |method, path| match find(&operations, method, path) {
            Route::Operation(operation) => operation.id.as_str(),
            Route::OtherMethod => "other method",
            Route::Unknown => "unknown",
        };
        assert_eq!(id("PUT", "/v1/watchlist/order?x=1"), "three");
        assert_eq!(id("PUT", "/api/v1/watchlist/7"), "two");
        assert_eq!(id("PATCH", "/v1/watchlist/7"), "one");
        assert_eq!(id("DELETE", "/v1/watchlist/7"), "other method");
        assert_eq!(id("PUT", "/v1/watchlist"), "unknown");
        assert_eq!(id("PUT", "/v1/watchlist/"), "unknown");
        assert_eq!(id("PUT", "/v1/watchlist/7/8"), "unknown");
    }
}
