//! The machines a plan is made for.

use std::collections::BTreeMap;

use crate::cpuset::CpuSet;
use crate::host::HostFacts;
use crate::id::HostId;
use crate::playbook::Part;
use crate::topology::Topology;
use crate::workload::Limits;

/// A machine as far as it is known.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The name it enrolled with.
    pub host: HostId,
    /// Its shape.
    pub topology: Topology,
    /// What its agent says of it; `None` for a machine that is only described (simulated).
    pub facts: Option<HostFacts>,
    /// Installed programs; `None`: not known, and not asked about.
    pub tools: Option<Vec<String>>,
    /// What it allows; unknown limits are checked by the agent before a run.
    pub limits: Limits,
}

impl Machine {
    /// A machine of which only the shape is known: for the simulator.
    pub fn described(host: &str, topology: Topology) -> Self {
        Machine {
            host: HostId::from(host),
            topology,
            facts: None,
            tools: None,
            limits: Limits::default(),
        }
    }

    /// A machine as its agent describes it.
    pub fn from_facts(host: &str, facts: HostFacts) -> Self {
        Machine {
            host: HostId::from(host),
            topology: facts.topology.clone(),
            tools: Some(facts.tools.iter().map(|t| t.name.clone()).collect()),
            limits: facts.limits.clone().unwrap_or_default(),
            facts: Some(facts),
        }
    }

    /// Whether a program is installed; `None` where that is not known.
    pub fn has_tool(&self, program: &str) -> Option<bool> {
        self.tools
            .as_ref()
            .map(|tools| tools.iter().any(|t| t == program))
    }
}

/// Which machine plays which role. A role with a count has a machine for each of its names
/// (`client-1`, `client-2`).
#[derive(Clone, Debug, Default)]
pub struct Inventory {
    /// By role.
    pub machines: BTreeMap<String, Machine>,
}

impl Inventory {
    /// One machine in one role.
    pub fn of(role: &str, machine: Machine) -> Self {
        Inventory {
            machines: BTreeMap::from([(role.to_owned(), machine)]),
        }
    }

    /// The same machine in every role of a playbook.
    pub fn everywhere<'a>(roles: impl IntoIterator<Item = &'a str>, machine: &Machine) -> Self {
        Inventory {
            machines: roles
                .into_iter()
                .map(|r| (r.to_owned(), machine.clone()))
                .collect(),
        }
    }
}

/// The parts of a machine that this process may use: nothing here names a CPU that is not allowed.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub(super) cpus: CpuSet,
    pub(super) cores: Vec<CpuSet>,
    pub(super) clusters: Vec<CpuSet>,
    pub(super) llcs: Vec<CpuSet>,
    /// With the kernel's number.
    pub(super) nodes: Vec<(u32, CpuSet)>,
    pub(super) packages: Vec<CpuSet>,
    /// Threads of the widest core.
    pub(super) smt_width: usize,
}

impl Parts {
    pub(super) fn of(topology: &Topology) -> Self {
        let cpus = topology.usable();
        let within = |set: &CpuSet| {
            let set = set.intersection(&cpus);
            (!set.is_empty()).then_some(set)
        };
        Parts {
            cores: topology
                .cores
                .iter()
                .filter_map(|c| within(&c.cpus))
                .collect(),
            clusters: topology
                .clusters()
                .iter()
                .filter_map(|set| within(set))
                .collect(),
            llcs: topology
                .llcs()
                .iter()
                .filter_map(|c| within(&c.cpus))
                .collect(),
            nodes: topology
                .nodes
                .iter()
                .filter_map(|n| within(&n.cpus).map(|set| (n.id.0, set)))
                .collect(),
            packages: topology
                .packages
                .iter()
                .filter_map(|p| within(&p.cpus))
                .collect(),
            smt_width: topology.smt_width(),
            cpus,
        }
    }

    /// How many of a part there are; 0 where the machine has or knows none.
    pub(super) fn count(&self, part: Part) -> u64 {
        let n = match part {
            Part::Cpus => self.cpus.len(),
            _ => self.sets(part).len(),
        };
        n as u64
    }

    /// The CPUs of each part.
    pub(super) fn sets(&self, part: Part) -> Vec<CpuSet> {
        match part {
            Part::Cpus => self.cpus.iter().map(|c| CpuSet::range(c.0, c.0)).collect(),
            Part::Cores => self.cores.clone(),
            Part::Clusters => self.clusters.clone(),
            Part::Llcs => self.llcs.clone(),
            Part::Nodes => self.nodes.iter().map(|(_, set)| set.clone()).collect(),
            Part::Packages => self.packages.clone(),
        }
    }

    /// A part by its number: the kernel's for CPUs and nodes, the place in the order of first CPUs
    /// for the others.
    pub(super) fn numbered(&self, part: Part, number: u32) -> Option<CpuSet> {
        match part {
            Part::Cpus => {
                let one = CpuSet::range(number, number);
                one.is_subset(&self.cpus).then_some(one)
            }
            Part::Nodes => self
                .nodes
                .iter()
                .find(|(id, _)| *id == number)
                .map(|(_, s)| s.clone()),
            _ => self
                .sets(part)
                .into_iter()
                .nth(usize::try_from(number).ok()?),
        }
    }
}

/// What a reader should know of a machine before reading a plan for it.
pub(super) fn notes(machine: &Machine, parts: &Parts) -> Vec<String> {
    let host = &machine.host;
    let online = machine.topology.online();
    let mut notes = Vec::new();
    let present = machine.topology.present.len().max(online.len());
    if parts.cpus.len() < present {
        let mut text = format!(
            "{host}: allowed {} of {present} CPUs ({})",
            parts.cpus.len(),
            parts.cpus
        );
        for level in machine
            .topology
            .partial
            .iter()
            .filter(|l| l.name.starts_with('L'))
        {
            let (have, all) = (level.usable.len(), level.all.len());
            text.push_str(&format!("; {} partly ({have} of {all})", level.name));
        }
        if machine.topology.partial.is_empty() {
            text.push_str(&partly(machine, parts));
        }
        notes.push(text);
    }
    if !online.is_empty() && !online.contains(crate::id::CpuId(0)) {
        notes.push(format!("{host}: CPU0 offline"));
    }
    let memory_only = machine
        .topology
        .nodes
        .iter()
        .filter(|n| n.cpus.is_empty())
        .count();
    if memory_only > 0 {
        notes.push(format!(
            "{host}: {} NUMA nodes with CPUs, {memory_only} of memory alone: nothing is placed on those",
            parts.nodes.len()
        ));
    }
    notes
}

/// Last-level caches of which only some CPUs are allowed, where the topology does not list them.
fn partly(machine: &Machine, parts: &Parts) -> String {
    let llcs = machine.topology.llcs();
    llcs.iter()
        .enumerate()
        .filter_map(|(i, llc)| {
            let have = llc.cpus.intersection(&parts.cpus).len();
            let all = llc.cpus.len();
            (have > 0 && have < all)
                .then(|| format!("; L{} #{i} partly ({have} of {all})", llc.level))
        })
        .collect()
}
