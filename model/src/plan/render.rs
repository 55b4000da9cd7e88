//! A plan for people: what is compared, every step with host, command, group, CPUs, deadline and
//! estimate, and what it comes to.

use std::fmt::Write as _;

use crate::host::KnobTarget;
use crate::playbook::Origin;
use crate::workload::{Command, Program};

use super::types::{
    ArmChange, CgroupTree, CpuMax, Order, Plan, Restore, RunStep, Step, StepAction,
};

/// What to print beside the steps.
#[derive(Clone, Debug, Default)]
pub struct RenderOptions<'a> {
    /// Where values come from; empty: not printed.
    pub origins: &'a [Origin],
    /// Leave the list of steps out.
    pub summary_only: bool,
}

/// The plan as text.
pub fn to_text(plan: &Plan, options: &RenderOptions<'_>) -> String {
    let mut out = String::new();
    head(plan, &mut out);
    cells(plan, &mut out);
    if !options.origins.is_empty() {
        out.push_str("\norigins\n");
        for o in options.origins {
            let at = if o.line > 0 {
                format!("{}:{}", o.file, o.line)
            } else {
                o.file.clone()
            };
            let _ = writeln!(out, "  {:<40} {:<24} {at}", o.path, o.value);
        }
    }
    if !plan.notes.is_empty() {
        out.push_str("\nnotes\n");
        for note in &plan.notes {
            let _ = writeln!(out, "  - {note}");
        }
    }
    if !options.summary_only {
        out.push_str("\nsteps\n");
        for step in &plan.steps {
            render_step(step, &mut out);
        }
    }
    totals(plan, &mut out);
    out
}

fn head(plan: &Plan, out: &mut String) {
    let _ = writeln!(out, "{}", plan.title);
    let _ = writeln!(out, "plan {}  seed {}", &plan.hash()[..16], plan.seed);
    out.push_str("\nhosts\n");
    for host in &plan.hosts {
        let _ = writeln!(out, "  {:<12} {}", host.role, host.host);
    }
    out.push_str("\narms\n");
    for (i, arm) in plan.arms.iter().enumerate() {
        let mut words: Vec<String> = arm.changes.iter().map(change_text).collect();
        if let Some(profile) = &arm.model.profile {
            words.push(format!("model {profile}"));
        }
        words.extend(arm.model.patches.iter().map(|p| format!("model patch {p}")));
        if words.is_empty() {
            words.push("as the machine is".into());
        }
        let base = if i == 0 { " (base)" } else { "" };
        let _ = writeln!(out, "  {:<12} {}{base}", arm.id, words.join(", "));
    }
    if !plan.prepare.is_empty() {
        out.push_str("\nprepare\n");
        for knob in &plan.prepare {
            let required = if knob.required { " (required)" } else { "" };
            let _ = writeln!(out, "  {}{required}", knob_text(&knob.target));
        }
    }
    if let Some(tree) = &plan.cgroups {
        let _ = writeln!(out, "\ncgroups: {}", tree_text(tree));
    }
}

fn cells(plan: &Plan, out: &mut String) {
    let repeat = &plan.repeat;
    let order = match repeat.order {
        Order::Interleaved => "interleaved (A B B A)",
        Order::RandomBlocks => "random blocks",
        Order::Sequential => "arm after arm",
    };
    let until = repeat
        .until_ci
        .map_or(String::new(), |ci| format!(", until ci <= {}%", ci * 100.0));
    let _ = writeln!(
        out,
        "\nrepeat: {} to {} times{until}, {order}, {} warm-up, {} boot{}",
        repeat.min,
        repeat.max,
        repeat.warmup,
        repeat.boots,
        if repeat.boots == 1 { "" } else { "s" }
    );
    let judge = &plan.judge;
    let _ = writeln!(
        out,
        "judge: assume {}, alpha {}, smallest effect {}%, correction {}",
        judge.assume,
        judge.alpha,
        judge.min_effect * 100.0,
        judge.correct
    );
    let restore = match plan.restore {
        Restore::Always => "always",
        Restore::OnSuccess => "on success",
        Restore::Never => "never",
    };
    let failure = if plan.continue_on_failure {
        "continue"
    } else {
        "stop"
    };
    let _ = writeln!(
        out,
        "on failure: {failure}; restore: {restore}; simulator seeds: {}",
        plan.simulate_seeds
    );
    let _ = writeln!(out, "\ncells ({})", plan.cells.len());
    for cell in &plan.cells {
        let params: Vec<String> = cell
            .params
            .0
            .iter()
            .map(|(k, v)| format!("{k}={v}"))
            .collect();
        let _ = writeln!(
            out,
            "  {}: {} ({}) {}",
            cell.id,
            cell.workload,
            format!("{:?}", cell.implementation).to_lowercase(),
            params.join(" ")
        );
    }
}

