//! Generated code is checked in; this makes it, or says that it is stale.

use std::path::Path;

use anyhow::{Context, Result, bail};

const SOURCES: &[&str] = &["schedrig/v1/link.proto"];
const GENERATED: &str = "proto/src/gen/schedrig.v1.rs";

fn render(root: &Path) -> Result<String> {
    let include = root.join("proto/proto");
    let descriptors =
        protox::compile(SOURCES, [&include]).context("failed to compile the .proto files")?;
    let out = tempfile::tempdir().context("failed to make a directory for the generated code")?;
    tonic_prost_build::configure()
        .out_dir(out.path())
        .bytes(".")
        .emit_rerun_if_changed(false)
        .compile_fds(descriptors)
        .context("failed to generate code")?;
    let text = std::fs::read_to_string(out.path().join("schedrig.v1.rs"))?;
    Ok(format!(
        "// Made by `cargo xtask gen` from proto/proto; not edited by hand.\n{text}"
    ))
}

pub(crate) fn write(root: &Path) -> Result<()> {
    std::fs::write(root.join(GENERATED), render(root)?)
        .context("failed to write the generated code")
}

pub(crate) fn check(root: &Path) -> Result<()> {
    let committed = std::fs::read_to_string(root.join(GENERATED)).unwrap_or_default();
    if committed != render(root)? {
        bail!("`{GENERATED}` is not what proto/proto gives: run `cargo xtask gen`");
    }
    Ok(())
}
