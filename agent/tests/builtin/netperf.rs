//! Request and response between two built programs over loopback.

use std::net::{TcpListener, TcpStream};

use crate::process::{Running, builtin, orphans, run, start};

/// A server on a free port, and the port.
fn server() -> (Running, String) {
    let mut server = start(builtin(
        "netserver",
        &["-4", "-L", "127.0.0.1", "-p", "0", "-D"],
    ));
    let line = server.wait_for_line("Starting netserver");
    let port = line.split('\'').nth(3).expect("a port in the line");
    let port = port.to_owned();
    (server, port)
}

fn values(text: &str, key: &str) -> f64 {
    text.lines()
        .find_map(|l| l.strip_prefix(key)?.strip_prefix('='))
        .and_then(|v| v.parse().ok())
        .expect(text)
}

#[test]
fn both_tests_print_the_keys_that_were_asked_for() {
    let (server, port) = server();
    for test in ["TCP_RR", "UDP_RR"] {
        // Several clients at once, as several instances of a workload.
        let clients: Vec<Running> = (0..2)
            .map(|_| {
                start(builtin(
                    "netperf",
                    &[
                        "-4",
                        "-H",
                        "127.0.0.1",
                        "-p",
                        &port,
                        "-t",
                        test,
                        "-l",
                        "1",
                        "-c",
                        "-C",
                        "--",
                        "-r",
                        "10,2000",
                        "-k",
                        "THROUGHPUT,THROUGHPUT_UNITS,ELAPSED_TIME,P50_LATENCY,P99_LATENCY,\
                         REMOTE_CPU_UTIL,RESPONSE_SIZE",
                    ],
                ))
            })
            .collect();
        for client in clients {
            let ended = client.wait();
            assert_eq!(ended.status, Some(0), "{ended:?}");
            let out = &ended.stdout;
            assert!(out.contains("REQUEST/RESPONSE TEST"), "{out}");
            assert!(out.contains("THROUGHPUT_UNITS=Trans/s\n"), "{out}");
            assert!(values(out, "THROUGHPUT") > 1.0, "{out}");
            assert!(values(out, "ELAPSED_TIME") >= 1.0, "{out}");
            let (median, tail) = (values(out, "P50_LATENCY"), values(out, "P99_LATENCY"));
            assert!(median > 0.0 && median <= tail, "{out}");
            assert!(values(out, "REMOTE_CPU_UTIL") > 0.0, "{out}");
            assert!(out.contains("RESPONSE_SIZE=2000\n"), "{out}");
        }
    }
    let group = server.group();
    assert_eq!(server.terminate().status, None);
    orphans(group).gone();
}

#[test]
fn a_connection_that_says_nothing_does_not_end_the_server() {
    let (server, port) = server();
    drop(TcpStream::connect(("127.0.0.1", port.parse().unwrap())).unwrap());
    let ended = run(builtin("netperf", &["-p", &port, "-l", "1"]));
    assert_eq!(ended.status, Some(0), "{ended:?}");
    server.terminate();
}

#[test]
fn no_server_is_the_tools_error_and_status() {
    // A port that was free a moment ago.
    let other = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = other.local_addr().unwrap().port();
    drop(other);
    let ended = run(builtin("netperf", &["-p", &port.to_string(), "-l", "1"]));
    assert_eq!(ended.status, Some(255), "{ended:?}");
    assert!(
        ended.stdout.starts_with(&format!(
            "establish control: are you sure there is a netserver listening on 127.0.0.1 at port \
             {port}?"
        )),
        "{ended:?}"
    );
}

#[test]
fn a_server_killed_in_the_middle_is_an_error_without_a_result() {
    let (mut server, port) = server();
    let client = start(builtin("netperf", &["-p", &port, "-l", "600"]));
    // The main thread, and one that serves.
    server.wait_for_tasks(2);
    server.terminate();
    let ended = client.wait();
    assert_eq!(ended.status, Some(1), "{ended:?}");
    assert!(!ended.stdout.contains("THROUGHPUT"), "{ended:?}");
}

#[test]
fn a_port_in_use_is_named() {
    let (server, port) = server();
    let ended = run(builtin("netserver", &["-L", "127.0.0.1", "-p", &port]));
    assert_eq!(ended.status, Some(1), "{ended:?}");
    assert!(
        ended.stderr.contains("Unable to start netserver"),
        "{ended:?}"
    );
    server.terminate();
}
