//! Each builtin beside the tool it stands for, on this machine: interleaved runs (A B B A ...), medians
//! and their ratio. Not a statistics of its own: it answers whether a builtin is within 15 %.
//!
//! `cargo bench -p schedrig-agent --bench builtin_vs_tool -- [--rounds N] [NAME...]`, where a name is
//! `hackbench`, `schbench`, `stream` or `netperf`. Tools are looked up in `PATH`; one that is not
//! there is reported and its rows are left out.

use std::env;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};

/// Runs of each side when `--rounds` is not given.
const ROUNDS: usize = 8;
/// How far a builtin may be from its tool.
const TOLERANCE: f64 = 0.15;

/// One comparison.
struct Case {
    tool: &'static str,
    label: &'static str,
    args: &'static [&'static str],
    /// What the builtin needs beyond `args`: STREAM's size is compiled into the original.
    builtin_args: &'static [&'static str],
    /// The value in the output (stdout and stderr).
    value: fn(&str) -> Option<f64>,
    unit: &'static str,
    needs_server: bool,
}

const HACKBENCH: Case = Case {
    tool: "hackbench",
    label: "",
    args: &[],
    builtin_args: &[],
    value: |text| after(text, "Time: "),
    unit: "s",
    needs_server: false,
};
const SCHBENCH: Case = Case {
    tool: "schbench",
    value: |text| after(text, "average rps: "),
    unit: "req/s",
    ..HACKBENCH
};
const STREAM: Case = Case {
    tool: "stream",
    builtin_args: &["--elements", "10000000", "--ntimes", "10"],
    unit: "MB/s",
    ..HACKBENCH
};
const NETPERF: Case = Case {
    tool: "netperf",
    value: |text| after(text, "THROUGHPUT="),
    unit: "trans/s",
    needs_server: true,
    ..HACKBENCH
};

const CASES: &[Case] = &[
    Case {
        label: "process pipe",
        args: &["-P", "-p", "-g", "4", "-l", "1500"],
        ..HACKBENCH
    },
    Case {
        label: "process socket",
        args: &["-P", "-g", "4", "-l", "500"],
        ..HACKBENCH
    },
    Case {
        label: "thread pipe",
        args: &["-T", "-p", "-g", "4", "-l", "1500"],
        ..HACKBENCH
    },
    Case {
        label: "thread socket",
        args: &["-T", "-g", "4", "-l", "500"],
        ..HACKBENCH
    },
    Case {
        label: "calibrate",
        args: &["-C", "-t", "1", "-r", "2"],
        ..SCHBENCH
    },
    Case {
        label: "2 workers",
        args: &["-m", "1", "-t", "2", "-r", "3"],
        ..SCHBENCH
    },
    Case {
        label: "2 workers, no work",
        args: &["-m", "1", "-t", "2", "-L", "-n", "0", "-r", "2"],
        ..SCHBENCH
    },
    Case {
        label: "copy",
        value: |text| after(text, "Copy:"),
        ..STREAM
    },
    Case {
        label: "scale",
        value: |text| after(text, "Scale:"),
        ..STREAM
    },
    Case {
        label: "add",
        value: |text| after(text, "Add:"),
        ..STREAM
    },
    Case {
        label: "triad",
        value: |text| after(text, "Triad:"),
        ..STREAM
    },
    Case {
        label: "TCP_RR",
        args: &["-t", "TCP_RR", "-l", "2", "--", "-k", "THROUGHPUT"],
        ..NETPERF
    },
    Case {
        label: "UDP_RR",
        args: &["-t", "UDP_RR", "-l", "2", "--", "-k", "THROUGHPUT"],
        ..NETPERF
    },
];

/// The number after the last `start` in a text.
fn after(text: &str, start: &str) -> Option<f64> {
    let (_, rest) = text.rsplit_once(start)?;
    rest.split_whitespace().next()?.parse().ok()
}

fn in_path(program: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?)
        .map(|dir| dir.join(program))
        .find(|file| file.is_file())
}

/// Who does the work.
enum Side<'a> {
    Tool(&'a Path),
    Builtin,
}

