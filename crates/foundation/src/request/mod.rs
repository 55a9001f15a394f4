//! Request bodies. [`request!`](crate::request!) declares a body once, for its reader and for its schema in the OpenAPI document.

mod fields;
mod names;
mod reader;
mod schema;

use serde_json::Value;

use crate::ServiceError;

pub use fields::{Email, Line, OrTrue, Patch, PlainText, Text, TimeZoneName, plain_text};
pub use names::*;
pub use reader::BodyReader;
pub use schema::{RequestSchema, add_component, array_of, formatted, reference, schema_of_names, string};
pub use utoipa::openapi::{ObjectBuilder, RefOr, Schema};
pub use utoipa::{PartialSchema, ToSchema};

/// A schema of the document's components, with its name.
pub type NamedSchema = (String, RefOr<Schema>);

/// The type of a field in a request body.
pub trait Field: Sized {
    /// Whether the schema lists the field as required.
    const IS_REQUIRED: bool = true;

    /// Reads a value that is not null.
    ///
    /// # Errors
    /// A message that says how to correct the value.
    fn read(value: &Value) -> Result<Self, String>;

    /// Returns the value of an absent field, or the error.
    ///
    /// # Errors
    /// A message that says that the field is required.
    fn absent() -> Result<Self, String> {
        Err("is required".to_owned())
    }

    /// Returns the value of a null field, or the error. Null counts as absent.
    ///
    /// # Errors
    /// As [`absent`](Self::absent).
    fn null() -> Result<Self, String> {
        Self::absent()
    }

    /// Returns the schema.
    fn schema() -> RefOr<Schema>;

    /// Adds the components that the schema refers to.
    fn components(_schemas: &mut Vec<NamedSchema>) {}
}

/// A request body.
pub trait Request: Sized {
    /// Reads the fields. Returns `None` if the reader has errors.
    fn fields(body: &mut BodyReader<'_>) -> Option<Self>;

    /// Reads a body.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] if it is not an object, [`ServiceError::Invalid`] with the errors of all fields.
    fn read(body: &Value) -> Result<Self, ServiceError> {
        Self::read_and(body, |_| {})
    }

    /// Reads a body with more checks, which may add errors.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn read_and(body: &Value, check: impl FnOnce(&mut BodyReader<'_>)) -> Result<Self, ServiceError> {
        let mut reader = BodyReader::new(body)?;
        let fields = Self::fields(&mut reader);
        check(&mut reader);
        reader.finish()?;
        // Unreachable: without all fields there are errors.
        fields.ok_or_else(|| ServiceError::Malformed("a required field is missing".to_owned()))
    }
}

/// Declares a request body: the struct, its reader and its schema. Each field has documentation, a [`Field`] type and optionally an
/// example.
#[macro_export]
macro_rules! request {
    ($(#[doc = $doc:literal])* $type:ident as $name:literal {
        $($(#[doc = $field_doc:literal])* $field:ident: $kind:ty $(= $example:expr)?,)*
    }) => {
        $(#[doc = $doc])*
        pub struct $type {
            $($(#[doc = $field_doc])* pub $field: $kind,)*
        }

        impl $crate::request::Request for $type {
            fn fields(body: &mut $crate::request::BodyReader<'_>) -> Option<Self> {
                $(let $field = body.field(stringify!($field).trim_start_matches("r#"));)*
                Some(Self { $($field: $field?,)* })
            }
        }

        impl $crate::request::PartialSchema for $type {
            fn schema() -> $crate::request::RefOr<$crate::request::Schema> {
                let schema = $crate::request::RequestSchema::new(&[$($doc),*]);
                $(let schema = schema.field::<$kind>(
                    stringify!($field).trim_start_matches("r#"),
                    &[$($field_doc),*],
                    [$(::serde_json::Value::from($example))?].into_iter().next(),
                );)*
                schema.finish()
            }
        }

        impl $crate::request::ToSchema for $type {
            fn name() -> ::std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn schemas(schemas: &mut Vec<$crate::request::NamedSchema>) {
                $(<$kind as $crate::request::Field>::components(schemas);)*
            }
        }
    };
}

#[cfg(test)]
#[expect(
    unreachable_pub,
    dead_code,
    reason = "the macro declares public fields, and a test reads few of them"
)]
mod tests {
    use market::Price;
    use serde_json::json;

    use super::*;

    request! {
        /// A body
        /// of two lines.
        Body as "Body" {
            /// Title.
            title: PlainText = "a",
            /// Flag.
            flag: Option<bool>,
            /// Line.
            line: Option<Line<3>> = "abc",
            /// Price.
            price: Patch<Price> = 180,
            /// Action.
            r#type: Option<alerts::Intention>,
        }
    }

    #[test]
    fn all_errors_are_collected_and_null_counts_as_absent() {
        let body = json!({"title": null, "flag": "yes", "type": "hold", "line": "abcd", "price": 0});
        let Err(ServiceError::Invalid { fields, .. }) = Body::read(&body) else {
            panic!("there were errors");
        };
        let expected = [
            ("flag", "must be true or false"),
            ("line", "must have 1 to 3 characters on one line"),
            ("price", "must be a price above 0 and at most 1000000000, or null"),
            ("title", "is required"),
            ("type", "must be one of buy, sell"),
        ];
        assert_eq!(fields.len(), expected.len());
        for (name, error) in expected {
            assert_eq!(fields[name], [error], "{name}");
        }
    }

    #[test]
    fn patch_keeps_or_removes_a_value() {
        let price = |body: Value| Body::read(&body).map(|body| body.price).unwrap();
        assert_eq!(price(json!({"title": "a"})), Patch(None));
        assert_eq!(price(json!({"title": "a", "price": null})), Patch(Some(None)));
    }

    #[test]
    fn body_must_be_an_object() {
        assert!(matches!(Body::read(&json!([])), Err(ServiceError::Malformed(_))));
    }

    #[test]
    fn schema_has_the_types_and_limits_of_the_fields() {
        let schema = serde_json::to_value(Body::schema()).unwrap();
        assert_eq!(schema["description"], "A body\nof two lines.");
        assert_eq!(schema["required"], json!(["title"]));
        let line = &schema["properties"]["line"];
        assert_eq!(
            (&line["type"], &line["maxLength"]),
            (&json!(["string", "null"]), &json!(3))
        );
        assert_eq!(
            (&line["description"], &line["example"]),
            (&json!("Line."), &json!("abc"))
        );
        assert_eq!(
            schema["properties"]["type"]["oneOf"][0],
            json!({"$ref": "#/components/schemas/IntentionName", "description": "Action."})
        );
    }
}
