//! Every key of the language: what it takes, its default, what it does.

use super::phrases::{
    AFFINITY, AMOUNT, BOUND, CPU_MAX, CPUS, FREQUENCY, MEMORY, PLACE, SHARE, TIME, UNTIL,
};
use super::shape::{KeyDef, MapDef, NamesDef, Shape, key};

const TEXTS: Shape = Shape::List(&Shape::Text);

/// Things that are read at the edges of each repetition.
pub(super) const COLLECTORS: &[&str] = &[
    "schedstat",
    "cpu.stat",
    "psi",
    "proc-sched",
    "stat",
    "interrupts",
    "perf-stat",
    "perf-profile",
    "turbostat",
];

/// Implementations of a workload.
pub(super) const IMPLS: &[&str] = &["tool", "builtin", "auto"];

/// The whole document.
pub(super) static PLAYBOOK: MapDef = MapDef {
    name: "playbook",
    doc: "One document: what is compared, on which machines, doing what, how often.",
    keys: &[
        key("playbook", Shape::Count(1, 1), "version of the language").required(),
        key("title", Shape::Text, "one line for lists and tables").required(),
        key("description", Shape::Text, "what the experiment is for, where it comes from"),
        key("reference", Shape::Text, "id of the published results it repeats"),
        key("extends", TEXTS, "playbooks that this one changes: they are read first"),
        key("include", TEXTS, "parts kept in files of their own: read after `extends`, before this file"),
        key("params", Shape::Names(&PARAMS), "values to use elsewhere as `${name}`; `--set name=value` changes them"),
        key("hosts", Shape::Names(&HOSTS), "the machines by role").default("one role, `sut`"),
        key("arms", Shape::Names(&ARMS), "what is compared; the first is the base").default("one arm, `base`"),
        key("prepare", Shape::Map(&PREPARE), "held while measuring, put back afterwards"),
        key("cgroups", Shape::Map(&CGROUPS), "the tree of groups that workloads are placed in"),
        key("impl", Shape::Word(IMPLS), "for workloads that do not say: the installed program, schedrig's own, or the program where it is installed").default("tool"),
        key("workloads", Shape::Names(&WORKLOADS), "what is run").required(),
        key("repeat", Shape::Map(&REPEAT), "how often, until when, in which order"),
        key("collect", Shape::List(&Shape::Word(COLLECTORS)), "what is read at the edges of each repetition").default("[]"),
        key("judge", Shape::Map(&JUDGE), "how verdicts are reached"),
        key("simulate", Shape::Either(&Shape::Word(&["off"]), &Shape::Map(&SIMULATE)), "the simulator's part"),
        key("on_failure", Shape::Word(&["continue", "stop"]), "after a cell has failed: go on with the others, or stop").default("continue"),
        key("restore", Shape::Word(&["always", "on-success", "never"]), "when the machine's settings are put back").default("always"),
        key("timeout", TIME, "the whole run is ended after this time; restoring has a time of its own"),
    ],
};

static PARAMS: NamesDef = NamesDef {
    of: "parameters",
    shape: Shape::Text,
    dotted: false,
};

static HOSTS: NamesDef = NamesDef {
    of: "roles",
    shape: Shape::Map(&HOST),
    dotted: false,
};

/// A role.
pub(super) static HOST: MapDef = MapDef {
    name: "host",
    doc: "A role that a machine plays; bound by `--on ROLE=HOST`, or the only machine there is.",
    keys: &[
        key(
            "require",
            Shape::Map(&REQUIRE),
            "what the machine must have",
        ),
        key(
            "count",
            Shape::Count(1, 1000),
            "so many machines play the role: ROLE-1, ROLE-2, ...",
        )
        .default("1"),
        key(
            "describe",
            Shape::Text,
            "the machine the role was written for",
        ),
    ],
};