/// A way in which an arm differs, in a few words.
pub fn change_text(change: &ArmChange) -> String {
    match change {
        ArmChange::Kernel(pattern) => format!("kernel {pattern}"),
        ArmChange::Boot(words) => format!("boot {words}"),
        ArmChange::Knob(knob) => knob_text(&knob.target),
        ArmChange::Affinity(cpus) => format!("CPUs {cpus}"),
    }
}

/// A setting, in a few words.
pub fn knob_text(target: &KnobTarget) -> String {
    let switch = |on: &bool| if *on { "on" } else { "off" };
    match target {
        KnobTarget::CpufreqGovernor(v) => format!("cpufreq governor {v}"),
        KnobTarget::CpufreqMinKhz(v) => format!("cpufreq min {v} kHz"),
        KnobTarget::CpufreqMaxKhz(v) => format!("cpufreq max {v} kHz"),
        KnobTarget::CpufreqBoost(on) => format!("cpufreq boost {}", switch(on)),
        KnobTarget::CpufreqEpp(v) => format!("cpufreq epp {v}"),
        KnobTarget::CpuidleDisableAll => "cpuidle disable all".into(),
        KnobTarget::CpuidleDisableState(v) => format!("cpuidle disable {v}"),
        KnobTarget::CpuidleMaxLatencyUs(v) => format!("cpuidle max latency {v} us"),
        KnobTarget::DmaLatencyUs(v) => format!("cpu_dma_latency {v} us"),
        KnobTarget::Smt(on) => format!("smt {}", switch(on)),
        KnobTarget::Offline(cpus) => format!("offline CPUs {cpus}"),
        KnobTarget::Sysctl { name, value } => format!("sysctl {name}={value}"),
        KnobTarget::SchedFeature(v) => format!("sched_features {v}"),
        KnobTarget::SchedDebug { file, value } => format!("sched debug {file}={value}"),
        KnobTarget::Thp(v) => format!("thp {v}"),
        KnobTarget::IrqAffinity(cpus) => format!("irq affinity {cpus}"),
    }
}

fn tree_text(tree: &CgroupTree) -> String {
    let leaves = tree
        .groups
        .iter()
        .filter(|g| !tree.groups.iter().any(|o| is_below(&o.path, &g.path)))
        .count();
    let limits: std::collections::BTreeSet<String> = tree
        .groups
        .iter()
        .filter_map(|g| g.cpu_max.as_ref().map(cpu_max_text))
        .collect();
    let limits = if limits.is_empty() {
        "no cpu.max".to_owned()
    } else {
        format!(
            "cpu.max {}",
            limits.into_iter().collect::<Vec<_>>().join(", ")
        )
    };
    format!(
        "{} groups, {leaves} leaves, {limits}, controllers {}",
        tree.groups.len(),
        tree.controllers.join(" ")
    )
}

fn is_below(path: &str, parent: &str) -> bool {
    path.strip_prefix(parent)
        .is_some_and(|rest| rest.starts_with('/'))
}

fn cpu_max_text(max: &CpuMax) -> String {
    let quota = max.quota_us.map_or("max".to_owned(), |q| q.to_string());
    let burst = max
        .burst_us
        .map_or(String::new(), |b| format!(" burst {b}"));
    format!("{quota} {}{burst}", max.period_us)
}

