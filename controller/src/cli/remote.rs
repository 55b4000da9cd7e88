//! `schedrig run PLAYBOOK --controller ADDR`: dispatch to a running service.

use std::time::Duration;

use camino::Utf8Path;
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};

use schedrig_model::record::RunRecord;
use schedrig_proto::convert::from_document;
use schedrig_proto::v1;
use schedrig_proto::v1::control_client::ControlClient;
use schedrig_proto::v1::run_update::Body;
use schedrig_proto::{MESSAGE_BYTES_MAX, WINDOW_BYTES};

use super::run::{NEWS, RunArgs, compare_and_print, expected, runtime};
use crate::ca::CONTROLLER_NAME;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::progress::{self, Progress, Show};
use crate::session::Wanted;

const CONNECT_MAX: Duration = Duration::from_secs(10);

/// Dispatches, watches, fetches the record, prints the comparison.
pub(super) fn run(args: &RunArgs, address: &str, wanted: Wanted) -> Result<Exit, CommandError> {
    let Some(certs) = &args.certs else {
        return Err(CommandError::usage(
            "--controller needs --certs DIR: the `client` directory that `schedrig serve` made in its data directory",
        ));
    };
    let record = runtime()?.block_on(async {
        let mut client = connect(address, certs).await?;
        let run = submit(&mut client, args, wanted).await?;
        fetch(&mut client, &run).await
    })?;
    let expected = expected(args, &record);
    compare_and_print(args, record, expected)
}

async fn connect(address: &str, certs: &Utf8Path) -> Result<ControlClient<Channel>, CommandError> {
    let read = |name: &str| {
        let path = certs.join(name);
        std::fs::read(&path)
            .map_err(|e| CommandError::usage(format!("failed to read `{path}`: {e}")))
    };
    let tls = ClientTlsConfig::new()
        .ca_certificate(Certificate::from_pem(read("ca.pem")?))
        .identity(Identity::from_pem(read("cert.pem")?, read("key.pem")?))
        .domain_name(CONTROLLER_NAME);
    let bad_address = |_| CommandError::usage(format!("`{address}` is not an address (host:port)"));
    let endpoint = Endpoint::from_shared(format!("https://{address}"))
        .map_err(bad_address)?
        .connect_timeout(CONNECT_MAX)
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .tls_config(tls)
        .map_err(|e| CommandError::failed(&e))?;
    let channel = endpoint.connect().await.map_err(|e| {
        CommandError::failed_text(format!(
            "no controller answers at {address}: {}",
            crate::error::chain(&e)
        ))
    })?;
    Ok(ControlClient::new(channel).max_decoding_message_size(MESSAGE_BYTES_MAX))
}

async fn submit(
    client: &mut ControlClient<Channel>,
    args: &RunArgs,
    wanted: Wanted,
) -> Result<String, CommandError> {
    let request = v1::SubmitRequest {
        playbook_name: wanted.name,
        playbook: wanted.text,
        files: wanted.files.into_iter().collect(),
        on: args.on.clone(),
        set: args.set.clone(),
        seed: args.seed,
        only: args.only.clone(),
    };
    let (news, shown) = mpsc::channel(NEWS);
    let show = if args.quiet {
        Show::Nothing
    } else {
        Show::Auto
    };
    let shower = tokio::spawn(progress::show(shown, show));
    let mut updates = client.submit(request).await.map_err(status)?.into_inner();
    let mut run = None;
    let mut finished = None;
    loop {
        let update = tokio::select! {
            update = updates.next() => update,
            _ = tokio::signal::ctrl_c() => {
                if let Some(run) = run.clone() {
                    eprintln!("interrupted: ending run {run}");
                    client.cancel_run(v1::CancelRunRequest { run }).await.map_err(status)?;
                    continue;
                }
                return Err(CommandError::failed_text("interrupted before the run began"));
            }
        };
        match update.transpose().map_err(status)?.and_then(|u| u.body) {
            Some(Body::Run(name)) => {
                if !args.quiet {
                    eprintln!("run {name}");
                }
                run = Some(name);
            }
            Some(Body::Progress(document)) => {
                if let Ok(line) = from_document::<Progress>("progress", Some(&document)) {
                    let _ = news.try_send(line);
                }
            }
            Some(Body::Finished(name)) => finished = Some(name),
            Some(Body::Refused(refused)) => {
                let exit = if refused.usage {
                    Exit::Usage
                } else {
                    Exit::Failed
                };
                return Err(CommandError {
                    text: refused.text,
                    exit,
                });
            }
            None => break,
        }
    }
    drop(news);
    let _ = shower.await;
    finished.ok_or_else(|| {
        CommandError::failed_text("the controller ended the stream before the run did")
    })
}

async fn fetch(client: &mut ControlClient<Channel>, run: &str) -> Result<RunRecord, CommandError> {
    let request = v1::GetRunRequest {
        run: run.to_owned(),
    };
    let mut chunks = client.get_run(request).await.map_err(status)?.into_inner();
    let mut bytes = Vec::new();
    while let Some(chunk) = chunks.next().await {
        bytes.extend_from_slice(&chunk.map_err(status)?.data);
    }
    serde_json::from_slice(&bytes).map_err(|e| CommandError::failed(&e))
}

fn status(status: tonic::Status) -> CommandError {
    CommandError::failed_text(format!("the controller says: {}", status.message()))
}
