//! The command lines of netperf and netserver.

use crate::builtin::options::{self, Given, OptionError, Spec};

use super::keys::Key;

/// netperf's usual port.
const DEFAULT_PORT: u16 = 12865;

/// What carries requests and responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Test {
    TcpRr,
    UdpRr,
}

impl Test {
    /// The name on the command line and between client and server.
    pub(super) fn name(self) -> &'static str {
        match self {
            Test::TcpRr => "TCP_RR",
            Test::UdpRr => "UDP_RR",
        }
    }

    /// The test of this name.
    pub(super) fn by_name(name: &str) -> Option<Self> {
        [Test::TcpRr, Test::UdpRr]
            .into_iter()
            .find(|test| test.name() == name)
    }
}

/// A client's run as asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClientConfig {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) test: Test,
    pub(super) seconds: u64,
    /// Measure CPU use here, and at the server.
    pub(super) local_cpu: bool,
    pub(super) remote_cpu: bool,
    /// Print the line that names the test.
    pub(super) banner: bool,
    /// Pin the client, and the server's thread, to these CPUs.
    pub(super) local_bind: Option<u32>,
    pub(super) remote_bind: Option<u32>,
    pub(super) request: usize,
    pub(super) response: usize,
    /// TCP_NODELAY on both sides.
    pub(super) no_delay: bool,
    pub(super) keys: Vec<Key>,
}

/// What netperf's command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ClientRequest {
    Run(ClientConfig),
    Help,
    Version,
}

/// What netserver's command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ServerRequest {
    Listen { host: String, port: u16 },
    Help,
    Version,
}

pub(super) const CLIENT_USAGE: &str = "\
usage: netperf [global options] -- [test options]
\t-H host      the server (def: 127.0.0.1)
\t-p port      its port (def: 12865)
\t-t test      TCP_RR or UDP_RR (def: TCP_RR)
\t-l seconds   how long to run (def: 10)
\t-c  -C       measure CPU use here, at the server
\t-T l,r       pin the client to CPU l, the server to CPU r; either may be left out
\t-P 0|1       print the line that names the test (def: 1)
\t-4           IPv4, as always
\t-V           print the version
test options:
\t-r req,resp  bytes of a request and a response (def: 1,1)
\t-k keys      what to print, separated by commas (def: THROUGHPUT,THROUGHPUT_UNITS,ELAPSED_TIME)
\t-D           TCP_NODELAY
";

pub(super) const SERVER_USAGE: &str = "\
usage: netserver [options]
\t-L host      address to listen on (def: 0.0.0.0)
\t-p port      port to listen on, 0: a free one (def: 12865)
\t-D           stay in the foreground, as always
\t-4           IPv4, as always
\t-V           print the version
";

const CLIENT: &[Spec] = &[
    Spec::value('H', "host"),
    Spec::value('p', "port"),
    Spec::value('t', "test"),
    Spec::value('l', "length"),
    Spec::switch('c', "local-cpu"),
    Spec::switch('C', "remote-cpu"),
    Spec::value('T', "bind"),
    Spec::value('P', "banner"),
    Spec::switch('4', "ipv4"),
    Spec::switch('V', "version"),
    Spec::switch('h', "help"),
];

const CLIENT_TEST: &[Spec] = &[
    Spec::value('r', "sizes"),
    Spec::value('k', "keys"),
    Spec::switch('D', "nodelay"),
];

const SERVER: &[Spec] = &[
    Spec::value('L', "host"),
    Spec::value('p', "port"),
    Spec::switch('D', "foreground"),
    Spec::switch('4', "ipv4"),
    Spec::switch('V', "version"),
    Spec::switch('h', "help"),
];

/// The largest request or response: more than a datagram takes.
const MAX_BYTES: u64 = 1 << 30;
/// The largest UDP payload over IPv4.
const MAX_DATAGRAM: u64 = 65_507;
/// A year.
const MAX_SECONDS: u64 = 31_536_000;

/// Reads netperf's command line.
pub(super) fn client(args: &[String]) -> Result<ClientRequest, OptionError> {
    let at = args.iter().position(|a| a == "--").unwrap_or(args.len());
    let global = options::parse(&args[..at], CLIENT)?;
    let test = options::parse(args.get(at + 1..).unwrap_or(&[]), CLIENT_TEST)?;
    let mut config = ClientConfig {
        host: "127.0.0.1".to_owned(),
        port: DEFAULT_PORT,
        test: Test::TcpRr,
        seconds: 10,
        local_cpu: false,
        remote_cpu: false,
        banner: true,
        local_bind: None,
        remote_bind: None,
        request: 1,
        response: 1,
        no_delay: false,
        keys: vec![Key::Throughput, Key::ThroughputUnits, Key::ElapsedTime],
    };
    for option in &global.options {
        match option.key {
            "help" => return Ok(ClientRequest::Help),
            "version" => return Ok(ClientRequest::Version),
            _ => global_option(&mut config, option)?,
        }
    }
    for option in &test.options {
        match option.key {
            "sizes" => (config.request, config.response) = sizes(option, config.test)?,
            "keys" => config.keys = keys(option)?,
            _ => config.no_delay = true,
        }
    }
    Ok(ClientRequest::Run(config))
}