static REQUIRE: MapDef = MapDef {
    name: "require",
    doc: "What a machine must have. Checked when the plan is made, where it is known.",
    keys: &[
        key("cpus", BOUND, "allowed CPUs"),
        key("cores", BOUND, "cores"),
        key("llcs", BOUND, "last-level caches"),
        key("nodes", BOUND, "NUMA nodes that have CPUs"),
        key("packages", BOUND, "packages"),
        key("clusters", BOUND, "clusters of cores that share an L2"),
        key("smt", Shape::Switch, "several threads a core"),
        key("memory", MEMORY, "memory"),
        key(
            "kernel",
            Shape::Text,
            "a pattern of the kernel's release, such as `6.17.*`",
        ),
        key("arch", Shape::Text, "as `uname -m` says it"),
        key(
            "vendor",
            Shape::Text,
            "as the CPU says it, such as `AuthenticAMD`",
        ),
        key("cgroup", TEXTS, "controllers of cgroup v2"),
        key("tools", TEXTS, "installed programs"),
        key("root", Shape::Switch, "the agent runs as root"),
    ],
};

static ARMS: NamesDef = NamesDef {
    of: "arms",
    shape: Shape::Map(&ARM),
    dotted: false,
};

/// An arm.
pub(super) static ARM: MapDef = MapDef {
    name: "arm",
    doc: "One of the configurations compared: the ways in which it differs from the others.",
    keys: &[
        key(
            "kernel",
            Shape::Text,
            "a pattern of the kernel's release, such as `6.17.*`; booted where it is not running",
        ),
        key(
            "boot",
            Shape::Text,
            "words of the kernel command line, such as `relax_domain_level=4`",
        ),
        key(
            "sched_features",
            TEXTS,
            "scheduler features, such as `NO_PLACE_LAG`",
        ),
        key(
            "sched_debug",
            Shape::Names(&SCHED_DEBUG),
            "files below /sys/kernel/debug/sched",
        ),
        key("sysctl", Shape::Names(&SYSCTLS), "sysctls by dotted name"),
        key("cpufreq", Shape::Map(&CPUFREQ), "frequency settings"),
        key("cpuidle", Shape::Map(&CPUIDLE), "idle states"),
        key("smt", Shape::Switch, "simultaneous multithreading"),
        key(
            "thp",
            Shape::Word(&["always", "madvise", "never"]),
            "transparent huge pages",
        ),
        key("offline", CPUS, "CPUs to take offline"),
        key(
            "affinity",
            Shape::Either(&AFFINITY, &Shape::Map(&AFFINITY_MAP)),
            "the CPUs that workloads may use",
        ),
        key(
            "model",
            Shape::Either(&Shape::Text, &Shape::Map(&MODEL)),
            "what the simulator takes for it: a profile such as `v6.17`, or profile and patches",
        ),
        key("on", TEXTS, "roles it applies to").default("every role"),
    ],
};

static AFFINITY_MAP: MapDef = MapDef {
    name: "affinity",
    doc: "CPUs by number.",
    keys: &[key("cpus", CPUS, "the list").required()],
};

static MODEL: MapDef = MapDef {
    name: "model",
    doc: "The kernel of the simulator.",
    keys: &[
        key("profile", Shape::Text, "a kernel profile, such as `v6.17`"),
        key("patches", TEXTS, "patches on it, in order"),
    ],
};

static SYSCTLS: NamesDef = NamesDef {
    of: "sysctls",
    shape: Shape::Text,
    dotted: true,
};

static SCHED_DEBUG: NamesDef = NamesDef {
    of: "files below /sys/kernel/debug/sched",
    shape: Shape::Text,
    dotted: true,
};

const REQUIRED: KeyDef = key(
    "required",
    Shape::Word(&["true", "false"]),
    "a setting that cannot be made is an error, not a gap",
)
.default("false");

/// What is held while measuring.
pub(super) static PREPARE: MapDef = MapDef {
    name: "prepare",
    doc: "Held while measuring, put back afterwards.",
    keys: &[
        key("cpufreq", Shape::Map(&CPUFREQ), "frequency settings"),
        key("cpuidle", Shape::Map(&CPUIDLE), "idle states"),
        key("dma_latency", TIME, "held in /dev/cpu_dma_latency"),
        key("smt", Shape::Switch, "simultaneous multithreading"),
        key("offline", CPUS, "CPUs to take offline"),
        key("sysctl", Shape::Names(&SYSCTLS), "sysctls by dotted name"),
        key(
            "sched_features",
            TEXTS,
            "scheduler features, such as `NO_PLACE_LAG`",
        ),
        key(
            "sched_debug",
            Shape::Names(&SCHED_DEBUG),
            "files below /sys/kernel/debug/sched",
        ),
        key(
            "thp",
            Shape::Word(&["always", "madvise", "never"]),
            "transparent huge pages",
        ),
        key(
            "irq_affinity",
            CPUS,
            "CPUs for every interrupt that can move",
        ),
        REQUIRED,
    ],
};

