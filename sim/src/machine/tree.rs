//! A machine as the model sees it: CPUs by index, who shares what, what things cost.

use schedrig_model::id::{CpuId, NodeId};

use super::costs::{CacheSizes, Costs};
use crate::cpu::CpuIx;
use crate::mask::CpuMask;
use crate::sourced::Quantity;

/// The most CPUs a machine of the model may have: what x86 kernels are built for (`NR_CPUS` with
/// MAXSMP).
pub const CPUS_MAX: usize = 8192;

/// Where a CPU is: indices into the machine's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuPlace {
    /// Into [`Machine::cores`].
    pub core: u16,
    /// Into [`Machine::clusters`].
    pub cluster: u16,
    /// Into [`Machine::llcs`].
    pub llc: u16,
    /// Into [`Machine::nodes`].
    pub node: u16,
    /// Into [`Machine::packages`].
    pub package: u16,
}

/// A NUMA node with CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The kernel's number.
    pub id: NodeId,
    /// Its CPUs.
    pub cpus: CpuMask,
}

/// How far the owner of a line is from the CPU that wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Distance {
    /// The CPU itself.
    Own,
    /// Same core.
    Smt,
    /// Same L2 cluster.
    Cluster,
    /// Same last-level cache.
    Llc,
    /// Same package.
    Package,
    /// Another package.
    Remote,
}

/// A machine. Every CPU belongs to exactly one core, cluster (CPUs under one L2; its core where the
/// L2 is private), LLC, node and package.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// `genoa-2s`, or the name of the host it was discovered on.
    pub name: String,
    /// `GenuineIntel`, `AuthenticAMD`, ...; `None` where unknown.
    pub vendor: Option<String>,
    /// The CPU's model name, where known.
    pub cpu_model: Option<String>,
    /// Where each CPU is, by index.
    pub cpus: Vec<CpuPlace>,
    /// The kernel's number of each CPU, by index; ascending.
    pub os_cpu: Vec<CpuId>,
    /// SMT siblings.
    pub cores: Vec<CpuMask>,
    /// CPUs that share an L2.
    pub clusters: Vec<CpuMask>,
    /// CPUs that share the last-level cache.
    pub llcs: Vec<CpuMask>,
    /// NUMA nodes with CPUs.
    pub nodes: Vec<Node>,
    /// Packages.
    pub packages: Vec<CpuMask>,
    /// Distances between nodes, row by row, as the firmware states them.
    pub distances: Vec<Vec<u32>>,
    /// Cache sizes.
    pub caches: CacheSizes,
    /// Memory of each node in bytes, where known.
    pub node_bytes: Option<u64>,
    /// What things cost.
    pub costs: Costs,
    /// Every number it was made from, by dotted name: for listing sources and for `--sensitivity`.
    pub numbers: Vec<(String, Quantity)>,
    /// What was filled in or is odd, in words for the reader.
    pub findings: Vec<String>,
}

impl Machine {
    /// How many CPUs.
    pub fn nr_cpus(&self) -> usize {
        self.cpus.len()
    }

    /// The CPUs in index order.
    pub fn all(&self) -> impl Iterator<Item = CpuIx> + use<> {
        (0..self.cpus.len()).map(CpuIx::from_at)
    }

    /// Where a CPU is.
    #[inline]
    pub fn place(&self, cpu: CpuIx) -> CpuPlace {
        self.cpus[cpu.at()]
    }

    /// SMT siblings of a CPU, itself included.
    pub fn siblings(&self, cpu: CpuIx) -> &CpuMask {
        &self.cores[usize::from(self.place(cpu).core)]
    }

    /// CPUs that share a CPU's L2, itself included.
    pub fn cluster(&self, cpu: CpuIx) -> &CpuMask {
        &self.clusters[usize::from(self.place(cpu).cluster)]
    }

    /// CPUs that share a CPU's last-level cache, itself included.
    pub fn llc(&self, cpu: CpuIx) -> &CpuMask {
        &self.llcs[usize::from(self.place(cpu).llc)]
    }

    /// CPUs of a CPU's node.
    pub fn node(&self, cpu: CpuIx) -> &Node {
        &self.nodes[usize::from(self.place(cpu).node)]
    }

    /// CPUs of a CPU's package.
    pub fn package(&self, cpu: CpuIx) -> &CpuMask {
        &self.packages[usize::from(self.place(cpu).package)]
    }

    /// Whether any core has more than one thread.
    pub fn has_smt(&self) -> bool {
        self.cores.iter().any(|core| core.len() > 1)
    }

    /// Whether it is an x86 machine: taken for one where no vendor is known.
    pub fn is_x86(&self) -> bool {
        let vendor = self.vendor.as_deref();
        vendor.is_none_or(|v| {
            [
                "GenuineIntel",
                "AuthenticAMD",
                "HygonGenuine",
                "CentaurHauls",
                "  Shanghai  ",
            ]
            .contains(&v)
        })
    }

    /// The index of a CPU by the kernel's number.
    pub fn by_os(&self, id: CpuId) -> Option<CpuIx> {
        self.os_cpu.binary_search(&id).ok().map(CpuIx::from_at)
    }

    /// How far apart two CPUs are.
    #[inline]
    pub fn distance(&self, a: CpuIx, b: CpuIx) -> Distance {
        let (x, y) = (self.place(a), self.place(b));
        if a == b {
            Distance::Own
        } else if x.core == y.core {
            Distance::Smt
        } else if x.package != y.package {
            Distance::Remote
        } else if x.cluster == y.cluster {
            Distance::Cluster
        } else if x.llc == y.llc {
            Distance::Llc
        } else {
            Distance::Package
        }
    }

    /// What it takes to get a line that `owner` modified, in ns. `home` is the node of the line's
    /// memory. 0 where the CPU owns it already.
    pub fn line_transfer_ns(&self, requester: CpuIx, owner: CpuIx, home: u16) -> u64 {
        let line = &self.costs.line;
        let package = line.package_ns.unwrap_or(line.llc_ns);
        match self.distance(requester, owner) {
            Distance::Own => 0,
            Distance::Smt => line.smt_ns,
            Distance::Cluster => line.cluster_ns.unwrap_or(line.llc_ns),
            Distance::Llc => line.llc_ns,
            Distance::Package if self.is_home_package(requester, home) => package,
            Distance::Package => line.package_far_home_ns.unwrap_or(package),
            Distance::Remote => line.remote_ns.unwrap_or(package),
        }
    }

    fn is_home_package(&self, cpu: CpuIx, node: u16) -> bool {
        let home = self.nodes.get(usize::from(node));
        home.is_none_or(|n| n.cpus.intersects(self.package(cpu)))
    }
}
