use schedrig_model::id::CpuId;

use super::*;
use crate::cpu::CpuIx;
use crate::sourced::Kind;

#[test]
fn every_shipped_machine_can_be_built_and_names_a_source_for_each_number() {
    for name in shipped_machines() {
        let machine = Machine::shipped(name).unwrap();
        assert_eq!(machine.name, name);
        assert!(machine.numbers.len() > 30, "{name}");
        for (path, quantity) in &machine.numbers {
            assert!(!quantity.source.trim().is_empty(), "{path} of {name}");
        }
        let parts = |masks: &[crate::mask::CpuMask]| masks.iter().map(|m| m.len()).sum::<usize>();
        for masks in [
            &machine.cores,
            &machine.clusters,
            &machine.llcs,
            &machine.packages,
        ] {
            assert_eq!(parts(masks), machine.nr_cpus(), "{name}");
        }
    }
    let error = Machine::shipped("genoa").unwrap_err();
    assert!(error.to_string().contains("genoa-2s"), "{error}");
}

#[test]
fn a_number_without_source_is_refused() {
    let text = shipped_text("vm-2").unwrap();
    let start = text.find("source: \"a store;").unwrap();
    let end = start + text[start..].find('}').unwrap();
    let without = format!("{}source: \"\"{}", &text[..start], &text[end..]);
    assert!(matches!(
        Machine::parse("mine", &without),
        Err(MachineError::Number { .. })
    ));
    let cut = format!("{}{}", text[..start].trim_end_matches(", "), &text[end..]);
    assert!(matches!(
        Machine::parse("mine", &cut),
        Err(MachineError::Yaml { .. })
    ));
}

#[test]
fn x86_servers_number_siblings_last() {
    let genoa = Machine::shipped("genoa-2s").unwrap();
    assert_eq!(genoa.nr_cpus(), 384);
    let siblings: Vec<u16> = genoa.siblings(CpuIx(5)).iter().map(|c| c.0).collect();
    assert_eq!(siblings, [5, 197]);
    let llc: Vec<u16> = genoa.llc(CpuIx(8)).iter().map(|c| c.0).collect();
    assert_eq!(
        llc,
        [
            8, 9, 10, 11, 12, 13, 14, 15, 200, 201, 202, 203, 204, 205, 206, 207
        ]
    );
    assert_eq!(genoa.distance(CpuIx(0), CpuIx(192)), Distance::Smt);
    assert_eq!(genoa.distance(CpuIx(0), CpuIx(8)), Distance::Package);
    assert_eq!(genoa.distance(CpuIx(0), CpuIx(96)), Distance::Remote);
    assert_eq!(genoa.by_os(CpuId(383)), Some(CpuIx(383)));
}

#[test]
fn a_line_costs_what_the_tables_say() {
    let genoa = Machine::shipped("genoa-2s").unwrap();
    let cost = |owner, home| genoa.line_transfer_ns(CpuIx(0), CpuIx(owner), home);
    assert_eq!(cost(0, 0), 0);
    assert_eq!(cost(192, 0), 9);
    assert_eq!(cost(1, 0), 23);
    assert_eq!(cost(8, 0), 100);
    assert_eq!(cost(8, 1), 192);
    assert_eq!(cost(96, 0), 195);
    // One LLC a socket: no line comes from another LLC of the socket.
    let emr = Machine::shipped("emr-2s").unwrap();
    assert_eq!(emr.distance(CpuIx(0), CpuIx(59)), Distance::Llc);
    let jacobsville = Machine::shipped("jacobsville").unwrap();
    assert_eq!(jacobsville.distance(CpuIx(0), CpuIx(3)), Distance::Cluster);
    assert_eq!(jacobsville.distance(CpuIx(0), CpuIx(4)), Distance::Llc);
}

#[test]
fn costs_of_a_shipped_machine_serve_as_a_profile_and_survive_yaml() {
    let profile = CostProfile::shipped("milan-2s").unwrap();
    let text = profile.to_yaml().unwrap();
    assert_eq!(CostProfile::parse("again", &text).unwrap(), profile);
    let measured = profile.costs.line.llc_ns;
    assert_eq!((measured.base(), measured.kind), (23, Kind::Published));
}

#[test]
fn a_scaled_number_changes_the_machine_and_nothing_else() {
    let machine = Machine::shipped("vm-2").unwrap();
    let scaled = machine.with_scaled("costs.switch.thread_ns", 1200).unwrap();
    assert_eq!(
        scaled.costs.switch.thread_ns,
        machine.costs.switch.thread_ns * 12 / 10
    );
    assert_eq!(scaled.costs.kernel, machine.costs.kernel);
    assert!(
        machine
            .with_scaled("costs.switch.no_such_ns", 1200)
            .is_none()
    );
}
