//! Idle states. They are chosen by name or latency: numbers differ between CPUs and machines.

use super::facts::TuneFacts;
use super::plan::{Part, sum_up};
use super::write::{Planned, Write};

const STATE: &str = "sys/devices/system/cpu/cpu#/cpuidle/state#";
const PLACE: &str = "sys/devices/system/cpu/cpu*/cpuidle/state*/disable";
const DMA_LATENCY: &str = "dev/cpu_dma_latency";

/// Which states are disabled.
pub(super) enum Which<'a> {
    AllButPolling,
    Name(&'a str),
    LatencyAbove(u32),
}

pub(super) fn wanted() -> Vec<String> {
    let files = ["name", "latency", "disable"].map(|f| format!("{STATE}/{f}"));
    files.into_iter().chain([DMA_LATENCY.to_owned()]).collect()
}

pub(super) fn disable(facts: &TuneFacts, which: &Which<'_>) -> Part {
    let switches = facts.matching(&format!("{STATE}/disable"));
    if switches.is_empty() {
        let why = "no idle control: this machine has no cpuidle driver".to_owned();
        return (PLACE.into(), None, Planned::NotAvailable(why));
    }
    let beside = |path: &str, file: &str| -> Option<&str> {
        let folder = path.strip_suffix("disable")?;
        facts.text(&format!("{folder}{file}"))
    };
    let chosen = |path: &&&str| match which {
        Which::AllButPolling => beside(path, "name") != Some("POLL"),
        Which::Name(name) => beside(path, "name") == Some(name),
        Which::LatencyAbove(us) => beside(path, "latency")
            .and_then(|l| l.parse().ok())
            .is_some_and(|l: u32| l > *us),
    };
    let chosen: Vec<&str> = switches.iter().filter(chosen).copied().collect();
    let before = sum_up(chosen.iter().map(|p| facts.text(p)));
    if chosen.is_empty() {
        let names = sum_up(switches.iter().map(|p| beside(p, "name"))).unwrap_or_default();
        let planned = match which {
            // Nothing to disable is what was asked.
            Which::AllButPolling | Which::LatencyAbove(_) => {
                Planned::Holds(format!("no such state; there are {names}"))
            }
            Which::Name(name) => {
                Planned::NotAvailable(format!("no idle state named {name}; there are {names}"))
            }
        };
        return (PLACE.into(), before, planned);
    }
    let open = chosen.iter().filter(|p| facts.text(p) != Some("1"));
    let writes: Vec<Write> = open.map(|p| Write::words(*p, "1")).collect();
    let planned = if writes.is_empty() {
        Planned::Holds("1".into())
    } else {
        Planned::Writes(writes)
    };
    (PLACE.into(), before, planned)
}

pub(super) fn dma_latency(facts: &TuneFacts, us: u32) -> Part {
    let planned = if facts.has(DMA_LATENCY) {
        Planned::HoldOpen {
            path: DMA_LATENCY.into(),
            value: i32::try_from(us).unwrap_or(i32::MAX),
        }
    } else {
        Planned::NotAvailable(
            "no /dev/cpu_dma_latency (CONFIG_PM_QOS is off, or a container)".into(),
        )
    };
    (DMA_LATENCY.into(), None, planned)
}
