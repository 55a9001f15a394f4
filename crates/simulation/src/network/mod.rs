//! The simulated network: names and connections, with the receivers of webhooks and a mail server behind them.

mod mail_server;
mod receivers;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use notify::address::{ByteStream, DialFuture, Dialer, ResolveFuture, Resolver};

pub(crate) use mail_server::{MAIL_HOST, MailServer, ReceivedEmails};
pub(crate) use receivers::{RECEIVERS, Receivers, cents, host};

/// The size of the buffer of a connection, in bytes.
const CONNECTION_BYTES: usize = 64 * 1024;
/// The address of the mail server. The receivers have 10.0.0.0 and the following ones.
const MAIL_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 0);

/// How a receiver or the mail server responds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Behaviour {
    /// It accepts deliveries after a delay in milliseconds.
    Accepts(u64),
    /// It responds with this status and keeps nothing.
    Refuses(u16),
    /// It keeps the delivery and closes the connection without a response.
    LosesResponse,
    /// It keeps the delivery and never responds.
    NeverResponds,
    /// It refuses connections.
    RefusesConnections,
    /// Packets to it are lost.
    Unreachable,
    /// The name server does not know it.
    HasNoName,
}

/// Looks up names and opens connections. It outlives the processes of the service.
#[derive(Clone, Debug)]
pub(crate) struct SimulatedNetwork {
    pub(crate) receivers: Arc<Receivers>,
    pub(crate) mail_server: Option<Arc<MailServer>>,
}

/// A machine of the network.
enum Machine {
    MailServer(Arc<MailServer>),
    Receiver(usize),
}

impl Machine {
    fn address(&self) -> Ipv4Addr {
        match self {
            Self::MailServer(_) => MAIL_ADDRESS,
            Self::Receiver(receiver) => Ipv4Addr::new(10, 0, 0, u8::try_from(*receiver).unwrap_or_default()),
        }
    }
}

impl SimulatedNetwork {
    pub(crate) fn new(has_mail_server: bool) -> Self {
        Self {
            receivers: Receivers::new(),
            mail_server: has_mail_server.then(MailServer::new),
        }
    }

    /// Lets everyone accept.
    pub(crate) fn heal(&self) {
        self.receivers.heal();
        self.set_mail_server(Behaviour::Accepts(0));
    }

    /// Changes the behaviour of the mail server, if there is one.
    pub(crate) fn set_mail_server(&self, behaviour: Behaviour) {
        if let Some(server) = &self.mail_server {
            server.set(behaviour);
        }
    }

    /// Returns the machine with a name.
    fn machine_of(&self, name: &str) -> Option<Machine> {
        if name == MAIL_HOST {
            return self.mail_server.clone().map(Machine::MailServer);
        }
        let receiver = (0..RECEIVERS).find(|receiver| host(*receiver) == name)?;
        Some(Machine::Receiver(receiver))
    }

    /// Returns the machine with an address.
    fn machine_at(&self, address: Ipv4Addr) -> Option<Machine> {
        match address {
            MAIL_ADDRESS => self.mail_server.clone().map(Machine::MailServer),
            _ => Some(Machine::Receiver(usize::from(address.octets()[3]))),
        }
    }

    fn behaviour(&self, machine: &Machine) -> Behaviour {
        match machine {
            Machine::MailServer(server) => server.behaviour(),
            Machine::Receiver(receiver) => self.receivers.behaviour(*receiver),
        }
    }
}

impl Resolver for SimulatedNetwork {
    fn resolve<'a>(&'a self, name: &'a str) -> ResolveFuture<'a> {
        let known = self.machine_of(name);
        let known = known.filter(|machine| self.behaviour(machine) != Behaviour::HasNoName);
        let found = known.map(|machine| vec![IpAddr::V4(machine.address())]);
        Box::pin(std::future::ready(found.ok_or_else(|| io::ErrorKind::NotFound.into())))
    }
}

impl Dialer for SimulatedNetwork {
    fn dial(&self, address: SocketAddr) -> DialFuture {
        let network = self.clone();
        Box::pin(async move {
            let IpAddr::V4(address) = address.ip() else {
                return Err(io::ErrorKind::HostUnreachable.into());
            };
            let Some(machine) = network.machine_at(address) else {
                return Err(io::ErrorKind::HostUnreachable.into());
            };
            match network.behaviour(&machine) {
                Behaviour::RefusesConnections => return Err(io::ErrorKind::ConnectionRefused.into()),
                Behaviour::Unreachable => std::future::pending().await,
                _ => {}
            }
            let (client, server) = tokio::io::duplex(CONNECTION_BYTES);
            match machine {
                Machine::MailServer(mail_server) => tokio::spawn(mail_server::serve(mail_server, server)),
                Machine::Receiver(receiver) => tokio::spawn(receivers::serve(network.receivers, receiver, server)),
            };
            Ok(Box::new(client) as Box<dyn ByteStream>)
        })
    }
}