fn global_option(config: &mut ClientConfig, option: &Given) -> Result<(), OptionError> {
    match option.key {
        "host" => config.host.clone_from(&option.value),
        "port" => config.port = port(option, 1)?,
        "test" => {
            config.test = Test::by_name(&option.value)
                .ok_or_else(|| option.bad("TCP_RR or UDP_RR in the builtin"))?;
        }
        "length" => {
            let expected = "whole seconds from 1 to a year";
            config.seconds = option.count(1, expected)?;
            if config.seconds > MAX_SECONDS {
                return Err(option.bad(expected));
            }
        }
        "local-cpu" => config.local_cpu = true,
        "remote-cpu" => config.remote_cpu = true,
        "bind" => (config.local_bind, config.remote_bind) = bind(option)?,
        "banner" => config.banner = option.count(0, "0 or 1")? > 0,
        _ => {}
    }
    Ok(())
}

/// Reads netserver's command line.
pub(super) fn server(args: &[String]) -> Result<ServerRequest, OptionError> {
    let (mut host, mut listen) = ("0.0.0.0".to_owned(), DEFAULT_PORT);
    for option in &options::parse(args, SERVER)?.options {
        match option.key {
            "host" => host.clone_from(&option.value),
            "port" => listen = port(option, 0)?,
            "help" => return Ok(ServerRequest::Help),
            "version" => return Ok(ServerRequest::Version),
            _ => {}
        }
    }
    Ok(ServerRequest::Listen { host, port: listen })
}

fn port(option: &Given, least: u64) -> Result<u16, OptionError> {
    let expected = "a port from 1 to 65535";
    u16::try_from(option.count(least, expected)?).map_err(|_| option.bad(expected))
}

fn sizes(option: &Given, test: Test) -> Result<(usize, usize), OptionError> {
    let (most, expected) = match test {
        Test::TcpRr => (
            MAX_BYTES,
            "`request,response` in bytes, each from 1 to 1 GiB",
        ),
        Test::UdpRr => (
            MAX_DATAGRAM,
            "`request,response` in bytes, each from 1 to 65507 for UDP",
        ),
    };
    let read = |text: &str| {
        text.parse::<u64>()
            .ok()
            .filter(|n| (1..=most).contains(n))
            .and_then(|n| usize::try_from(n).ok())
            .ok_or_else(|| option.bad(expected))
    };
    match option.value.split_once(',') {
        Some((request, response)) => Ok((read(request)?, read(response)?)),
        None => read(&option.value).map(|both| (both, both)),
    }
}

fn bind(option: &Given) -> Result<(Option<u32>, Option<u32>), OptionError> {
    let read = |text: &str| match text {
        "" => Ok(None),
        cpu => cpu
            .parse()
            .map(Some)
            .map_err(|_| option.bad("CPU numbers as `0,1`, `0` or `,1`")),
    };
    let (local, remote) = option.value.split_once(',').unwrap_or((&option.value, ""));
    Ok((read(local)?, read(remote)?))
}

fn keys(option: &Given) -> Result<Vec<Key>, OptionError> {
    option
        .value
        .split(',')
        .map(|name| {
            Key::by_name(name)
                .ok_or_else(|| option.bad("names of omni outputs that the builtin has"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<ClientRequest, OptionError> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        client(&args)
    }

    fn config(line: &str) -> ClientConfig {
        match read(line) {
            Ok(ClientRequest::Run(config)) => config,
            other => panic!("{line} gave {other:?}"),
        }
    }

    #[test]
    fn a_full_command_line_is_read() {
        let config = config(
            "-4 -H 10.0.0.2 -p 4000 -t UDP_RR -l 3 -c -C -T 0,1 -P 0 -- -r 10,20 -k \
             THROUGHPUT,P99_LATENCY",
        );
        assert_eq!((config.host.as_str(), config.port), ("10.0.0.2", 4000));
        assert_eq!((config.test, config.seconds), (Test::UdpRr, 3));
        assert_eq!((config.request, config.response), (10, 20));
        assert_eq!((config.local_bind, config.remote_bind), (Some(0), Some(1)));
        assert!(config.local_cpu && config.remote_cpu && !config.banner);
        assert_eq!(config.keys, [Key::Throughput, Key::Percentile(99)]);
    }

    #[test]
    fn what_the_builtin_has_not_is_an_error() {
        for line in [
            "-t TCP_STREAM",
            "-l 0",
            "-p 0",
            "-p 65536",
            "-- -r 0,1",
            "-- -k NO_SUCH_KEY",
            "-- -k",
            "-t UDP_RR -- -r 65508,1",
            "-T x",
            "-Z",
        ] {
            assert!(read(line).is_err(), "{line}");
        }
    }

    #[test]
    fn a_server_listens_where_it_is_told() {
        let args: Vec<String> = "-4 -L 127.0.0.1 -p 0 -D"
            .split(' ')
            .map(str::to_owned)
            .collect();
        assert_eq!(
            server(&args),
            Ok(ServerRequest::Listen {
                host: "127.0.0.1".into(),
                port: 0
            })
        );
    }
}
