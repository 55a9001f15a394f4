//! The roles of a node: which parts of the service it runs.

use std::fmt;
use std::str::FromStr;

alerts::named_enum! {
    /// A part of the service that a node of a cluster may run.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum Role {
        /// Answers requests of users, agents and operators.
        Api = "api",
        /// Evaluates alerts.
        Evaluator = "evaluator",
        /// Sends webhooks, emails and other messages.
        Dispatcher = "dispatcher",
        /// Receives market data.
        Feed = "feed",
        /// Runs periodic jobs.
        Jobs = "jobs",
    }
}

/// A set of roles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Roles(u8);

impl Roles {
    /// All roles: those of a single process.
    pub const ALL: Self = Self((1 << Role::ALL.len()) - 1);

    /// Creates a set. Returns `None` without any role.
    #[must_use]
    pub fn new(roles: impl IntoIterator<Item = Role>) -> Option<Self> {
        let set = roles.into_iter().fold(0, |set, role| set | bit(role));
        (set != 0).then_some(Self(set))
    }

    /// Returns whether the node has this role.
    #[must_use]
    pub const fn has(self, role: Role) -> bool {
        self.0 & bit(role) != 0
    }

    /// Returns the set as bits, one for each role in the order of [`Role::ALL`].
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0 as u32
    }

    /// Returns the roles of bits. Those of a later version are left out, so there may be none.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits.to_le_bytes()[0] & Self::ALL.0)
    }

    /// Returns the roles, in the order of [`Role::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Role> {
        Role::ALL.iter().copied().filter(move |role| self.has(*role))
    }
}

const fn bit(role: Role) -> u8 {
    1 << role as u8
}

/// The names, separated by commas.
impl fmt::Display for Roles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.iter().map(Role::name).collect();
        f.write_str(&names.join(","))
    }
}

/// A text that is no list of roles.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("roles are a list of api, evaluator, dispatcher, feed and jobs, separated by commas")]
pub struct InvalidRoles;

impl FromStr for Roles {
    type Err = InvalidRoles;

    fn from_str(text: &str) -> Result<Self, InvalidRoles> {
        let roles: Option<Vec<_>> = text.split(',').map(|name| Role::from_name(name.trim())).collect();
        roles.and_then(Self::new).ok_or(InvalidRoles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_has_the_roles_that_it_was_created_with() {
        let roles = Roles::new([Role::Jobs, Role::Api, Role::Jobs]).unwrap();
        let has: Vec<_> = Role::ALL.iter().map(|&role| roles.has(role)).collect();
        assert_eq!(has, [true, false, false, false, true]);
        assert!(roles.iter().eq([Role::Api, Role::Jobs]));
        assert_eq!(Roles::new([]), None);
    }

    #[test]
    fn all_roles_are_the_set_of_each_role() {
        assert_eq!(Roles::new(Role::ALL.iter().copied()), Some(Roles::ALL));
        assert!(Role::ALL.iter().all(|&role| Roles::ALL.has(role)));
        assert_ne!(Roles::new(Role::ALL[1..].iter().copied()), Some(Roles::ALL));
    }

    #[test]
    fn roles_are_read_from_names_and_shown_in_a_fixed_order() {
        let roles: Roles = "jobs, api".parse().unwrap();
        assert_eq!(roles.to_string(), "api,jobs");
        assert_eq!("api,evaluator,dispatcher,feed,jobs".parse(), Ok(Roles::ALL));
        for text in ["", ",", "api,", "API", "api jobs", "all", "api,worker"] {
            assert_eq!(text.parse::<Roles>(), Err(InvalidRoles), "{text}");
        }
    }
}