impl Side<'_> {
    fn command(&self, name: &str) -> Command {
        let mut command = match self {
            Side::Tool(path) => Command::new(path.with_file_name(name)),
            Side::Builtin => {
                let mut command = Command::new(env!("CARGO_BIN_EXE_schedrig-agent"));
                command.args(["builtin", name]);
                command
            }
        };
        command.env("LC_ALL", "C").stdin(Stdio::null());
        command
    }

    fn measure(&self, case: &Case) -> Result<f64, String> {
        let mut command = self.command(case.tool);
        let mut server = None;
        if case.needs_server {
            let port = free_port()?;
            server = Some(Server::start(self, &port)?);
            command.args(["-H", "127.0.0.1", "-p", &port]);
        }
        command.args(case.args);
        if matches!(self, Side::Builtin) {
            command.args(case.builtin_args);
        }
        let output = command.output().map_err(|err| err.to_string())?;
        drop(server);
        let text = [output.stdout, output.stderr]
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .concat();
        (case.value)(&text)
            .filter(|_| output.status.success())
            .ok_or_else(|| format!("{}: no value in `{text}`", output.status))
    }
}

fn free_port() -> Result<String, String> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|err| err.to_string())?;
    let address = listener.local_addr().map_err(|err| err.to_string())?;
    Ok(address.port().to_string())
}

/// A netserver that ends with this value.
struct Server(Child);

impl Server {
    /// Starts one and waits until it says so.
    fn start(side: &Side<'_>, port: &str) -> Result<Self, String> {
        let mut server = side
            .command("netserver")
            .args(["-4", "-L", "127.0.0.1", "-p", port, "-D"])
            .stdout(Stdio::piped())
            .spawn()
            .map(Self)
            .map_err(|err| err.to_string())?;
        let out = server.0.stdout.take().ok_or("no stdout")?;
        if matches!(side, Side::Builtin) {
            let mut line = String::new();
            BufReader::new(out)
                .read_line(&mut line)
                .map_err(|err| err.to_string())?;
        } else {
            // The tool's line stays in its buffer: ask whether it listens.
            let port: u16 = port.parse().map_err(|_| "not a port")?;
            while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
                std::thread::yield_now();
            }
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have failed by itself; the client has said so then.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    }
}

/// Runs one case; whether the builtin is within the tolerance.
fn compare(case: &Case, tool: &Path, rounds: usize) -> Result<bool, String> {
    let (mut tools, mut builtins) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let tool_first = round % 2 == 0;
        for turn in [tool_first, !tool_first] {
            if turn {
                tools.push(Side::Tool(tool).measure(case)?);
            } else {
                builtins.push(Side::Builtin.measure(case)?);
            }
        }
    }
    let (tool, builtin) = (median(&tools), median(&builtins));
    let ratio = builtin / tool;
    let within = (ratio - 1.0).abs() <= TOLERANCE;
    println!(
        "{:<10} {:<20} tool {tool:>12.3} {unit:<8} builtin {builtin:>12.3} {unit:<8} ratio \
         {ratio:.3}  {}",
        case.tool,
        case.label,
        if within {
            "within 15 %"
        } else {
            "NOT within 15 %"
        },
        unit = case.unit,
    );
    Ok(within)
}

fn main() -> ExitCode {
    let mut rounds = ROUNDS;
    let mut names: Vec<String> = Vec::new();
    // `cargo bench` adds `--bench`.
    let mut args = env::args().skip(1).filter(|arg| arg != "--bench");
    while let Some(arg) = args.next() {
        if arg != "--rounds" {
            names.push(arg);
            continue;
        }
        match args.next().and_then(|n| n.parse().ok()) {
            Some(n) if n > 0 => rounds = n,
            _ => {
                eprintln!("--rounds takes a whole number > 0");
                return ExitCode::from(2);
            }
        }
    }
    println!("medians of {rounds} runs each, interleaved");
    let mut good = true;
    for case in CASES {
        if !names.is_empty() && !names.iter().any(|name| name == case.tool) {
            continue;
        }
        let Some(tool) = in_path(case.tool) else {
            println!("{:<10} {:<20} tool not installed", case.tool, case.label);
            continue;
        };
        match compare(case, &tool, rounds) {
            Ok(within) => good &= within,
            Err(err) => {
                println!("{:<10} {:<20} failed: {err}", case.tool, case.label);
                good = false;
            }
        }
    }
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