/// A command as it would be typed.
pub fn command_text(command: &Command) -> String {
    let program = match &command.program {
        Program::Tool(name) => name.clone(),
        Program::Builtin(name) => format!("schedrig-agent builtin {name}"),
    };
    let quoted = |arg: &String| {
        if arg.is_empty() || arg.contains(|c: char| c.is_whitespace() || "'\"$`\\".contains(c)) {
            format!("'{}'", arg.replace('\'', "'\\''"))
        } else {
            arg.clone()
        }
    };
    std::iter::once(program)
        .chain(command.args.iter().map(quoted))
        .collect::<Vec<_>>()
        .join(" ")
}

fn render_step(step: &Step, out: &mut String) {
    let _ = write!(
        out,
        "{:>6}  {:<12} {:>8} {:>8}  ",
        step.id.0,
        step.host.as_str(),
        time_text(step.estimate_ms),
        time_text(step.deadline_ms)
    );
    match &step.action {
        StepAction::Prepare(knobs) => {
            let _ = writeln!(out, "prepare: {} settings", knobs.len());
        }
        StepAction::MakeCgroups(tree) => {
            let _ = writeln!(out, "make cgroups: {}", tree_text(tree));
        }
        StepAction::EnterArm { arm, .. } => {
            let _ = writeln!(out, "enter arm {arm}");
        }
        StepAction::Run(run) => render_run(run, out),
        StepAction::Reboot => out.push_str("reboot\n"),
        StepAction::RemoveCgroups => out.push_str("remove cgroups\n"),
        StepAction::Restore => out.push_str("restore settings\n"),
    }
}

fn render_run(run: &RunStep, out: &mut String) {
    let kind = if run.warmup { "warm-up" } else { "repetition" };
    let barrier = run
        .barrier
        .map_or(String::new(), |b| format!(" barrier {b}"));
    let _ = writeln!(
        out,
        "run {} arm {} {kind} {} boot {}{barrier}: {} cop{}",
        run.cell,
        run.arm,
        run.repetition,
        run.boot,
        run.instances.len(),
        if run.instances.len() == 1 { "y" } else { "ies" }
    );
    const SHOWN: usize = 4;
    for instance in run.instances.iter().take(SHOWN) {
        let cpus = instance
            .cpus
            .as_ref()
            .map_or("all".to_owned(), ToString::to_string);
        let group = instance
            .cgroup
            .as_ref()
            .map_or(String::new(), |g| format!(" in {g}"));
        let _ = writeln!(
            out,
            "{:>40}{} [CPUs {cpus}{group}]",
            "",
            command_text(&instance.command)
        );
        if let Some(server) = &instance.command.server {
            let on = instance
                .server_host
                .as_ref()
                .map_or("the same host".to_owned(), ToString::to_string);
            let program = match &server.program {
                Program::Tool(name) | Program::Builtin(name) => name,
            };
            let _ = writeln!(
                out,
                "{:>42}server on {on}: {program} {}",
                "",
                server.args.join(" ")
            );
        }
    }
    if run.instances.len() > SHOWN {
        let _ = writeln!(out, "{:>40}... {} more", "", run.instances.len() - SHOWN);
    }
}

fn totals(plan: &Plan, out: &mut String) {
    let samples = plan.cells.len() * plan.arms.len();
    let total = plan.estimate_ms();
    let _ = writeln!(
        out,
        "\n{} cells x {} arms, {} repetitions in {} steps, at most about {} ({:.1} h){}",
        plan.cells.len(),
        plan.arms.len(),
        plan.runs(),
        plan.steps.len(),
        time_text(total),
        total as f64 / 3_600_000.0,
        if plan.repeat.until_ci.is_some() && samples > 0 {
            "; less where the precision is reached early"
        } else {
            ""
        }
    );
}

/// A time, short: `350ms`, `12s`, `5m40s`, `3h12m`.
pub fn time_text(ms: u64) -> String {
    let s = ms / 1_000;
    match ms {
        0..1_000 => format!("{ms}ms"),
        1_000..120_000 => format!("{s}s"),
        120_000..7_200_000 => format!("{}m{:02}s", s / 60, s % 60),
        _ => format!("{}h{:02}m", s / 3600, s / 60 % 60),
    }
}
