//! From a machine and a kernel to a simulation that can start; new tasks.

use std::sync::Arc;

use crate::cpu::CpuIx;
use crate::ipc::{Futex, Ipc};
use crate::kernel::Profile;
use crate::machine::Machine;
use crate::machine::domains::build_sched_domains;
use crate::mask::CpuMask;
use crate::mem::Memory;
use crate::queue::EventQueue;
use crate::rng::Stream;
use crate::sched::domain;
use crate::sched::entity::{NICE_0_LOAD, Owner, SchedEntity};
use crate::sched::nohz::Nohz;
use crate::sched::rq::{CfsRq, Rq, Segment};
use crate::sched::stat::{CpuLines, CpuStat, DomainLine, Schedstat};
use crate::sched::task::{Task, TaskPolicy, TaskStat, TaskState};
use crate::sched::tunables::Tunables;
use crate::sim::{Effort, Sim, Streams};
use crate::table::{CfsRqIx, FutexIx, GroupIx, MeterIx, MmIx, Table, TaskIx};
use crate::time::{MS, TickGrid};
use crate::trace::Trace;
use crate::workload::program::{Action, Program, Slot};
use crate::workload_costs::WorkloadCosts;

/// The root group.
pub(crate) const ROOT: GroupIx = GroupIx(0);

impl Sim {
    /// An idle machine under a kernel.
    pub fn new(machine: Arc<Machine>, profile: Profile, work: WorkloadCosts, seed: u64) -> Self {
        let cpus = machine.nr_cpus();
        let domains = build_sched_domains(&machine, &profile, profile.relax_domain_level);
        let built = domain::build(&domains, cpus);
        let tun = Tunables::new(&profile, &machine);
        let mut phase = Stream::fork(seed, "phase");
        // Ticks of all CPUs fall together unless skew_tick is given; their common phase is chance.
        let grid = TickGrid {
            period: tun.tick_ns,
            phase: phase.below(tun.tick_ns),
        };
        let mut sim = Sim {
            now: 0,
            events: EventQueue::default(),
            domains,
            tun,
            rqs: Table::default(),
            tasks: Table::default(),
            se: Table::default(),
            cfs: Table::default(),
            groups: Table::default(),
            sds: built.sds,
            llcs: built.llcs,
            nohz: Nohz::new(cpus),
            idle: CpuMask::all(cpus),
            overloaded: CpuMask::empty(cpus),
            programs: Table::default(),
            meters: Table::default(),
            ipc: Ipc::default(),
            mem: Memory::default(),
            streams: Streams {
                service: Stream::fork(seed, "service"),
                newidle: Stream::fork(seed, "newidle"),
                place: Stream::fork(seed, "place"),
                phase,
            },
            effort: Effort::default(),
            trace: Trace::off(),
            alive: 0,
            next_mm: 0,
            balance_running: false,
            work,
            machine,
            profile,
        };
        sim.sched_create_group("", None, NICE_0_LOAD, None);
        for at in 0..cpus {
            let cpu = CpuIx::from_at(at);
            let cfs = sim.cfs.push(CfsRq::new(cpu, ROOT, None));
            let rq = idle_rq(cpu, cfs, grid, &built.of_cpu[at], built.llc_of[at]);
            let cluster = built.in_cluster[at];
            sim.rqs.push(Rq {
                in_cluster_domain: cluster,
                max_idle_balance_cost: sim.tun.migration_cost_ns,
                avg_idle: 2 * sim.tun.migration_cost_ns,
                // First balances are spread over the first interval, as after boot.
                next_balance: MS + sim.streams.phase.below(4 * MS),
                ..rq
            });
            sim.nohz.idle_cpus.insert(cpu);
        }
        sim
    }

    /// A futex nobody waits on.
    pub(crate) fn new_futex(&mut self) -> FutexIx {
        self.ipc.futexes.push(Futex::default())
    }

    /// The first task of an instance, made by something outside on the first CPU it may use.
    pub(crate) fn start_instance(
        &mut self,
        comm: &'static str,
        program: Box<dyn Program>,
        group: GroupIx,
        allowed: &Arc<CpuMask>,
        meter: MeterIx,
    ) {
        let cpu = allowed.first().unwrap_or(CpuIx(0));
        let mm = self.new_mm();
        let task = self.new_task(comm, program, cpu, group, Arc::clone(allowed), mm, meter);
        self.wake_up_new_task(cpu, task);
    }

    fn new_mm(&mut self) -> MmIx {
        self.next_mm += 1;
        MmIx(self.next_mm)
    }

