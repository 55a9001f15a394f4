//! Sections of settings.

use toml::{Table, Value};

use super::layers::Layers;
use super::value::Setting;

/// A part of the settings that is read from the layers: one setting, or a section.
pub(super) trait FromLayers: Sized {
    /// Reads the value. Invalid settings are recorded as problems, and the result is `None`.
    fn read(layers: &mut Layers, key: &str) -> Option<Self>;

    /// Returns the value as in a file. Secrets are masked.
    fn show(&self) -> Value;
}

impl<T: Setting> FromLayers for T {
    fn read(layers: &mut Layers, key: &str) -> Option<Self> {
        layers.get(key)
    }

    fn show(&self) -> Value {
        self.to_toml()
    }
}

/// Returns the key of a setting: `section.name`.
pub(super) fn key_in(section: &str, name: &str) -> String {
    match section {
        "" => name.to_owned(),
        section => format!("{section}.{name}"),
    }
}

/// Returns a section as in a file.
pub(super) fn table<const N: usize>(entries: [(&str, Value); N]) -> Value {
    let entries = entries.into_iter().map(|(name, value)| (name.to_owned(), value));
    Value::Table(entries.collect::<Table>())
}

/// Declares a section: a struct whose fields are its settings and nested sections.
macro_rules! section {
    ($(#[$about:meta])* $section:ident { $( $name:ident: $kind:ty, )* }) => {
        $(#[$about])*
        #[derive(Clone, PartialEq, Debug)]
        pub struct $section {
            $(
                #[doc = concat!("`", stringify!($name), "`, which `bellwether.example.toml` explains.")]
                pub $name: $kind,
            )*
        }

        impl $crate::settings::section::FromLayers for $section {
            fn read(layers: &mut $crate::settings::layers::Layers, key: &str) -> Option<Self> {
                use $crate::settings::section::{FromLayers, key_in};
                // All values are read first, so that every problem is reported.
                $( let $name = FromLayers::read(layers, &key_in(key, stringify!($name))); )*
                Some(Self { $( $name: $name?, )* })
            }

            fn show(&self) -> toml::Value {
                use $crate::settings::section::{FromLayers, table};
                table([$( (stringify!($name), FromLayers::show(&self.$name)), )*])
            }
        }
    };
}

pub(super) use section;
