//! `schedrig compare RUN [RUN ...]`.

use schedrig_stats::render::Style;

use super::paths::StoreArg;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::report::{CompareOptions, Format, Judged, compare_records};
use crate::store::Store;

/// Flags of `compare`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct CompareArgs {
    /// Runs: their names, the beginnings of them, or `latest`
    #[arg(required = true)]
    pub runs: Vec<String>,
    /// The arm the others are compared with [default: the first]
    #[arg(long, value_name = "ARM")]
    pub base: Option<String>,
    /// schedrig, lkml, lkp, mmtests or benchstat
    #[arg(long, default_value = "schedrig")]
    pub style: String,
    /// text, md, csv, json, junit or html
    #[arg(long, default_value = "text")]
    pub format: String,
    /// The same as --format json
    #[arg(long)]
    pub json: bool,
    /// Every metric, not only the primary ones
    #[arg(long)]
    pub all_metrics: bool,
    /// Exit with 1 where a row regressed, with 3 where it cannot be told
    #[arg(long)]
    pub judge: bool,
    #[command(flatten)]
    store: StoreArg,
}

/// Prints the comparison.
pub(super) fn run(args: CompareArgs) -> Result<Exit, CommandError> {
    let word = if args.json {
        "json"
    } else {
        args.format.as_str()
    };
    let format = Format::from_word(word).ok_or_else(|| {
        let known: Vec<&str> = Format::ALL.iter().map(|f| f.word()).collect();
        CommandError::usage(format!(
            "unknown format `{word}` (known: {})",
            known.join(", ")
        ))
    })?;
    let style = Style::from_word(&args.style).ok_or_else(|| {
        let known: Vec<&str> = Style::ALL.iter().map(|s| s.word()).collect();
        CommandError::usage(format!(
            "unknown style `{}` (known: {})",
            args.style,
            known.join(", ")
        ))
    })?;
    let store = args.store.open()?;
    let mut records = Vec::new();
    for name in &args.runs {
        let run = store.find(name).map_err(|e| CommandError::failed(&e))?;
        records.push(store.load(&run).map_err(|e| CommandError::failed(&e))?);
        records.extend(expected_of(store.as_ref(), &run)?);
    }
    let options = CompareOptions {
        base: args.base,
        style,
        format,
        all_metrics: args.all_metrics,
        ..CompareOptions::default()
    };
    let compared = compare_records(&records, &options)
        .map_err(|e| CommandError::usage(crate::error::chain(&e)))?;
    println!("{}", compared.text.trim_end());
    Ok(match (args.judge, compared.judged) {
        (true, Judged::Regressed) => Exit::Regressed,
        (true, Judged::CannotTell) => Exit::CannotTell,
        _ => Exit::Done,
    })
}

/// What the simulator expected of a run, where it was asked.
pub(super) fn expected_of(
    store: &dyn Store,
    run: &schedrig_model::RunId,
) -> Result<Option<schedrig_model::record::RunRecord>, CommandError> {
    use crate::store::StoreError;
    match store.load(&schedrig_model::RunId(format!("{run}-expected"))) {
        Ok(record) => Ok(Some(record)),
        Err(StoreError::NoSuchRun(_)) => Ok(None),
        Err(error) => Err(CommandError::failed(&error)),
    }
}