    /// A running task makes another.
    pub(crate) fn fork(
        &mut self,
        cpu: CpuIx,
        parent: TaskIx,
        child: Box<dyn Program>,
        thread: bool,
    ) {
        let mm = if thread {
            self.tasks[parent].mm
        } else {
            self.new_mm()
        };
        let parent = &self.tasks[parent];
        let (comm, group, meter) = (parent.comm, parent.group, parent.meter);
        let allowed = Arc::clone(&parent.allowed);
        let task = self.new_task(comm, child, cpu, group, allowed, mm, meter);
        self.wake_up_new_task(cpu, task);
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "a task is what these say, nothing more"
    )]
    fn new_task(
        &mut self,
        comm: &'static str,
        program: Box<dyn Program>,
        cpu: CpuIx,
        group: GroupIx,
        allowed: Arc<CpuMask>,
        mm: MmIx,
        meter: MeterIx,
    ) -> TaskIx {
        let queue = self.group_cfs_rq(group, cpu);
        let task = TaskIx(self.tasks.len() as u32);
        let parent = self.cfs[queue].se;
        let mut entity = SchedEntity::new(Owner::Task(task), queue, parent, NICE_0_LOAD);
        entity.slice = self.tun.base_slice_ns;
        let se = self.se.push(entity);
        let task = self.tasks.push(Task {
            comm,
            state: TaskState::New,
            policy: TaskPolicy::Normal,
            cpu,
            on_rq: false,
            allowed,
            se,
            group,
            mm,
            meter,
            recent_used_cpu: cpu,
            wakee_flips: 0,
            last_wakee: None,
            wakee_flip_decay: 0,
            queued_at: None,
            arrived_at: self.now,
            throttled: false,
            throttle_work: false,
            on_wake_list: false,
            in_kernel: true,
            streaming: comm == "stream",
            sleep_generation: 0,
            segment_left: 0,
            working_set: self.work.working_set_bytes,
            warm_cpu: cpu,
            stat: TaskStat::default(),
        });
        self.programs.push(Slot {
            program,
            pending: Action::None,
        });
        self.alive += 1;
        task
    }

    /// /proc/schedstat as of now.
    pub fn schedstat(&self) -> Schedstat {
        let cpus = (self.machine.all())
            .map(|cpu| CpuLines {
                os_cpu: self.machine.os_cpu[cpu.at()].0,
                stat: self.rqs[cpu].stat,
                domains: (self.rqs[cpu].domains.iter())
                    .map(|&sd| {
                        let domain = self.domains.get(self.sds[sd].id);
                        DomainLine {
                            name: domain.name,
                            mask: self.kernel_mask(&domain.span),
                            stat: self.sds[sd].stat,
                        }
                    })
                    .collect(),
            })
            .collect();
        Schedstat {
            version: self.profile.constants.tick.schedstat_version_count as u32,
            timestamp: self.now / self.tun.tick_ns,
            cpus,
        }
    }

    /// A mask as the kernel prints it: hexadecimal digits in groups of eight.
    fn kernel_mask(&self, mask: &CpuMask) -> String {
        let last = self.machine.os_cpu.last().map_or(0, |id| id.0);
        let mut words = vec![0_u32; last as usize / 32 + 1];
        for cpu in mask.iter() {
            let id = self.machine.os_cpu[cpu.at()].0;
            words[id as usize / 32] |= 1 << (id % 32);
        }
        let digits = last as usize % 32 / 4 + 1;
        let mut text = String::new();
        for (at, word) in words.iter().rev().enumerate() {
            if at == 0 {
                text += &format!("{word:0digits$x}");
            } else {
                text += &format!(",{word:08x}");
            }
        }
        text
    }

    /// `cpu.stat` of a group as of now.
    pub fn cpu_stat(&self, group: GroupIx) -> String {
        let tg = &self.groups[group];
        let (user, system) = (tg.user / 1000, (tg.usage - tg.user) / 1000);
        let mut text = format!(
            "usage_usec {}\nuser_usec {user}\nsystem_usec {system}\n",
            user + system
        );
        let none = crate::sched::bandwidth::CfsBandwidth::new(0, 1, 0);
        let bw = tg.bandwidth.as_ref().unwrap_or(&none);
        text += &format!(
            "nr_periods {}\nnr_throttled {}\nthrottled_usec {}\nnr_bursts {}\nburst_usec {}\n",
            bw.nr_periods,
            bw.nr_throttled,
            bw.throttled_time / 1000,
            bw.nr_bursts,
            bw.burst_time / 1000
        );
        text
    }
}

fn idle_rq(
    cpu: CpuIx,
    cfs: CfsRqIx,
    grid: TickGrid,
    domains: &[crate::table::SdIx],
    llc: crate::table::LlcIx,
) -> Rq {
    Rq {
        cpu,
        curr: None,
        cfs,
        nr_running: 0,
        grid,
        need_resched: false,
        need_resched_lazy: false,
        resched_generation: 0,
        resched_at: None,
        tick_generation: 0,
        tick_at: None,
        wake_list: Vec::new(),
        cfsb_csd_list: Vec::new(),
        idle_stamp: None,
        idle_since: 0,
        idle_state: 0,
        idle_guess: MS,
        avg_idle: 0,
        max_idle_balance_cost: 0,
        next_balance: 0,
        nohz_tick_stopped: true,
        domains: domains.to_vec(),
        llc,
        in_cluster_domain: false,
        cfs_tasks: Vec::new(),
        active_balance: None,
        overhead: 0,
        segment: Segment::default(),
        stat: CpuStat::default(),
    }
}
