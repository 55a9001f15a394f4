//! How a section is written down: once, as a struct. Reading and showing it follow from that.

/// Declares a section of the settings: a struct whose fields are its keys.
macro_rules! section {
    (
        $(#[$about:meta])*
        $section:ident $name:literal { $( $(#[$doc:meta])* $key:ident: $kind:ty, )* }
    ) => {
        $(#[$about])*
        #[derive(Clone, PartialEq, Debug)]
        pub struct $section {
            $( $(#[$doc])* pub $key: $kind, )*
        }

        impl $section {
            /// Its name in the file.
            const NAME: &str = $name;

            fn read(layers: &mut Layers) -> Option<Self> {
                // All are read before any is missed, so that every problem is told.
                $( let $key = layers.get::<$kind>(concat!($name, ".", stringify!($key))); )*
                Some(Self { $( $key: $key?, )* })
            }

            fn show(&self) -> toml::Table {
                let mut table = toml::Table::new();
                $( table.insert(stringify!($key).to_owned(), self.$key.to_toml()); )*
                table
            }

            #[cfg(test)]
            fn keys() -> Vec<String> {
                vec![$( concat!($name, ".", stringify!($key)).to_owned(), )*]
            }
        }
    };
}

pub(super) use section;
