//! What client and server say to each other before and after a test, over a connection of its own:
//! one line each way before it (`order`, `ready`), one each way after it (`done`, `used`).

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use super::args::Test;
use super::keys::CpuUse;

/// Names the protocol and its version: a netperf of another kind is turned away at its first line.
const HELLO: &str = "schedrig-rr/1";
/// The longest line.
const LINE: u64 = 256;

/// What a client wants of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) test: Test,
    pub(super) request: usize,
    pub(super) response: usize,
    pub(super) no_delay: bool,
    /// Pin the serving thread to this CPU.
    pub(super) bind: Option<u32>,
}

impl Order {
    fn line(&self) -> String {
        let bind = self
            .bind
            .map_or_else(|| "-".to_owned(), |cpu| cpu.to_string());
        format!(
            "{HELLO} {} {} {} {} {bind}",
            self.test.name(),
            self.request,
            self.response,
            u8::from(self.no_delay)
        )
    }

    fn parse(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split(' ').collect();
        let [HELLO, test, request, response, no_delay, bind] = words.as_slice() else {
            return None;
        };
        let bytes = |text: &str| text.parse().ok().filter(|n| (1..=1 << 30).contains(n));
        Some(Self {
            test: Test::by_name(test)?,
            request: bytes(request)?,
            response: bytes(response)?,
            no_delay: *no_delay == "1",
            bind: match *bind {
                "-" => None,
                cpu => Some(cpu.parse().ok()?),
            },
        })
    }
}

/// One end of the control connection.
#[derive(Debug)]
pub(super) struct Control {
    stream: BufReader<TcpStream>,
}

impl Control {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self {
            stream: BufReader::new(stream),
        }
    }

    /// The connection below: whose address the data goes to.
    pub(super) fn stream(&self) -> &TcpStream {
        self.stream.get_ref()
    }

    pub(super) fn send_order(&mut self, order: &Order) -> io::Result<()> {
        self.send(&order.line())
    }

    /// The client's order.
    pub(super) fn order(&mut self) -> io::Result<Order> {
        let line = self.line()?;
        Order::parse(&line).ok_or_else(|| bad("an order of the builtin netperf", &line))
    }

    /// The server is ready at this port.
    pub(super) fn send_ready(&mut self, port: u16) -> io::Result<()> {
        self.send(&format!("ready {port}"))
    }

    /// The server's port, or its refusal.
    pub(super) fn ready(&mut self) -> io::Result<u16> {
        let line = self.line()?;
        line.strip_prefix("ready ")
            .and_then(|port| port.parse().ok())
            .ok_or_else(|| bad("`ready PORT` of the builtin netserver", &line))
    }

    /// The server cannot do what was ordered.
    pub(super) fn send_refusal(&mut self, reason: &str) -> io::Result<()> {
        self.send(&format!("refused: {}", reason.replace('\n', " ")))
    }

    /// The client has finished.
    pub(super) fn send_done(&mut self) -> io::Result<()> {
        self.send("done")
    }

    /// Waits until the client has finished or gone.
    pub(super) fn done(&mut self) {
        // Either way there is nobody left to serve.
        let _ = self.line();
    }

    pub(super) fn send_used(&mut self, used: Option<CpuUse>) -> io::Result<()> {
        match used {
            Some(used) => self.send(&format!("used {} {}", used.percent, used.cpus)),
            None => self.send("used - -"),
        }
    }

    /// CPU use at the server, where it knows.
    pub(super) fn used(&mut self) -> io::Result<Option<CpuUse>> {
        let line = self.line()?;
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["used", "-", "-"] => Ok(None),
            ["used", percent, cpus] => match (percent.parse(), cpus.parse()) {
                (Ok(percent), Ok(cpus)) => Ok(Some(CpuUse { percent, cpus })),
                _ => Err(bad("`used PERCENT CPUS`", &line)),
            },
            _ => Err(bad("`used PERCENT CPUS`", &line)),
        }
    }

    fn send(&mut self, line: &str) -> io::Result<()> {
        self.stream
            .get_mut()
            .write_all(format!("{line}\n").as_bytes())
    }

    fn line(&mut self) -> io::Result<String> {
        let mut bytes = Vec::new();
        self.stream
            .by_ref()
            .take(LINE)
            .read_until(b'\n', &mut bytes)?;
        if bytes.pop() != Some(b'\n') {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the control connection ended",
            ));
        }
        String::from_utf8(bytes).map_err(|_| bad("text", "bytes that are no UTF-8"))
    }
}

fn bad(expected: &str, found: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("expected {expected}, got `{}`", found.escape_debug()),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_order_reads_back() {
        for bind in [None, Some(3)] {
            let order = Order {
                test: Test::UdpRr,
                request: 1,
                response: 20,
                no_delay: true,
                bind,
            };
            assert_eq!(Order::parse(&order.line()), Some(order));
        }
    }

    proptest! {
        #[test]
        fn any_line_is_an_order_or_none(line in "[ -~]{0,80}") {
            if let Some(order) = Order::parse(&line) {
                prop_assert_eq!(Order::parse(&order.line()), Some(order));
            }
        }
    }

    #[test]
    fn absurd_sizes_are_no_order() {
        for line in [
            "schedrig-rr/1 TCP_RR 0 1 0 -",
            "schedrig-rr/1 TCP_RR 1 99999999999 0 -",
            "schedrig-rr/2 TCP_RR 1 1 0 -",
        ] {
            assert_eq!(Order::parse(line), None);
        }
    }
}
