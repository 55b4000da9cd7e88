//! schedrig-agent.

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // The builtin workloads fork: they start before anything makes a thread.
    if let [command, name, rest @ ..] = args.as_slice()
        && command == "builtin"
    {
        std::process::exit(schedrig_agent::builtin::main(name, rest));
    }
    eprintln!("usage: schedrig-agent builtin NAME [flags]");
    std::process::exit(2);
}
