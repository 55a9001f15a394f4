//! Enums whose values have names in requests, responses and the database.

/// Declares an enum with `ALL`, `name` and `from_name`.
#[macro_export]
macro_rules! named_enum {
    ($(#[$meta:meta])* pub enum $type:ident { $($(#[$variant_meta:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$meta])*
        pub enum $type { $($(#[$variant_meta])* $variant,)* }

        impl $type {
            /// All values.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the name in requests and responses.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the value with this name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.name() == name)
            }
        }
    };
}