static CPUFREQ: MapDef = MapDef {
    name: "cpufreq",
    doc: "Frequency settings of every policy.",
    keys: &[
        key("governor", Shape::Text, "`performance`, `schedutil`, ..."),
        key("boost", Shape::Switch, "turbo"),
        key("min", FREQUENCY, "least frequency"),
        key("max", FREQUENCY, "highest frequency"),
        key("epp", Shape::Text, "energy performance preference"),
        REQUIRED,
    ],
};

static CPUIDLE: MapDef = MapDef {
    name: "cpuidle",
    doc: "Idle states of every CPU.",
    keys: &[
        key("disable", TEXTS, "`all` but polling, or states by name"),
        key(
            "max_latency",
            TIME,
            "disable states that take longer to leave",
        ),
        REQUIRED,
    ],
};

/// The groups.
pub(super) static CGROUPS: MapDef = MapDef {
    name: "cgroups",
    doc: "A tree of cgroup v2 groups: `levels` for equal children, `tree` for named ones.",
    keys: &[
        key(
            "levels",
            Shape::List(&Shape::Map(&LEVEL)),
            "children of each parent, top down",
        ),
        key("tree", Shape::Names(&GROUPS), "named groups"),
        key(
            "controllers",
            TEXTS,
            "controllers that inner groups hand down",
        )
        .default("those that the settings need, `cpu` at least"),
    ],
};

static GROUPS: NamesDef = NamesDef {
    of: "groups",
    shape: Shape::Map(&GROUP),
    dotted: true,
};

macro_rules! group_keys {
    ($($own:expr),* $(,)?) => {
        &[
            $($own,)*
            key("cpu.max", Shape::Either(&CPU_MAX, &Shape::Map(&CPU_MAX_MAP)), "CPU time a period"),
            key("cpu.weight", Shape::Count(1, 10_000), "share among siblings; 100 is usual"),
            key("cpu.weight.nice", Shape::Number(-20.0, 19.0), "the same as a nice value"),
            key("cpu.idle", Shape::Count(0, 1), "1: runs only where nothing else wants to"),
            key("cpu.uclamp.min", Shape::Text, "least utilisation, percent or `max`"),
            key("cpu.uclamp.max", Shape::Text, "highest utilisation, percent or `max`"),
            key("cpuset.cpus", CPUS, "CPUs of the group"),
            key("cpuset.mems", CPUS, "NUMA nodes of the group"),
            key("cpuset.cpus.partition", Shape::Word(&["member", "root", "isolated"]), "kind of partition"),
            key("memory.max", Shape::Text, "bytes, or `max`"),
            key("memory.high", Shape::Text, "bytes, or `max`"),
            key("pids.max", Shape::Text, "tasks, or `max`"),
        ]
    };
}

/// A level of equal groups.
pub(super) static LEVEL: MapDef = MapDef {
    name: "level",
    doc: "Equal children of each group of the level above.",
    keys: group_keys![key("count", Shape::Count(1, 100_000), "children of each parent").required()],
};

/// A named group.
pub(super) static GROUP: MapDef = MapDef {
    name: "group",
    doc: "A named group.",
    keys: group_keys![key("children", Shape::Names(&GROUPS), "groups below")],
};

/// `cpu.max` in full.
pub(super) static CPU_MAX_MAP: MapDef = MapDef {
    name: "cpu.max",
    doc: "CPU time a period.",
    keys: &[
        key(
            "quota",
            Shape::Text,
            "`50 cpus`, `50% cpus`, `max`, or a time such as `50 ms`",
        )
        .required(),
        key("period", TIME, "from 1 ms to 1 s").default("100 ms"),
        key(
            "burst",
            TIME,
            "unused quota that may be kept, at most the quota",
        ),
    ],
};

static WORKLOADS: NamesDef = NamesDef {
    of: "workload entries",
    shape: Shape::Workload,
    dotted: true,
};

