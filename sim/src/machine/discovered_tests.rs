use schedrig_model::id::CpuId;
use schedrig_model::topology::synthetic;

use super::*;
use crate::cpu::CpuIx;
use crate::kernel::Profile;
use domains::build_sched_domains;

fn discovered(text: &str) -> Machine {
    let topology = synthetic(text).unwrap();
    Machine::from_topology("box", &topology, &CostProfile::shipped("milan-2s").unwrap()).unwrap()
}

fn chain(machine: &Machine) -> Vec<(&'static str, u32)> {
    let profile = Profile::shipped("v6.12").unwrap();
    let domains = build_sched_domains(machine, &profile, None);
    domains
        .of(CpuIx(0))
        .map(|(_, d)| (d.name, d.weight))
        .collect()
}

#[test]
fn a_discovered_topology_has_the_domains_of_its_caches_and_nodes() {
    let machine = discovered("pack:2 [numa] l3:4 core:4 pu:2");
    assert_eq!(machine.nr_cpus(), 64);
    assert_eq!(
        (
            machine.llcs.len(),
            machine.nodes.len(),
            machine.packages.len()
        ),
        (8, 2, 2)
    );
    let expected = [("SMT", 2), ("MC", 8), ("PKG", 32), ("NUMA", 64)];
    assert_eq!(chain(&machine), expected);
}

#[test]
fn a_machine_without_a_known_llc_gets_one_a_node_and_says_so() {
    let machine = discovered("pack:1 [numa] core:4 pu:1");
    assert_eq!(machine.llcs.len(), 1);
    let said = machine
        .findings
        .iter()
        .any(|f| f.contains("last-level cache"));
    assert!(said, "{:?}", machine.findings);
    assert_eq!(chain(&machine), [("MC", 4)]);
}

#[test]
fn offline_cpus_leave_gaps_in_the_numbers_but_not_in_the_indices() {
    let mut topology = synthetic("pack:1 [numa] l3:1 core:4 pu:1").unwrap();
    topology.cpus.retain(|cpu| cpu.id != CpuId(1));
    let costs = CostProfile::shipped("milan-2s").unwrap();
    let machine = Machine::from_topology("box", &topology, &costs).unwrap();
    assert_eq!(machine.os_cpu, [0, 2, 3].map(CpuId));
    assert_eq!(machine.by_os(CpuId(3)), Some(CpuIx(2)));
    assert_eq!(machine.by_os(CpuId(1)), None);
    let all = crate::mask::CpuMask::all(3);
    assert_eq!(machine.os_set(&all).to_string(), "0,2-3");
    assert_eq!(machine.mask_of(&machine.os_set(&all)), all);
}

#[test]
fn a_topology_without_cpus_is_refused() {
    let mut topology = synthetic("pack:1 core:1 pu:1").unwrap();
    topology.cpus.clear();
    let costs = CostProfile::shipped("milan-2s").unwrap();
    let error = Machine::from_topology("box", &topology, &costs).unwrap_err();
    assert!(matches!(error, MachineError::NoCpu { .. }));
}
