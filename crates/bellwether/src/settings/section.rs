//! The macro for declaring a section of the settings. It generates the struct and the functions that read and show
//! it.

/// Declares a section of the settings: a struct whose fields are its keys. Its parts are nested sections, named
/// `section.part`.
macro_rules! section {
    (
        $(#[$about:meta])*
        $section:ident $name:literal { $( $(#[$doc:meta])* $key:ident: $kind:ty, )* }
        $( parts { $( $(#[$part_doc:meta])* $part:ident: $part_kind:ty, )* } )?
    ) => {
        $(#[$about])*
        #[derive(Clone, PartialEq, Debug)]
        pub struct $section {
            $( $(#[$doc])* pub $key: $kind, )*
            $( $( $(#[$part_doc])* pub $part: $part_kind, )* )?
        }

        impl $section {
            /// The name of the section in the file.
            pub(in crate::settings) const NAME: &str = $name;

            pub(in crate::settings) fn read(layers: &mut Layers) -> Option<Self> {
                // All values are read first, so that every problem is reported.
                $( let $key = layers.get::<$kind>(concat!($name, ".", stringify!($key))); )*
                $( $( let $part = <$part_kind>::read(layers); )* )?
                Some(Self { $( $key: $key?, )* $( $( $part: $part?, )* )? })
            }

            pub(in crate::settings) fn show(&self) -> toml::Table {
                let mut table = toml::Table::new();
                $( table.insert(stringify!($key).to_owned(), self.$key.to_toml()); )*
                $( $(
                    let (_, part) = <$part_kind>::NAME.rsplit_once('.').unwrap_or_default();
                    table.insert(part.to_owned(), toml::Value::Table(self.$part.show()));
                )* )?
                table
            }

            #[cfg(test)]
            pub(in crate::settings) fn keys() -> Vec<String> {
                #[allow(unused_mut, reason = "not every section has parts")]
                let mut keys = vec![$( concat!($name, ".", stringify!($key)).to_owned(), )*];
                $( $( keys.extend(<$part_kind>::keys()); )* )?
                keys
            }
        }
    };
}

pub(super) use section;