/// What an entry takes beside its workload.
pub(super) static ENTRY: MapDef = MapDef {
    name: "workload entry",
    doc: "A workload with its parameters: exactly one key names the workload.",
    keys: &[
        key("in", PLACE, "where its copies run").default("root"),
        key("on", TEXTS, "roles that run it, each for itself").default("the first role"),
        key("server", Shape::Text, "role that runs the server part").default("beside the client"),
        key(
            "client",
            Shape::Text,
            "role that runs the client part: as `on`, started at one barrier where several machines play it",
        ),
        key("instances", AMOUNT, "copies in each place").default("1"),
        key(
            "impl",
            Shape::Word(IMPLS),
            "the installed program, schedrig's own, or the program where it is installed",
        )
        .default("that of the playbook"),
        key(
            "matrix",
            Shape::Map(&MATRIX),
            "parameters that take several values",
        ),
        key("timeout", TIME, "a repetition is ended after this time").default("that of `repeat`"),
        key("describe", Shape::Text, "what it stands for"),
    ],
};

/// The matrix of an entry.
pub(super) static MATRIX: MapDef = MapDef {
    name: "matrix",
    doc: "Cells of an entry: lists of values by parameter (`instances` and `in` count as parameters).",
    keys: &[
        key("product", Shape::Open, "every combination"),
        key(
            "zip",
            Shape::Open,
            "first with first, second with second: lists of one length",
        ),
        key(
            "exclude",
            Shape::List(&Shape::Open),
            "combinations to leave out: maps of parameter and value",
        ),
        key(
            "cap",
            Shape::Count(1, 100_000),
            "refuse more cells than this",
        )
        .default("10000"),
    ],
};

/// Repetitions.
pub(super) static REPEAT: MapDef = MapDef {
    name: "repeat",
    doc: "How often, until when, in which order.",
    keys: &[
        key("min", Shape::Count(1, 100_000), "at least this often an arm and cell").default("5"),
        key("max", Shape::Count(1, 100_000), "at most this often").default("`min`; four times `min` with `until`"),
        key("until", UNTIL, "stop a cell early when the confidence interval of its metric is this narrow in every arm"),
        key("boots", Shape::Count(1, 1000), "blocks of repetitions with a reboot between them").default("1"),
        key("order", Shape::Word(&["interleaved", "random-blocks", "sequential"]), "interleaved: A B B A; random-blocks: shuffled within each repetition; sequential: arm after arm").default("interleaved"),
        key("warmup", Shape::Count(0, 1000), "unrecorded repetitions first").default("0"),
        key("timeout", TIME, "a repetition is ended after this time").default("three times its estimate and a minute; 10 min where that is unknown"),
    ],
};

/// Verdicts.
pub(super) static JUDGE: MapDef = MapDef {
    name: "judge",
    doc: "How verdicts are reached.",
    keys: &[
        key(
            "assume",
            Shape::Word(&["nothing", "normal"]),
            "nothing: medians and rank tests; normal: means and t",
        )
        .default("nothing"),
        key(
            "alpha",
            Shape::Number(0.000_001, 0.5),
            "level of significance",
        )
        .default("0.05"),
        key("min_effect", SHARE, "smaller differences are no change").default("1%"),
        key(
            "correct",
            Shape::Word(&["holm", "none"]),
            "correction for many comparisons",
        )
        .default("holm"),
    ],
};

/// The simulator's part.
pub(super) static SIMULATE: MapDef = MapDef {
    name: "simulate",
    doc: "The simulator's part.",
    keys: &[key(
        "seeds",
        Shape::Count(0, 10_000),
        "simulated repetitions an arm and cell; 0: not simulated",
    )
    .default("8")],
};

/// Every map of the language, in the order of the reference.
pub(super) static MAPS: &[&MapDef] = &[
    &PLAYBOOK,
    &HOST,
    &REQUIRE,
    &ARM,
    &MODEL,
    &PREPARE,
    &CPUFREQ,
    &CPUIDLE,
    &CGROUPS,
    &LEVEL,
    &GROUP,
    &CPU_MAX_MAP,
    &ENTRY,
    &MATRIX,
    &REPEAT,
    &JUDGE,
    &SIMULATE,
];
