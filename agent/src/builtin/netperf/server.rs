//! netserver: a thread for each client.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::Duration;

use schedrig_model::id::CpuId;

use crate::builtin::affinity;
use crate::builtin::dispatch::version_line;

use super::args::{self, SERVER_USAGE, ServerRequest, Test};
use super::control::{Control, Order};
use super::cpu_use::Ticks;

/// How long a client may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(10);

/// Serves until it is killed; the exit status when it cannot start.
pub(in crate::builtin) fn run(args: &[String]) -> i32 {
    let (host, port) = match args::server(args) {
        Ok(ServerRequest::Listen { host, port }) => (host, port),
        Ok(ServerRequest::Help) => {
            print!("{SERVER_USAGE}");
            return 0;
        }
        Ok(ServerRequest::Version) => {
            println!("{}", version_line("netserver"));
            return 0;
        }
        Err(err) => {
            eprint!("netserver: {err}\n{SERVER_USAGE}");
            return 1;
        }
    };
    let listener = match listen(&host, port) {
        Ok(listener) => listener,
        Err(err) => {
            // The wording is the tool's.
            eprintln!(
                "Unable to start netserver with  '{host}' port '{port}' and family AF_INET: {err}"
            );
            return 1;
        }
    };
    let port = listener.local_addr().map_or(port, |a| a.port());
    println!("Starting netserver with host '{host}' port '{port}' and family AF_INET");
    serve(&listener)
}

fn listen(host: &str, port: u16) -> io::Result<TcpListener> {
    let address: Ipv4Addr = host
        .parse()
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "not an IPv4 address"))?;
    TcpListener::bind(SocketAddrV4::new(address, port))
}

fn serve(listener: &TcpListener) -> i32 {
    loop {
        let client = match listener.accept() {
            Ok((client, _)) => client,
            Err(err) if err.kind() == io::ErrorKind::ConnectionAborted => continue,
            Err(err) => {
                eprintln!("netserver: unable to accept a client: {err}");
                return 1;
            }
        };
        let thread = Builder::new().name("netserver".to_owned()).spawn(move || {
            if let Err(err) = serve_client(client) {
                eprintln!("netserver: {err}");
            }
        });
        if let Err(err) = thread {
            eprintln!("netserver: no thread for a client: {err}");
        }
    }
}

/// One client from its order to its end. One that connects and leaves has only looked whether
/// somebody listens.
fn serve_client(client: TcpStream) -> io::Result<()> {
    client.set_read_timeout(Some(PATIENCE))?;
    let mut control = Control::new(client);
    let order = match control.order() {
        Ok(order) => order,
        Err(err) if err.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
        Err(err) => {
            control.send_refusal(&err.to_string())?;
            return Err(err);
        }
    };
    control.stream().set_read_timeout(None)?;
    if let Some(cpu) = order.bind
        && let Err(err) = affinity::pin_to(CpuId(cpu))
    {
        control.send_refusal(&err.to_string())?;
        return Err(io::Error::other(err.to_string()));
    }
    let address = control.stream().local_addr()?.ip();
    let before;
    match order.test {
        Test::TcpRr => {
            let listener = TcpListener::bind((address, 0))?;
            control.send_ready(listener.local_addr()?.port())?;
            let (data, _) = listener.accept()?;
            data.set_nodelay(order.no_delay)?;
            before = Ticks::now();
            answer_tcp(data, &order)?;
            control.done();
        }
        Test::UdpRr => {
            let socket = UdpSocket::bind((address, 0))?;
            control.send_ready(socket.local_addr()?.port())?;
            before = Ticks::now();
            control = answer_udp(&socket, &order, control)?;
        }
    }
    let used = before.and_then(|before| Ticks::now()?.since(&before));
    control.send_used(used)
}

/// Answers until the client closes the connection.
fn answer_tcp(mut data: TcpStream, order: &Order) -> io::Result<()> {
    let mut request = vec![0_u8; order.request];
    let response = vec![b'r'; order.response];
    loop {
        match data.read_exact(&mut request) {
            Ok(()) => data.write_all(&response)?,
            Err(err)
                if matches!(
                    err.kind(),
                    io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset
                ) =>
            {
                return Ok(());
            }
            Err(err) => return Err(err),
        }
    }
}

/// Answers datagrams until the client says on the control connection that it has finished. A
/// datagram without content, from this process to itself, ends the wait for the next request.
fn answer_udp(socket: &UdpSocket, order: &Order, mut control: Control) -> io::Result<Control> {
    let finished = Arc::new(AtomicBool::new(false));
    let own = socket.local_addr()?;
    let flag = Arc::clone(&finished);
    let watch = Builder::new()
        .name("netserver-ctl".to_owned())
        .spawn(move || {
            control.done();
            flag.store(true, Ordering::Release);
            let woken = wake(own);
            (control, woken)
        })?;
    let mut request = vec![0_u8; order.request.max(1)];
    let response = vec![b'r'; order.response];
    while !finished.load(Ordering::Acquire) {
        let (bytes, from) = socket.recv_from(&mut request)?;
        if bytes > 0 {
            socket.send_to(&response, from)?;
        }
    }
    let (control, woken) = watch
        .join()
        .map_err(|_| io::Error::other("the control thread panicked"))?;
    woken.map(|()| control)
}

fn wake(own: SocketAddr) -> io::Result<()> {
    UdpSocket::bind((own.ip(), 0))?.send_to(&[], own).map(drop)
}
