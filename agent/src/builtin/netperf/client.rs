//! netperf: one request under way at any time, until the time is over.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _, UdpSocket};
use std::time::{Duration, Instant};

use schedrig_model::id::CpuId;

use crate::builtin::affinity;
use crate::builtin::dispatch::version_line;
use crate::builtin::errno::CallError;

use super::args::{self, CLIENT_USAGE, ClientConfig, ClientRequest, Test};
use super::control::{Control, Order};
use super::cpu_use::Ticks;
use super::keys::{Latencies, Results};

/// How long a datagram may take before it counts as lost and is sent again.
const LOST_AFTER: Duration = Duration::from_millis(500);
/// How long the server may take to connect, to get ready and to finish.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a run has no result.
#[derive(Debug, thiserror::Error)]
enum RunError {
    /// The wording is the tool's.
    #[error(
        "establish control: are you sure there is a netserver listening on {host} at port {port}? ({source})"
    )]
    NoServer {
        host: String,
        port: u16,
        source: io::Error,
    },
    #[error("the server did not get ready: {0}")]
    NotReady(#[source] io::Error),
    /// The wording is the tool's.
    #[error("recv_response: partial response received: {0}")]
    Transaction(#[source] io::Error),
    #[error("the server did not finish: {0}")]
    NotFinished(#[source] io::Error),
    #[error(transparent)]
    Call(#[from] CallError),
}

impl RunError {
    /// The tool's statuses.
    fn exit_status(&self) -> i32 {
        match self {
            RunError::NoServer { .. } => 255,
            _ => 1,
        }
    }
}

/// Runs netperf and returns its exit status.
pub(in crate::builtin) fn run(args: &[String]) -> i32 {
    let config = match args::client(args) {
        Ok(ClientRequest::Run(config)) => config,
        Ok(ClientRequest::Help) => {
            print!("{CLIENT_USAGE}");
            return 0;
        }
        Ok(ClientRequest::Version) => {
            println!("{}", version_line("netperf"));
            return 0;
        }
        Err(err) => {
            eprint!("netperf: {err}\n{CLIENT_USAGE}");
            return 1;
        }
    };
    match measure(&config) {
        Ok(results) => {
            if config.banner {
                println!("{}", banner(&config));
            }
            print!("{}", results.lines(&config.keys));
            0
        }
        Err(err) => {
            if matches!(err, RunError::NoServer { .. }) {
                println!("{err}");
            } else {
                eprintln!("{err}");
            }
            err.exit_status()
        }
    }
}

fn banner(config: &ClientConfig) -> String {
    let protocol = match config.test {
        Test::TcpRr => "TCP",
        Test::UdpRr => "UDP",
    };
    format!(
        "MIGRATED {protocol} REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to {} () \
         port 0 AF_INET : schedrig builtin",
        config.host
    )
}

fn measure(config: &ClientConfig) -> Result<Results, RunError> {
    if let Some(cpu) = config.local_bind {
        affinity::pin_to(CpuId(cpu))?;
    }
    let mut control = connect(config)?;
    let server = ready(config, &mut control).map_err(RunError::NotReady)?;
    let before = Ticks::now();
    let (latencies, seconds) = match config.test {
        Test::TcpRr => tcp(config, server),
        Test::UdpRr => udp(config, server),
    }
    .map_err(RunError::Transaction)?;
    let local = before.and_then(|before| Ticks::now()?.since(&before));
    let remote = control
        .send_done()
        .and_then(|()| control.used())
        .map_err(RunError::NotFinished)?;
    Ok(Results {
        seconds,
        latencies,
        request: config.request,
        response: config.response,
        local: local.filter(|_| config.local_cpu),
        remote: remote.filter(|_| config.remote_cpu),
    })
}

fn connect(config: &ClientConfig) -> Result<Control, RunError> {
    let attempt = || {
        let address = (config.host.as_str(), config.port)
            .to_socket_addrs()?
            .find(SocketAddr::is_ipv4)
            .ok_or_else(|| io::Error::other("no IPv4 address"))?;
        let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Control::new(stream))
    };
    attempt().map_err(|source| RunError::NoServer {
        host: config.host.clone(),
        port: config.port,
        source,
    })
}

/// Says what is wanted; the address to send requests to.
fn ready(config: &ClientConfig, control: &mut Control) -> io::Result<SocketAddr> {
    control.send_order(&Order {
        test: config.test,
        request: config.request,
        response: config.response,
        no_delay: config.no_delay,
        bind: config.remote_bind,
    })?;
    let port = control.ready()?;
    let mut server = control.stream().peer_addr()?;
    server.set_port(port);
    Ok(server)
}

/// Counts transactions until the time is over: one clock reading each.
fn transactions(
    seconds: u64,
    mut transaction: impl FnMut() -> io::Result<()>,
) -> io::Result<(Latencies, f64)> {
    let mut latencies = Latencies::default();
    let started = Instant::now();
    let length = Duration::from_secs(seconds);
    let mut before = Duration::ZERO;
    while before < length {
        transaction()?;
        let now = started.elapsed();
        latencies.record((now - before).as_nanos() as u64);
        before = now;
    }
    Ok((latencies, before.as_secs_f64()))
}

fn tcp(config: &ClientConfig, server: SocketAddr) -> io::Result<(Latencies, f64)> {
    let mut data = TcpStream::connect_timeout(&server, PATIENCE)?;
    data.set_nodelay(config.no_delay)?;
    let request = vec![b'q'; config.request];
    let mut response = vec![0_u8; config.response];
    transactions(config.seconds, || {
        data.write_all(&request)?;
        data.read_exact(&mut response)
    })
}

fn udp(config: &ClientConfig, server: SocketAddr) -> io::Result<(Latencies, f64)> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.connect(server)?;
    socket.set_read_timeout(Some(LOST_AFTER))?;
    let request = vec![b'q'; config.request];
    let mut response = vec![0_u8; config.response];
    let mut lost = 0_u64;
    let result = transactions(config.seconds, || {
        socket.send(&request)?;
        loop {
            match socket.recv(&mut response) {
                Ok(_) => return Ok(()),
                Err(err) if err.kind() == io::ErrorKind::WouldBlock && lost < 100 => {
                    lost += 1;
                    socket.send(&request)?;
                }
                Err(err) => return Err(err),
            }
        }
    });
    if lost > 0 {
        eprintln!("netperf: {lost} requests were lost and sent again");
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_that_of_whole_transactions() {
        let mut calls = 0;
        let (latencies, seconds) = transactions(1, || {
            calls += 1;
            crate::builtin::clock::sleep(Duration::from_millis(300));
            Ok(())
        })
        .unwrap();
        assert_eq!((calls, latencies.count()), (4, 4));
        assert!(seconds >= 1.2);
    }

    #[test]
    fn a_failed_transaction_ends_the_run() {
        let failed = transactions(60, || Err(io::ErrorKind::ConnectionReset.into()));
        assert!(failed.is_err());
    }
}
