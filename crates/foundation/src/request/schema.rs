//! Schemas of request bodies.

use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::schema::{
    ArrayBuilder, Object, ObjectBuilder, OneOfBuilder, Schema, SchemaFormat, SchemaType, Type,
};
use utoipa::openapi::{Ref, RefOr};

use super::{Field, NamedSchema};

/// Returns the text of documentation lines.
fn documentation(lines: &[&str]) -> String {
    let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
    lines.join("\n").trim().to_owned()
}

/// Returns the schema of a text.
#[must_use]
pub fn string() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

/// Returns the schema of a text in this format, such as `uuid`.
#[must_use]
pub fn formatted(format: &str) -> ObjectBuilder {
    string().format(Some(SchemaFormat::Custom(format.to_owned())))
}

/// Returns the schema of a text with one of these values.
#[must_use]
pub fn schema_of_names(lines: &[&str], names: Vec<&'static str>, default: Option<&'static str>) -> RefOr<Schema> {
    string()
        .description(Some(documentation(lines)))
        .default(default.map(Into::into))
        .enum_values(Some(names))
        .into()
}

/// Returns a schema that also allows null.
pub(super) fn nullable(schema: RefOr<Schema>) -> RefOr<Schema> {
    let with_null = |kind: &mut SchemaType| {
        if let SchemaType::Type(one) = kind {
            *kind = SchemaType::Array(vec![one.clone(), Type::Null]);
        }
    };
    match schema {
        RefOr::T(Schema::Object(mut object)) => {
            with_null(&mut object.schema_type);
            object.into()
        }
        RefOr::T(Schema::Array(mut array)) => {
            with_null(&mut array.schema_type);
            array.into()
        }
        other => OneOfBuilder::new()
            .item(other)
            .item(Object::with_type(Type::Null))
            .into(),
    }
}

/// The schema of a request body, under construction.
pub struct RequestSchema(ObjectBuilder);

impl RequestSchema {
    /// Creates a schema without fields.
    #[must_use]
    pub fn new(documentation_lines: &[&str]) -> Self {
        Self(ObjectBuilder::new().description(Some(documentation(documentation_lines))))
    }

    /// Adds a field.
    #[must_use]
    pub fn field<T: Field>(self, name: &str, lines: &[&str], example: Option<Value>) -> Self {
        let schema = describe(T::schema(), documentation(lines), example);
        let object = self.0.property(name, schema);
        Self(if T::IS_REQUIRED { object.required(name) } else { object })
    }

    /// Returns the schema.
    #[must_use]
    pub fn finish(self) -> RefOr<Schema> {
        self.0.into()
    }
}

fn describe(schema: RefOr<Schema>, text: String, example: Option<Value>) -> RefOr<Schema> {
    match schema {
        RefOr::Ref(mut reference) => {
            reference.description = text;
            reference.into()
        }
        RefOr::T(Schema::Object(mut object)) => {
            (object.description, object.example) = (Some(text), example);
            object.into()
        }
        RefOr::T(Schema::Array(mut array)) => {
            (array.description, array.example) = (Some(text), example);
            array.into()
        }
        RefOr::T(Schema::OneOf(mut alternatives)) => {
            if let Some(RefOr::Ref(reference)) = alternatives.items.first_mut() {
                reference.description = text;
            }
            RefOr::T(Schema::OneOf(alternatives))
        }
        other => other,
    }
}

/// Returns a reference to a component.
#[must_use]
pub fn reference(name: &str) -> RefOr<Schema> {
    Ref::from_schema_name(name).into()
}

/// Returns the schema of a list that is not empty.
#[must_use]
pub fn array_of(items: RefOr<Schema>) -> RefOr<Schema> {
    ArrayBuilder::new().items(items).min_items(Some(1)).into()
}

/// Adds a component.
pub fn add_component<T: ToSchema>(schemas: &mut Vec<NamedSchema>) {
    schemas.push((T::name().into_owned(), T::schema()));
}
