//! Rules as tests: `cargo xtask tidy | gen [--check]`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

mod deps;
mod generate;
mod tidy;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .map(Path::to_path_buf)
        .unwrap_or_default()
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["tidy"] => tidy::check(&root()).and_then(|()| generate::check(&root())),
        ["gen"] => generate::write(&root()),
        ["gen", "--check"] => generate::check(&root()),
        _ => {
            eprintln!("usage: cargo xtask tidy | gen [--check]");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
