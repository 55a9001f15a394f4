//! Enumerations of the API, with the names that requests may use.

use alerts::transition::HistoryStatus;
use alerts::{HistoryAction, Intention, Status};
use notify::signature::SignatureFormat;
use notify::templates::user_template::TemplateKind;
use store::model::{FeedbackCategory, NotificationChannelType};

use crate::Scope;

/// Declares the schemas of enumerations, with their names and default. `of` a type makes the type readable from requests.
#[macro_export]
macro_rules! enumerations {
    ($($(#[doc = $doc:literal])* $name:ident $(of $type:ty)? = $all:expr, $default:expr;)*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl $crate::request::ToSchema for $name {
            fn name() -> ::std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
        }

        $crate::enumeration!($name $(of $type)? = $all, $default, [$($doc),*]);
    )*};
}

/// Implements the schema of an enumeration for [`enumerations!`].
#[doc(hidden)]
#[macro_export]
macro_rules! enumeration {
    ($name:ident = $names:expr, $default:expr, $doc:expr) => {
        impl $crate::request::PartialSchema for $name {
            fn schema() -> $crate::request::RefOr<$crate::request::Schema> {
                $crate::request::schema_of_names(&$doc, $names, $default)
            }
        }
    };
    ($name:ident of $type:ty = $all:expr, $default:expr, $doc:expr) => {
        $crate::enumeration!(
            $name = $all.iter().map(|one| one.name()).collect(),
            $default,
            $doc
        );

        impl $crate::request::Field for $type {
            fn read(value: &::serde_json::Value) -> Result<Self, String> {
                let all = $all;
                let found = all.iter().find(|one| value == one.name());
                found.copied().ok_or_else(|| {
                    let names: Vec<&str> = all.iter().map(|one| one.name()).collect();
                    format!("must be one of {}", names.join(", "))
                })
            }

            fn schema() -> $crate::request::RefOr<$crate::request::Schema> {
                $crate::request::reference(stringify!($name))
            }

            fn components(schemas: &mut Vec<$crate::request::NamedSchema>) {
                $crate::request::add_component::<$name>(schemas);
            }
        }
    };
}

enumerations! {
    /// The planned action for a stock.
    IntentionName of Intention = Intention::ALL, None;
    /// The status of an alert: active, awaiting verification, paused, or triggered.
    StatusName of Status = Status::ALL, None;
    /// An action in an alert's history.
    ActionName of HistoryAction = HistoryAction::ALL, None;
    /// The status of an alert after the action.
    HistoryStatusName of HistoryStatus = history_statuses(), None;
    /// The category of feedback: a feature request, a bug, or anything else.
    FeedbackCategoryName of FeedbackCategory = FeedbackCategory::ALL, Some("other");
    /// The type of a notification channel.
    NotificationChannelTypeName of NotificationChannelType = NotificationChannelType::ALL, None;
    /// The result of a template: the title of a message, its text, or the JSON body of a delivery to a webhook.
    TemplateKindName of TemplateKind = TemplateKind::ALL, None;
    /// The content that `X-Service-Signature` covers: `<timestamp>.<body>`, or the body alone.
    SignatureName of SignatureFormat = [SignatureFormat::Timestamped, SignatureFormat::Body], Some("timestamped");
    /// A scope of an API key. The last two are for operators.
    ScopeName of Scope = Scope::ALL, None;
}

fn history_statuses() -> Vec<HistoryStatus> {
    let statuses = Status::ALL.iter().copied().map(HistoryStatus::Of);
    statuses.chain([HistoryStatus::Deleted]).collect()
}
